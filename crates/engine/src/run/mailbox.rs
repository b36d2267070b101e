//! Messages to the actor of a live run.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use rival_core::Path;
use rival_core::machine::CallOutcome;
use rival_store::LogLine;
use tokio::sync::oneshot;

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
    /// Built-in functions that were missing may be there.
    BuiltinsChanged,
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
    queue: Arc<MessageQueue>,
    in_flight: Arc<InFlightCount>,
}

/// The messages that wait for one actor. Most runs end without a message, so an empty queue is small.
#[derive(Default)]
struct MessageQueue(Mutex<QueuedMessages>);

#[derive(Default)]
struct QueuedMessages {
    messages: VecDeque<ActorMessage>,
    /// The actor, if it waits.
    waker: Option<Waker>,
    is_closed: bool,
}

impl MessageQueue {
    fn lock(&self) -> MutexGuard<'_, QueuedMessages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where one actor reads its messages.
pub(crate) struct Inbox(Arc<MessageQueue>);

/// Messages that were in an inbox when it was closed.
pub(crate) struct UnreadMessages {
    pub(crate) count: usize,
    /// A dropped notification had no waiter, so the scheduler must check the inbox again.
    pub(crate) messages: bool,
}

impl Inbox {
    /// Waits for the next message. An actor that always has one still lets other tasks of its thread run now and then.
    pub(crate) async fn next(&mut self) -> ActorMessage {
        tokio::task::coop::consume_budget().await;
        poll_fn(|cx| {
            let mut queued = self.0.lock();
            match queued.messages.pop_front() {
                Some(message) => Poll::Ready(message),
                None => {
                    queued.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// The next message, if there is one.
    pub(crate) fn try_next(&mut self) -> Option<ActorMessage> {
        self.0.lock().messages.pop_front()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().messages.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes no more messages. Callers that wait for a reply learn that there is none.
    pub(crate) fn close(&mut self) -> UnreadMessages {
        let unread = {
            let mut queued = self.0.lock();
            queued.is_closed = true;
            std::mem::take(&mut queued.messages)
        };
        let is_notice = |message: &ActorMessage| matches!(message, ActorMessage::InboxChanged(None));
        UnreadMessages { count: unread.len(), messages: unread.iter().any(is_notice) }
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.close();
    }
}

impl Mailbox {
    pub(crate) fn new(in_flight: Arc<InFlightCount>) -> (Self, Inbox) {
        let queue = Arc::<MessageQueue>::default();
        (Self { queue: Arc::clone(&queue), in_flight }, Inbox(queue))
    }

    /// Sends a message; `false` if the actor is gone.
    pub(crate) fn send(&self, message: ActorMessage) -> bool {
        let mut queued = self.queue.lock();
        if queued.is_closed {
            return false;
        }
        self.in_flight.add();
        queued.messages.push_back(message);
        let waker = queued.waker.take();
        drop(queued);
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    /// Whether both lead to the same actor.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.queue, &other.queue)
    }
}

/// The end of a call, which is reported to the actor once: by the function itself, or by the code that stopped it. The
/// call counts as in flight until then.
#[derive(Clone)]
pub(crate) struct CallEnd {
    is_settled: Arc<AtomicBool>,
    in_flight: Arc<InFlightCount>,
}

impl CallEnd {
    pub(crate) fn new(in_flight: &Arc<InFlightCount>) -> Self {
        in_flight.add();
        Self { is_settled: Arc::default(), in_flight: Arc::clone(in_flight) }
    }

    /// Reports the end, if nothing has. The message counts as in flight before the call ceases to, so that a test that
    /// waits for rest sees no gap between them.
    pub(crate) fn settle(&self, report: impl FnOnce()) {
        if !self.is_settled.swap(true, Ordering::AcqRel) {
            report();
            self.in_flight.remove(1);
        }
    }
}
