//! Arguments for calling a step as the plain function it is.

use std::sync::Arc;

use rival_core::{FailureRecord, NodeStatus, Path, RunId, RunStatus, StepError, Time, Value};
use rival_engine::{
    Clock, Engine, FailedStep, FailureContext, Log, RunInfo, StepView, StepsReader, VirtualClock,
    WorkflowState,
};

use crate::data::Data;
use crate::extract::{Cancellation, Failure, Iteration, LastStep, Run, Runs, State, StepRecord, Steps};

/// A log whose lines `Log::take` gives back.
pub fn log() -> Log {
    Log::new(run_info(), Clock::Virtual(VirtualClock::at(Time(0))))
}

fn run_info() -> Arc<RunInfo> {
    Arc::new(RunInfo {
        run_id: Some(RunId::from("test")),
        workflow: "test".into(),
        node: Path::from("test"),
        attempt: 1,
        call: 1,
        trace: None,
        http: Default::default(),
    })
}

impl State {
    /// An empty state, for calling a step in a unit test.
    pub fn test() -> Self {
        Self::default()
    }
}

impl Run {
    /// The first attempt of a run `test`, for calling a step in a unit test.
    pub fn test() -> Self {
        Self(run_info())
    }

    /// The same in another attempt.
    #[must_use]
    pub fn with_attempt(mut self, attempt: u32) -> Self {
        Arc::make_mut(&mut self.0).attempt = attempt;
        self
    }
}

impl Runs {
    /// The runs of an engine, for calling a step in a unit test.
    pub fn test(engine: &Engine) -> Self {
        Self::new(engine.clone(), run_info())
    }
}

impl Cancellation {
    /// Never cancelled until [`cancel`](Self::cancel) is called, for calling a step in a unit test.
    pub fn test() -> Self {
        Self::default()
    }

    /// Tells the step to end, in a unit test.
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

impl Iteration {
    /// The iteration with this number, for calling a step in a unit test.
    pub fn test(index: u32) -> Self {
        Self { index }
    }
}

impl StepRecord {
    /// A completed step with this result, for unit tests. It panics if the result is not JSON.
    #[allow(clippy::needless_pass_by_value, reason = "tests write the result in place")]
    pub fn test(name: impl Into<String>, result: impl Data) -> Self {
        let result = rival_engine::encode(&result).expect("a result in a test is JSON");
        let state = Value::from(serde_json::json!({}));
        Self(StepView { name: name.into(), result: Some(result), state, status: NodeStatus::Completed })
    }

    /// The same with a key in its state.
    #[must_use]
    pub fn with_state(mut self, key: &str, value: impl Into<serde_json::Value>) -> Self {
        let mut state = self.0.state.to_json();
        state[key] = value.into();
        self.0.state = Value::from(state);
        self
    }
}

impl Steps {
    /// These earlier steps, for calling a step in a unit test.
    pub fn test(steps: impl IntoIterator<Item = StepRecord>) -> Self {
        Self::new(StepsReader::fixed(steps.into_iter().map(|step| step.0).collect()), "test")
    }
}

impl LastStep {
    /// This step came before, or none did, for calling a step in a unit test.
    pub fn test(step: impl Into<Option<StepRecord>>) -> Self {
        Self { record: step.into(), step: "test".to_owned() }
    }
}

impl Failure {
    /// A failure of a step, for calling an error handler in a unit test.
    pub fn test(step: &str, error: impl Into<StepError>) -> Self {
        let empty = || Value::from(serde_json::json!({}));
        let error: FailureRecord = error.into().failure;
        Self(Arc::new(FailureContext {
            error,
            failed_step: FailedStep {
                step_name: step.to_owned(),
                path: Path::from(step),
                result: None,
                state: empty(),
                status: NodeStatus::Failed,
            },
            workflow_state: WorkflowState {
                run_id: Some(RunId::from("test")),
                workflow_name: "test".to_owned(),
                input: Value::null(),
                steps: StepsReader::fixed(Vec::new()),
                status: RunStatus::Failed,
            },
        }))
    }
}
