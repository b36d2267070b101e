//! What stands in for steps, children, requests and what is done once: functions of the test, called where it is.

use std::path::Path;
use std::sync::{Arc, Mutex};

use rival_core::event::CallRole;
use rival_engine::{Definition, FunctionNeeds, UserFunction};
use rival_script_host::frame::{FromHost, ToHost};
use serde_json::json;
use serde_json::value::RawValue;

use crate::function::{ScriptFunction, ScriptTarget};
use crate::host::{HostEvent, HostHandle, lock};
use crate::ops::{OpAnswer, encode, refusal, stack};
use crate::pool::HostPool;
use crate::realm::{ScriptRealm, name_of};
use crate::registry::RunLauncher;

/// Where a test is: on one host, in the realm of its file. What its functions close over is nowhere else.
#[derive(Clone, Debug)]
pub(super) struct TestPlace {
    pub(super) pool: Arc<HostPool>,
    pub(super) host: Arc<HostHandle>,
    pub(super) realm: Arc<ScriptRealm>,
    pub(super) file: Arc<Path>,
    /// What the test and its doubles write to the console.
    pub(super) lines: Arc<Mutex<Vec<String>>>,
}

impl TestPlace {
    /// A workflow whose functions are there.
    pub(super) fn target(&self, workflow: &str, launcher: &RunLauncher) -> Arc<ScriptTarget> {
        Arc::new(ScriptTarget {
            pool: Arc::clone(&self.pool),
            realm: Arc::clone(&self.realm),
            file: Arc::clone(&self.file),
            workflow: workflow.to_owned(),
            launcher: launcher.clone(),
            host: Some(Arc::clone(&self.host)),
        })
    }

    /// A function of the test that stands in for a step, or for all of a child.
    pub(super) fn mock(&self, key: String, launcher: &RunLauncher) -> Arc<dyn UserFunction> {
        // What a mock uses is not known: it may be more than the step does.
        let needs = FunctionNeeds {
            last_step: true,
            iteration: true,
            items: true,
            durable: true,
            elsewhere: true,
            ..FunctionNeeds::default()
        };
        Arc::new(ScriptFunction { target: self.target("", launcher), key, role: CallRole::Step, needs })
    }

    /// A workflow of one step that stands in for a child.
    pub(super) fn child(&self, name: &str, run: u32, launcher: &RunLauncher) -> Definition {
        Definition::of_step(name, "mock", self.mock(format!("child:{name}#{run}"), launcher))
    }

    /// Calls a function of the test that needs nothing but an input.
    async fn call(&self, function: String, input: &RawValue) -> OpAnswer {
        let cx = encode(&json!({ "input": input }))?;
        let frame = |id| ToHost::Call {
            id,
            realm: self.realm.id(),
            file: name_of(&self.file),
            workflow: String::new(),
            function,
            role: CallRole::Step,
            cx,
            run: RawValue::NULL.to_owned(),
        };
        self.host.teach(&self.realm);
        let mut call = Arc::clone(&self.host).begin(frame);
        loop {
            match call.next().await {
                HostEvent::Frame(FromHost::Done { value, .. }) => return Ok(value),
                HostEvent::Frame(FromHost::Failed { mut error, .. }) => {
                    error.stack = error.stack.map(|stack| self.realm.stack(&stack));
                    return Err(error);
                }
                HostEvent::Frame(FromHost::Log { message, .. }) => {
                    lock(&self.lines).push(self.realm.readable(message));
                }
                HostEvent::Frame(FromHost::Op { op, kind, args, .. }) => {
                    call.answer(op, answer_own(&self.realm, &kind, &args));
                }
                HostEvent::Frame(_) => {}
                HostEvent::Lost(_) => return Err(refusal("the script host of the test ended")),
            }
        }
    }
}

/// What the test's own code is answered: the requests that it sends itself are real.
pub(super) fn answer_own(realm: &ScriptRealm, kind: &str, args: &RawValue) -> OpAnswer {
    match kind {
        "stack" => stack(realm, args),
        "test.fetch" => encode(&json!({ "real": true })),
        _ => Err(refusal(format!("a test cannot ask for `{kind}`: use `runWorkflow` or `startWorkflow`"))),
    }
}

/// What the steps of one run ask before they do something outside: the engine of the run has it. Without a test there is
/// none.
#[derive(Debug, Default)]
pub(crate) struct TestDoubles(Option<(TestPlace, u32)>);

impl TestDoubles {
    pub(super) fn new(place: &TestPlace, run: u32) -> Self {
        Self(Some((place.clone(), run)))
    }

    /// Asks the test.
    pub(crate) async fn ask(&self, verb: &str, args: &RawValue) -> OpAnswer {
        match (&self.0, verb) {
            (Some((place, run)), "fetch" | "once") => place.call(format!("{verb}:#{run}"), args).await,
            _ => Err(refusal(format!("`test.{verb}` is not something that a script can ask for"))),
        }
    }
}
