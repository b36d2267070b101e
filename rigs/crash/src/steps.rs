//! Steps that tell what they see.
//!
//! What a step does follows from its run's input, its node and its attempt alone, so that a run goes the same way
//! however often it is cut short.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use rival::prelude::*;
use rival::{Asks, Call, InputData, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ledger::{CallObservation, LedgerFile};

/// The input of every run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Ticket {
    /// Decides the run's fate.
    pub number: u64,
    /// Text that is easily broken.
    pub text: String,
}

impl Ticket {
    /// The ticket with this number.
    pub fn new(number: u64) -> Self {
        Self { number, text: format!("\"{number}\"\\ \u{1F332}\t{}", "é".repeat(3)) }
    }
}

/// The input of a nested workflow.
#[derive(Clone, Debug, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// The number of the outer run.
    pub of: u64,
    /// The nonce of the step before: another one would show.
    pub nonce: u64,
}

/// What a signal says.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Word {
    /// A number that no other signal has.
    pub nonce: u64,
}

/// The result of every step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepReceipt {
    /// The number of the call that gave it.
    pub nonce: u64,
    /// Beyond what a double holds.
    pub big: u64,
    /// Text that is easily broken.
    pub text: String,
}

/// What every step asks for.
pub(crate) struct StepWork<T> {
    run: Run,
    input: T,
    last: Option<(String, Option<Value>)>,
    ledger: Res<LedgerFile<CallObservation>>,
}

impl<T: InputData + Hash + Clone> FromStep for StepWork<T> {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        let last = LastStep::from_step(call)?;
        let last = match last.record() {
            Some(record) => Some((record.name().to_owned(), record.result::<Value>()?)),
            None => None,
        };
        let Input(input) = Input::<T>::from_step(call)?;
        Ok(Self { run: Run::from_step(call)?, input, last, ledger: Res::from_step(call)? })
    }

    fn asks(asks: &mut Asks) {
        Run::asks(asks);
        Input::<T>::asks(asks);
        LastStep::asks(asks);
        Res::<LedgerFile<CallObservation>>::asks(asks);
    }
}

impl<T: InputData + Hash + Clone> StepWork<T> {
    /// Tells what the step sees. The first thing that every step does.
    fn begin(&self) -> Result<StepReceipt, StepError> {
        self.tell(self.last.iter().cloned().collect(), None)
    }

    fn tell(
        &self,
        seen: Vec<(String, Option<Value>)>,
        failure: Option<rival_core::FailureRecord>,
    ) -> Result<StepReceipt, StepError> {
        let nonce = fastrand::u64(..);
        let sighting = CallObservation {
            run: self.run.run_id().cloned().ok_or("a step without a run")?,
            node: self.run.node().as_str().to_owned(),
            call: self.run.call(),
            attempt: self.run.attempt(),
            nonce,
            input: Value::encode(&self.input)?,
            seen,
            failure,
        };
        self.ledger.write(&sighting)?;
        Ok(StepReceipt { nonce, big: u64::MAX - nonce % 1000, text: format!("{}\u{0}\"", self.run.node()) })
    }

    /// A number that decides what this attempt does.
    fn fate(&self) -> u64 {
        let mut hash = DefaultHasher::new();
        (&self.input, self.run.node().as_str(), self.run.attempt()).hash(&mut hash);
        hash.finish()
    }
}

#[step]
pub(crate) async fn first(work: StepWork<Ticket>) -> Result<StepReceipt, StepError> {
    work.begin()
}

#[step]
pub(crate) async fn second(work: StepWork<Ticket>) -> Result<StepReceipt, StepError> {
    work.begin()
}

#[step]
pub(crate) async fn third(work: StepWork<Ticket>) -> Result<StepReceipt, StepError> {
    work.begin()
}

#[step]
pub(crate) async fn fourth(work: StepWork<Ticket>) -> Result<StepReceipt, StepError> {
    work.begin()
}

/// Looks further back than the step before.
#[step]
pub(crate) async fn look_back(work: StepWork<Ticket>, steps: Steps) -> Result<StepReceipt, StepError> {
    let mut seen: Vec<_> = work.last.iter().cloned().collect();
    for name in ["first", "second", "third"] {
        if let Some(record) = steps.find(name).await? {
            seen.push((name.to_owned(), record.result::<Value>()?));
        }
    }
    work.tell(seen, None)
}

/// Fails now and then, in every way that there is.
#[step]
pub(crate) async fn flaky(work: StepWork<Ticket>) -> Result<StepReceipt, StepError> {
    let receipt = work.begin()?;
    match work.fate() % 16 {
        0..=6 => Err(StepError::new("the tree is too hard")),
        7..=9 => Err(StepError::retry("the axe slipped")
            .max_attempts(3)
            .backoff(BackoffKind::Exponential, Duration::from_millis(3))),
        10 => Err(StepError::stop("the tree is protected").code("protected")),
        11 => panic!("the tree fell on us"),
        _ => Ok(receipt),
    }
}

/// Fails, and the run goes on.
#[step]
pub(crate) async fn soft(work: StepWork<Ticket>) -> Result<StepReceipt, StepError> {
    let receipt = work.begin()?;
    if work.fate().is_multiple_of(2) { Err(StepError::proceed("no tree today")) } else { Ok(receipt) }
}

/// Is skipped half of the time.
#[step]
pub(crate) async fn skipping(work: StepWork<Ticket>, state: State) -> Result<StepReceipt, StepError> {
    let receipt = work.begin()?;
    if work.fate().is_multiple_of(2) {
        state.skip();
    }
    Ok(receipt)
}

/// Writes lines and state, which are recorded with its end or not at all.
#[step]
pub(crate) async fn chatty(work: StepWork<Ticket>, log: Log, state: State) -> Result<StepReceipt, StepError> {
    let receipt = work.begin()?;
    log.info((), format_args!("nonce {}", receipt.nonce));
    state.set("nonce", receipt.nonce)?;
    state.describe("told everything");
    tokio::time::sleep(Duration::from_millis(work.fate() % 8)).await;
    Ok(receipt)
}

/// Takes its time; the longest are cut off by a timeout.
#[step]
pub(crate) async fn slow(work: StepWork<Ticket>) -> Result<StepReceipt, StepError> {
    let receipt = work.begin()?;
    tokio::time::sleep(Duration::from_millis(work.fate() % 30)).await;
    Ok(receipt)
}

/// The same, and ends by itself when it is told to.
#[step]
pub(crate) async fn polite(work: StepWork<Ticket>, told: Cancellation) -> Result<StepReceipt, StepError> {
    let receipt = work.begin()?;
    tokio::select! {
        () = told.cancelled() => Err(StepError::new("told to end")),
        () = tokio::time::sleep(Duration::from_millis(work.fate() % 30)) => Ok(receipt),
    }
}

/// Blocks a thread.
#[step]
pub(crate) fn heavy(work: StepWork<Ticket>) -> Result<StepReceipt, StepError> {
    let receipt = work.begin()?;
    std::thread::sleep(Duration::from_millis(work.fate() % 12));
    Ok(receipt)
}

/// Now and then takes so long that every worker is killed over it, until it is set aside.
#[step]
pub(crate) async fn doomed(work: StepWork<Ticket>) -> Result<StepReceipt, StepError> {
    let receipt = work.begin()?;
    let ms = if work.fate().is_multiple_of(6) { 250 } else { 1 };
    tokio::time::sleep(Duration::from_millis(ms)).await;
    Ok(receipt)
}

/// Must never begin twice.
#[step]
pub(crate) async fn only_once(work: StepWork<Ticket>) -> Result<StepReceipt, StepError> {
    let receipt = work.begin()?;
    tokio::time::sleep(Duration::from_millis(work.fate() % 12)).await;
    Ok(receipt)
}

#[step]
pub(crate) async fn how_long(work: StepWork<Ticket>) -> Result<Duration, StepError> {
    work.begin()?;
    Ok(Duration::from_millis(work.fate() % 40))
}

#[step]
pub(crate) async fn part_of(work: StepWork<Ticket>) -> Result<Part, StepError> {
    let receipt = work.begin()?;
    Ok(Part { of: work.input.number, nonce: receipt.nonce })
}

#[step]
pub(crate) async fn inner(work: StepWork<Part>) -> Result<StepReceipt, StepError> {
    work.begin()
}

#[step]
pub(crate) async fn inner_slow(work: StepWork<Part>) -> Result<StepReceipt, StepError> {
    let receipt = work.begin()?;
    tokio::time::sleep(Duration::from_millis(work.fate() % 10)).await;
    if work.fate().is_multiple_of(7) { Err(StepError::new("the part does not fit")) } else { Ok(receipt) }
}

/// Handles a failed step or a failed run.
#[step]
pub(crate) async fn mourn(work: StepWork<Ticket>, failed: Failure) -> Result<(), StepError> {
    work.tell(Vec::new(), Some(failed.error.clone()))?;
    tokio::time::sleep(Duration::from_millis(work.fate() % 6)).await;
    if work.fate().is_multiple_of(5) { Err(StepError::new("too sad")) } else { Ok(()) }
}

/// What a forEach goes through.
#[step]
pub(crate) async fn trees(work: StepWork<Ticket>) -> Result<Vec<u64>, StepError> {
    let receipt = work.begin()?;
    Ok((0..work.fate() % 6).map(|tree| receipt.nonce ^ tree).collect())
}

/// Looks at its item as well.
#[step]
pub(crate) async fn inner_look(
    work: StepWork<Ticket>,
    Item(tree): Item<u64>,
) -> Result<StepReceipt, StepError> {
    let receipt = work.begin()?;
    tokio::time::sleep(Duration::from_millis(work.fate() % 4)).await;
    Ok(StepReceipt { big: tree, ..receipt })
}

/// Ends a loop after a few iterations.
#[step]
pub(crate) async fn enough(work: StepWork<Ticket>, iteration: Iteration) -> Result<bool, StepError> {
    work.begin()?;
    Ok(u64::from(iteration.index()) >= work.input.number % 3)
}

/// Chooses a way.
#[step]
pub(crate) async fn go_left(work: StepWork<Ticket>) -> Result<bool, StepError> {
    work.begin()?;
    Ok(work.fate().is_multiple_of(2))
}

/// Undoes a step.
#[step]
pub(crate) async fn undo(work: StepWork<Ticket>) -> Result<(), StepError> {
    work.begin()?;
    Ok(())
}

/// The same; it takes its time and fails now and then.
#[step]
pub(crate) async fn undo_slowly(work: StepWork<Ticket>) -> Result<(), StepError> {
    work.begin()?;
    tokio::time::sleep(Duration::from_millis(work.fate() % 12)).await;
    if work.fate().is_multiple_of(4) { Err(StepError::new("it is gone")) } else { Ok(()) }
}
