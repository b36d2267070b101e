//! Steps for tests: they write down that they were called, and stop where the test says.

use std::sync::{Arc, Mutex};

use rival::prelude::*;
use rival::{Data, RunOutcome, RunStatus, TypedStep};
use serde_json::json;
use tokio::sync::watch;

use crate::lab::Lab;

/// What was called, in order; shared by the steps of a test and outliving its engines.
#[derive(Clone, Default)]
pub(crate) struct Tape(Arc<Mutex<Vec<String>>>);

impl Tape {
    pub(crate) fn note(&self, entry: impl Into<String>) {
        self.0.lock().unwrap().push(entry.into());
    }

    pub(crate) fn entries(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    /// How often a step was called.
    pub(crate) fn count(&self, name: &str) -> usize {
        self.entries().iter().filter(|entry| *entry == name).count()
    }

    /// A step that does what it says with its attempt.
    pub(crate) fn doing(
        &self,
        name: &'static str,
        body: impl Fn(u32) -> Result<u32, StepError> + Send + Sync + 'static,
    ) -> TypedStep<u32> {
        let tape = self.clone();
        let function = move |run: Run| {
            tape.note(name);
            let result = body(run.attempt());
            async move { result }
        };
        function.named(name)
    }

    /// A step that returns its attempt.
    pub(crate) fn step(&self, name: &'static str) -> TypedStep<u32> {
        self.doing(name, Ok)
    }

    /// A step that always fails with a plain error.
    pub(crate) fn failing(&self, name: &'static str) -> TypedStep<u32> {
        self.doing(name, move |attempt| Err(StepError::new(format!("{name} failed in attempt {attempt}"))))
    }

    /// A step that waits at a gate, and then returns its call's number.
    pub(crate) fn gated(&self, name: &'static str, gate: &Gate) -> TypedStep<u32> {
        let (tape, gate) = (self.clone(), gate.clone());
        let function = move |run: Run| {
            tape.note(name);
            let gate = gate.clone();
            async move {
                gate.pass().await;
                Ok::<_, StepError>(run.call())
            }
        };
        function.named(name)
    }

    /// An error handler that writes down whose failure it was told.
    pub(crate) fn handler(&self, name: &'static str) -> TypedStep<()> {
        let tape = self.clone();
        let function = move |failure: Failure| {
            tape.note(format!("{name}({}: {})", failure.failed_step.step_name, failure.error));
            async { Ok::<_, StepError>(()) }
        };
        function.named(name)
    }
}

/// Holds steps until the test opens it.
#[derive(Clone)]
pub(crate) struct Gate {
    arrived: Arc<watch::Sender<u32>>,
    open: Arc<watch::Sender<bool>>,
}

impl Default for Gate {
    fn default() -> Self {
        Self { arrived: Arc::new(watch::Sender::new(0)), open: Arc::new(watch::Sender::new(false)) }
    }
}

impl Gate {
    pub(crate) async fn pass(&self) {
        // A call that ends at its first poll never was at work. This one is, when it says that it has arrived.
        tokio::task::yield_now().await;
        self.arrived.send_modify(|arrived| *arrived += 1);
        self.open.subscribe().wait_for(|open| *open).await.unwrap();
    }

    /// Waits until so many have come, in all.
    pub(crate) async fn arrived(&self, count: u32) {
        self.arrived.subscribe().wait_for(|arrived| *arrived >= count).await.unwrap();
    }

    pub(crate) fn open(&self) {
        self.open.send_replace(true);
    }
}

/// Runs a workflow to its end.
pub(crate) async fn outcome_of<O: Data>(lab: &Lab, workflow: &Workflow<(), O>) -> RunOutcome {
    let engine = lab.engine(workflow).await;
    let run = engine.run(workflow, ()).await.unwrap();
    engine.finish(run.id()).await.unwrap()
}

/// A step that returns this.
pub(crate) fn gives(name: &'static str, result: u32) -> TypedStep<u32> {
    Tape::default().doing(name, move |_| Ok(result))
}

/// A function of a block that returns this.
pub(crate) fn says<T: Data + Clone>(name: &'static str, answer: T) -> TypedStep<T> {
    (move || std::future::ready(Ok::<_, StepError>(answer.clone()))).named(name)
}

/// A step that says which of these steps it sees, and with which result.
pub(crate) fn looks(name: &'static str, at: &'static [&'static str]) -> TypedStep<String> {
    let function = move |steps: Steps| async move {
        let mut seen = Vec::new();
        for name in at {
            if let Some(step) = steps.find(name).await? {
                let result: Option<serde_json::Value> = step.result()?;
                seen.push(format!("{name}={}", result.unwrap_or_default()));
            }
        }
        Ok::<_, StepError>(seen.join(" "))
    };
    function.named(name)
}

/// A completed run's output; anything else fails the test with what is known.
#[track_caller]
pub(crate) fn output(outcome: &RunOutcome) -> serde_json::Value {
    assert_eq!(outcome.status, RunStatus::Completed, "{outcome:?}");
    outcome.output.as_ref().unwrap().to_json()
}

/// `step: message` of a failed run.
#[track_caller]
pub(crate) fn failure(outcome: &RunOutcome) -> String {
    assert_eq!(outcome.status, RunStatus::Failed, "{outcome:?}");
    let at = outcome.failed_step.as_ref().map_or("-", |at| at.step_name.as_str());
    format!("{at}: {}", outcome.error.as_ref().unwrap())
}

/// What each node left, as `results` looks in JSON.
pub(crate) fn results(outcome: &RunOutcome) -> serde_json::Value {
    json!(outcome)["results"].clone()
}
