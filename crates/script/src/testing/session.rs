//! One test at work: what it asks for, and what it waits for.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use rival_core::event::CallRole;
use rival_core::view::{StepMetrics, TriggerStatus, TriggerView};
use rival_core::{RunStatus, Time, Value};
use rival_engine::store::LogFilter;
use rival_engine::{RunError, testing};
use rival_script_host::frame::{FromHost, ScriptError, ToHost};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::doubles::{TestPlace, answer_own};
use super::start::{StartArgs, TestRun, said, start};
use super::world::{TestWorld, WORK_LIMIT, WorldRest};
use super::{TestFailure, TestSuite};
use crate::call::HostCall;
use crate::definition::DescribedTest;
use crate::error::ScriptsError;
use crate::host::{HostEvent, lock};
use crate::ops::{OpAnswer, encode, parse, refusal};
use crate::realm::name_of;

/// Something that a test waits for while time passes.
struct TestGoal {
    op: u32,
    until: GoalKind,
}

enum GoalKind {
    Ended { run: u32 },
    Waiting { run: u32, signal: String },
    Moment(Time),
}

/// What a test asked for and that is done without time passing.
type TestWork = BoxFuture<'static, WorkDone>;

struct WorkDone {
    op: u32,
    what: Result<WorkResult, ScriptError>,
}

enum WorkResult {
    Started(u32, Box<TestRun>),
    Sent,
}

#[derive(Deserialize)]
struct RunArgs {
    run: u32,
}

#[derive(Deserialize)]
struct SignalArgs {
    run: u32,
    name: String,
    payload: Box<RawValue>,
}

#[derive(Deserialize)]
struct WaitingArgs {
    run: u32,
    name: String,
}

#[derive(Deserialize)]
struct AdvanceArgs {
    ms: u64,
}

/// A test that runs.
pub(super) struct TestSession<'a> {
    suite: &'a TestSuite,
    call: HostCall,
    place: TestPlace,
    world: TestWorld,
    work: FuturesUnordered<TestWork>,
    goals: Vec<TestGoal>,
}

/// What comes next in a test.
enum TestEvent {
    Heard(HostEvent),
    Worked(WorkDone),
    Rested(WorldRest),
}

impl<'a> TestSession<'a> {
    /// Calls a test.
    pub(super) async fn begin(
        suite: &'a TestSuite,
        test: &DescribedTest,
        lines: &Arc<Mutex<Vec<String>>>,
    ) -> Result<Self, ScriptsError> {
        let world = TestWorld::new(&suite.pool);
        let frame = |id| ToHost::Call {
            id,
            realm: suite.realm.id(),
            file: name_of(&suite.file),
            workflow: String::new(),
            function: test.key.clone(),
            role: CallRole::Step,
            cx: RawValue::from_string("{}".to_owned()).expect("it is JSON"),
            run: RawValue::NULL.to_owned(),
        };
        let call = suite.pool.begin(&suite.realm, frame).await?;
        let place = TestPlace {
            pool: Arc::clone(&suite.pool),
            host: call.host(),
            realm: Arc::clone(&suite.realm),
            file: suite.file.as_path().into(),
            lines: Arc::clone(lines),
        };
        Ok(Self { suite, call, place, world, work: FuturesUnordered::new(), goals: Vec::new() })
    }

    /// Sees a test through to its end, but no further than a limit in real time; gives why it failed.
    pub(super) async fn run(mut self, limit: Duration) -> Option<TestFailure> {
        let deadline = Instant::now() + limit;
        let failure = loop {
            match tokio::time::timeout_at(deadline, self.step()).await {
                Ok(Ok(None)) => {}
                Ok(Ok(Some(ended))) => break ended,
                Ok(Err(error)) => break Some(plain_failure(error.to_string())),
                Err(_) => break Some(plain_failure(format!("it took longer than {} s", limit.as_secs()))),
            }
        };
        let failure = match failure {
            Some(failure) => Some(TestFailure { runs: self.world.failed_runs().await, ..failure }),
            None => None,
        };
        // What it left behind is told to stop before its engines wait for that.
        drop(self.call);
        self.world.end().await;
        failure
    }

    /// Takes up the next thing that happens; gives how the test has ended, if it has.
    async fn step(&mut self) -> Result<Option<Option<TestFailure>>, RunError> {
        let event = tokio::select! {
            biased;
            heard = self.call.next() => TestEvent::Heard(heard),
            Some(done) = self.work.next(), if !self.work.is_empty() => TestEvent::Worked(done),
            rest = self.world.come_to_rest(), if self.work.is_empty() => TestEvent::Rested(rest?),
        };
        match event {
            TestEvent::Heard(HostEvent::Frame(frame)) => Ok(self.hear(frame)),
            TestEvent::Heard(HostEvent::Lost(_)) => {
                Ok(Some(Some(plain_failure("its script host ended: does it use too much memory?"))))
            }
            TestEvent::Worked(done) => {
                self.world.begin_work();
                let answer = done.what.and_then(|result| self.take_result(result));
                self.call.answer(done.op, answer);
                Ok(None)
            }
            // What the host said before it rested comes first.
            TestEvent::Rested(_) if self.call.has_news() => Ok(None),
            TestEvent::Rested(WorldRest::Rests) => self.move_on().await,
            TestEvent::Rested(WorldRest::Overdue(due)) => self.world.move_to(due).await.map(|()| None),
            TestEvent::Rested(WorldRest::Endless) => Ok(Some(Some(self.endless().await))),
        }
    }

    fn hear(&mut self, frame: FromHost) -> Option<Option<TestFailure>> {
        match frame {
            FromHost::Done { .. } => return Some(None),
            FromHost::Failed { error, .. } => {
                let stack = error.stack.map(|stack| self.suite.realm.stack(&stack)).unwrap_or_default();
                return Some(Some(TestFailure { message: error.message, stack, runs: Vec::new() }));
            }
            FromHost::Log { message, .. } => {
                lock(&self.place.lines).push(self.suite.realm.readable(message));
            }
            FromHost::Op { op, kind, args, .. } => {
                if let Err(error) = self.asked(op, &kind, &args) {
                    self.call.answer(op, Err(error));
                }
            }
            _ => {}
        }
        None
    }

    /// Takes up a question of the test.
    fn asked(&mut self, op: u32, kind: &str, args: &RawValue) -> Result<(), ScriptError> {
        let until = match kind {
            "test.start" => return self.start(op, parse(args)?),
            "test.signal" => return self.signal(op, parse(args)?),
            "test.finish" => {
                let RunArgs { run } = parse(args)?;
                GoalKind::Ended { run }
            }
            "test.untilWaiting" => {
                let WaitingArgs { run, name } = parse(args)?;
                GoalKind::Waiting { run, signal: name }
            }
            "test.advance" => {
                let AdvanceArgs { ms } = parse(args)?;
                GoalKind::Moment(self.world.clock.now().plus_ms(ms))
            }
            other => {
                self.call.answer(op, answer_own(&self.suite.realm, other, args));
                return Ok(());
            }
        };
        self.goals.push(TestGoal { op, until });
        Ok(())
    }

    fn start(&mut self, op: u32, args: StartArgs) -> Result<(), ScriptError> {
        let (place, clock, run) = (self.place.clone(), self.world.clock.clone(), args.run);
        let started = start(place, clock, args).map(move |started| WorkDone {
            op,
            what: started.map(|it| WorkResult::Started(run, Box::new(it))),
        });
        self.work.push(started.boxed());
        Ok(())
    }

    fn signal(&mut self, op: u32, args: SignalArgs) -> Result<(), ScriptError> {
        let run = self.run_of(args.run)?;
        let (engine, id) = (run.engine.clone(), run.id.clone());
        let send = async move {
            let sent = engine.signal(&id, args.name, Value::from(args.payload)).await;
            WorkDone { op, what: sent.map(|_| WorkResult::Sent).map_err(said) }
        };
        self.work.push(send.boxed());
        Ok(())
    }

    fn run_of(&self, number: u32) -> Result<&TestRun, ScriptError> {
        self.world.runs.get(&number).ok_or_else(|| refusal("there is no such run"))
    }

    fn take_result(&mut self, result: WorkResult) -> OpAnswer {
        match result {
            WorkResult::Started(number, run) => {
                let answer = encode(&json!({ "runId": run.id }));
                self.world.runs.insert(number, *run);
                answer
            }
            WorkResult::Sent => Ok(RawValue::NULL.to_owned()),
        }
    }

    /// Everything rests: answers the test what has come about, or lets time pass.
    async fn move_on(&mut self) -> Result<Option<Option<TestFailure>>, RunError> {
        self.world.begin_work();
        if self.answer_goals().await? || self.world.do_rest_of_moment().await? || self.answer_moments() {
            return Ok(None);
        }
        let wanted = self.goals.iter().filter_map(|goal| match goal.until {
            GoalKind::Moment(at) => Some(at),
            GoalKind::Ended { .. } | GoalKind::Waiting { .. } => None,
        });
        let next = wanted.chain(self.world.next_moment().await?).min();
        match next {
            Some(next) => self.world.move_to(next).await?,
            None if self.goals.is_empty() => {
                let message = "it waits for something that never comes: a promise that nothing settles";
                return Ok(Some(Some(plain_failure(message))));
            }
            None => self.refuse_goals().await?,
        }
        Ok(None)
    }

    /// Answers waits for runs that are over; says whether there were any.
    async fn answer_goals(&mut self) -> Result<bool, RunError> {
        let mut is_any = false;
        for goal in std::mem::take(&mut self.goals) {
            match self.answer_to(&goal.until).await? {
                Some(answer) => {
                    is_any = true;
                    self.call.answer(goal.op, answer);
                }
                None => self.goals.push(goal),
            }
        }
        Ok(is_any)
    }

    async fn answer_to(&self, goal: &GoalKind) -> Result<Option<OpAnswer>, RunError> {
        let (run, signal) = match goal {
            GoalKind::Moment(_) => return Ok(None),
            GoalKind::Ended { run } => (run, None),
            GoalKind::Waiting { run, signal } => (run, Some(signal)),
        };
        let run = match self.run_of(*run) {
            Ok(run) => run,
            Err(error) => return Ok(Some(Err(error))),
        };
        let status = run.engine.summary(&run.id).await?.status;
        // What it triggers belongs to its end.
        let is_triggering =
            signal.is_none() && status == RunStatus::Completed && triggers(run).await?.is_none();
        let has_ended = status.is_terminal() && !is_triggering;
        match signal {
            Some(signal) if testing::is_waiting_for(&run.engine, &run.id, signal).await? => {
                Ok(Some(Ok(RawValue::NULL.to_owned())))
            }
            Some(signal) if has_ended => Ok(Some(Err(never_waits(run, signal).await?))),
            None if has_ended => outcome(run).await.map(|outcome| Some(encode(&outcome))),
            Some(_) | None => Ok(None),
        }
    }

    /// Answers waits for moments that have come; says whether there were any.
    fn answer_moments(&mut self) -> bool {
        let now = self.world.clock.now();
        let mut is_any = false;
        for goal in self.goals.extract_if(.., |goal| matches!(goal.until, GoalKind::Moment(at) if at <= now))
        {
            is_any = true;
            self.call.answer(goal.op, Ok(RawValue::NULL.to_owned()));
        }
        is_any
    }

    /// No amount of time will bring about what the test waits for.
    async fn refuse_goals(&mut self) -> Result<(), RunError> {
        for goal in std::mem::take(&mut self.goals) {
            let (GoalKind::Ended { run } | GoalKind::Waiting { run, .. }) = goal.until else { continue };
            let error = match (self.world.runs.get(&run), &goal.until) {
                (Some(run), GoalKind::Waiting { signal, .. }) => never_waits(run, signal).await?,
                (Some(run), _) => {
                    let waits = run.explain().await?;
                    refusal(format!("{waits}, and no amount of time will change that"))
                }
                (None, _) => refusal("there is no such run"),
            };
            self.call.answer(goal.op, Err(error));
        }
        Ok(())
    }

    /// Something computes, or waits for the real world, and nothing will stop it.
    async fn endless(&self) -> TestFailure {
        let waits = self.world.explain().await;
        let who = if waits.is_empty() { "the test works".to_owned() } else { waits };
        let limit = WORK_LIMIT.as_secs();
        plain_failure(format!(
            "{who}, and did not come to an end in {limit} s of real time: does it compute without end, or wait for a server?"
        ))
    }
}

fn plain_failure(message: impl Into<String>) -> TestFailure {
    TestFailure { message: message.into(), stack: String::new(), runs: Vec::new() }
}

async fn never_waits(run: &TestRun, signal: &str) -> Result<ScriptError, RunError> {
    let does = run.explain().await?;
    Ok(refusal(format!("the run never waits for the signal `{signal}`: {does}")))
}

/// What came of a run, with its log.
async fn outcome(run: &TestRun) -> Result<serde_json::Value, RunError> {
    let outcome = run.engine.wait(&run.id).await?;
    let logs = run.engine.logs(&run.id, &LogFilter::default()).await?;
    let line = |line: &rival_engine::store::LogLine| json!({ "level": line.level, "message": line.message, "stepName": line.node, "metadata": line.fields });
    let mut told = serde_json::to_value(&outcome).unwrap_or_default();
    told["logs"] = logs.iter().map(line).collect();
    let steps = run.engine.get(&run.id).await?.steps;
    for step in &steps {
        if let (Some(undo), Some(result)) = (step.undo, told["results"].get_mut(step.path.as_str())) {
            result["undo"] = json!(undo);
        }
    }
    let triggers = triggers(run).await?.unwrap_or_default();
    told["triggered"] = started_by(run, &triggers).await?;
    let trigger =
        |it: &TriggerView| json!({ "workflow": it.workflow, "status": it.status, "error": it.reason });
    told["triggers"] = triggers.iter().map(trigger).collect();
    told["steps"] = steps.iter().map(|step| (step.path.to_string(), report(step))).collect();
    Ok(told)
}

/// What became of the triggers of a run; none if that is not known yet.
async fn triggers(run: &TestRun) -> Result<Option<Vec<TriggerView>>, RunError> {
    let view = run.engine.triggers(&run.id).await?;
    Ok(match view {
        Some(view) if view.status == TriggerStatus::Pending => None,
        Some(view) => Some(view.triggers),
        None => Some(Vec::new()),
    })
}

/// The runs that were triggered, with what they were given.
async fn started_by(run: &TestRun, triggers: &[TriggerView]) -> Result<serde_json::Value, RunError> {
    let mut started = Vec::new();
    for trigger in triggers {
        for id in &trigger.runs {
            let input = run.engine.get(id).await?.input;
            started.push(json!({ "workflow": trigger.workflow, "runId": id, "input": input }));
        }
    }
    Ok(started.into())
}

/// What became of a step, also of one inside of a block.
fn report(step: &StepMetrics) -> serde_json::Value {
    let error = step.error.as_ref().map(|error| &error.failure);
    let mut told = json!({ "status": step.status, "attempts": step.retry_count + 1, "error": error });
    if let Some(undo) = step.undo {
        told["undo"] = json!(undo);
    }
    told
}
