//! Messages to the actor of a live run.

use std::sync::Arc;

use rival_core::Path;
use rival_core::machine::Outcome;
use rival_store::LogLine;
use tokio::sync::{mpsc, oneshot};

use crate::control::Answer;
use crate::durable::{Ask, GivenUp};
use crate::gauge::Gauge;
use crate::values::Recorded;

/// A message to an actor.
pub(crate) enum Mail {
    /// A call ended.
    Finished { node: Path, call: u32, outcome: Outcome, logs: Vec<LogLine> },
    /// A moment may have come.
    Tick,
    /// The run's inbox in the store has changed. A waiter is told the run's status once the messages have been acted on.
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

/// Sends messages to one actor.
#[derive(Clone)]
pub(crate) struct Mailbox {
    sender: mpsc::UnboundedSender<Mail>,
    gauge: Arc<Gauge>,
}

/// Messages that were in an inbox when it was closed.
pub(crate) struct Refused {
    pub(crate) count: usize,
    /// A dropped notification had no waiter, so the scheduler must check the inbox again.
    pub(crate) messages: bool,
}

/// Closes an inbox. Callers that wait for a reply learn that there is none.
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

    /// Sends a message; `false` if the actor is gone.
    pub(crate) fn send(&self, mail: Mail) -> bool {
        self.gauge.add();
        self.pass_on(mail)
    }

    /// Sends a message that is counted as in flight already: a call at work becomes the message that reports its end.
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
