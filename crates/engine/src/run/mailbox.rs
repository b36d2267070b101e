//! Messages to the actor of a live run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rival_core::Path;
use rival_core::machine::CallOutcome;
use rival_store::LogLine;
use tokio::sync::{mpsc, oneshot};

use crate::api::control::CommandAck;
use crate::call::values::RecordedValue;
use crate::durable::handle::{GivenUp, OpMessage};
use crate::schedule::in_flight::InFlightCount;

/// A message to an actor.
pub(crate) enum ActorMessage {
    /// A call ended.
    CallFinished { node: Path, call: u32, outcome: CallOutcome, logs: Vec<LogLine> },
    /// A moment may have come.
    Tick,
    /// The run's inbox in the store has changed. A waiter is told the run's status once the messages have been acted on.
    InboxChanged(Option<CommandAck>),
    /// A function asks for something durable.
    OpRequested(Box<OpMessage>),
    /// A function gives up an operation that it asked for.
    OpDropped(Box<GivenUp>),
    /// A function that was in the middle of something when an answer was there can be told now.
    ReplyWanted { node: Path, call: u32 },
    /// Others want the room that functions take which only wait.
    SuspendIdle,
    /// A function asks for another step.
    ReadStep { from: Path, name: String, answer: oneshot::Sender<Option<StepSnapshot>> },
    /// The engine stops: start nothing new.
    Drain,
    /// The engine stops now: abandon what still runs.
    ReleaseNow,
}

/// A step as a function finds it.
pub(crate) struct StepSnapshot {
    pub(crate) name: String,
    pub(crate) status: rival_core::NodeStatus,
    pub(crate) result: Option<RecordedValue>,
    pub(crate) state: Option<RecordedValue>,
}

/// Sends messages to one actor.
#[derive(Clone)]
pub(crate) struct Mailbox {
    sender: mpsc::UnboundedSender<ActorMessage>,
    in_flight: Arc<InFlightCount>,
}

/// Messages that were in an inbox when it was closed.
pub(crate) struct UnreadMessages {
    pub(crate) count: usize,
    /// A dropped notification had no waiter, so the scheduler must check the inbox again.
    pub(crate) messages: bool,
}

/// Closes an inbox. Callers that wait for a reply learn that there is none. Waits for messages that are being sent at
/// this moment: an inbox that only looks empty would lose them, and their senders believe that they have arrived.
pub(crate) async fn close_inbox(inbox: &mut mpsc::UnboundedReceiver<ActorMessage>) -> UnreadMessages {
    inbox.close();
    let mut refused = UnreadMessages { count: 0, messages: false };
    while let Some(message) = inbox.recv().await {
        refused.count += 1;
        refused.messages |= matches!(message, ActorMessage::InboxChanged(None));
    }
    refused
}

impl Mailbox {
    pub(crate) fn new(in_flight: Arc<InFlightCount>) -> (Self, mpsc::UnboundedReceiver<ActorMessage>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self { sender, in_flight }, receiver)
    }

    /// Sends a message; `false` if the actor is gone.
    pub(crate) fn send(&self, message: ActorMessage) -> bool {
        self.in_flight.add();
        let sent = self.sender.send(message).is_ok();
        if !sent {
            self.in_flight.remove(1);
        }
        sent
    }

    /// Whether both lead to the same actor.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.sender.same_channel(&other.sender)
    }
}

/// Reports the end of a call to the actor, once: from the function itself, or from the code that stopped it. The call
/// counts as in flight, and becomes the message that reports its end.
#[derive(Clone)]
pub(crate) struct ResultSender {
    mailbox: Mailbox,
    has_reported: Arc<AtomicBool>,
}

impl ResultSender {
    pub(crate) fn new(mailbox: &Mailbox) -> Self {
        Self { mailbox: mailbox.clone(), has_reported: Arc::default() }
    }

    pub(crate) fn send(&self, message: ActorMessage) {
        if !self.has_reported.swap(true, Ordering::AcqRel) && self.mailbox.sender.send(message).is_err() {
            self.mailbox.in_flight.remove(1);
        }
    }

    /// The end will not be reported.
    pub(crate) fn discard(&self) {
        if !self.has_reported.swap(true, Ordering::AcqRel) {
            self.mailbox.in_flight.remove(1);
        }
    }
}
