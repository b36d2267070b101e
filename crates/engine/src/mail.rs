//! Letters to the actor of a live run.

use std::sync::Arc;

use rival_core::Path;
use rival_core::machine::Outcome;
use rival_store::LogLine;
use tokio::sync::{mpsc, oneshot};

use crate::control::Answer;
use crate::durable::{Ask, GivenUp};
use crate::gauge::Gauge;
use crate::values::Recorded;

/// A letter.
pub(crate) enum Mail {
    /// A call ended.
    Finished { node: Path, call: u32, outcome: Outcome, logs: Vec<LogLine> },
    /// A moment may have come.
    Tick,
    /// Messages are in the store. Whoever waits is told the run's status once they have been acted on.
    Messages(Option<Answer>),
    /// A function asks for something durable.
    Ask(Box<Ask>),
    /// A function gives up an operation that it asked for.
    GiveUp(Box<GivenUp>),
    /// A function that was in the middle of something when an answer was there can be told now.
    Listens { node: Path, call: u32 },
    /// Others want the room that functions take which only wait.
    MakeRoom,
    /// A function asks for another step.
    Look { from: Path, name: String, answer: oneshot::Sender<Option<Sighting>> },
    /// The engine stops: start nothing new.
    Drain,
    /// The engine stops now: let go of what still runs.
    LetGo,
}

/// A step as a function finds it.
pub(crate) struct Sighting {
    pub(crate) name: String,
    pub(crate) status: rival_core::NodeStatus,
    pub(crate) result: Option<Recorded>,
    pub(crate) state: Option<Recorded>,
}

/// Where letters to one actor go.
#[derive(Clone)]
pub(crate) struct Mailbox {
    sender: mpsc::UnboundedSender<Mail>,
    gauge: Arc<Gauge>,
}

/// Letters that nobody will read.
pub(crate) struct Refused {
    pub(crate) count: usize,
    /// One of them told of messages, and nobody waits to hear that they were not read: somebody has to look.
    pub(crate) messages: bool,
}

/// Closes an inbox. Whoever waits for an answer learns that there is none.
pub(crate) fn refuse(inbox: &mut mpsc::UnboundedReceiver<Mail>) -> Refused {
    inbox.close();
    let mut refused = Refused { count: 0, messages: false };
    while let Ok(letter) = inbox.try_recv() {
        refused.count += 1;
        refused.messages |= matches!(letter, Mail::Messages(None));
    }
    refused
}

impl Mailbox {
    pub(crate) fn new(gauge: Arc<Gauge>) -> (Self, mpsc::UnboundedReceiver<Mail>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self { sender, gauge }, receiver)
    }

    /// Sends a letter; `false` if the actor is gone.
    pub(crate) fn send(&self, mail: Mail) -> bool {
        self.gauge.add();
        self.pass_on(mail)
    }

    /// Sends a letter that the gauge counts already: a call at work becomes the letter that tells its end.
    pub(crate) fn pass_on(&self, mail: Mail) -> bool {
        let sent = self.sender.send(mail).is_ok();
        if !sent {
            self.gauge.remove(1);
        }
        sent
    }

    /// Whether both lead to the same actor.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.sender.same_channel(&other.sender)
    }

    /// The call that the gauge counts will not tell its end.
    pub(crate) fn forget(&self) {
        self.gauge.remove(1);
    }
}
