//! What durable steps ask for while they run.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::select_all;
use rival_core::{StepError, Value};
use rival_engine::{CallContext, DurableHandle};
use serde_json::json;

use crate::crash::CrashInside;
use crate::dice::SeededDice;
use crate::script::{CallKey, ScriptPart, SeedScript};
use crate::world::SimWorld;

/// The workflow whose runs are children.
pub const CHILD: &str = "child";

/// A durable operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptedOp {
    /// Does something once.
    Once {
        /// How long it takes.
        takes: u64,
    },
    /// Waits for a time.
    Sleep(u64),
    /// Waits for a signal.
    Signal {
        /// Its name.
        name: String,
        /// How long.
        timeout: u64,
        /// A timeout is a value.
        value: bool,
    },
    /// Runs a child.
    Run,
    /// Runs a child for each item.
    Map {
        /// How many items there are.
        items: usize,
        /// How many run at a time.
        window: u32,
        /// Failures are shown per child.
        collect: bool,
    },
    /// Waits for the first of several; the others are dropped.
    Race(Vec<Self>),
}

impl SeedScript {
    /// What a durable step asks for, in order: the same in every attempt.
    pub fn ops(&self, node: &str) -> Vec<ScriptedOp> {
        let mut dice = SeededDice::new(self.seed(), &format!("ops of {node}"));
        let count = dice.range(1, 3);
        let mut ops: Vec<ScriptedOp> = (0..count).map(|_| op(&mut dice)).collect();
        // With dice of its own, so that the other operations stay what they were.
        let mut dice = SeededDice::new(self.seed(), &format!("race of {node}"));
        if dice.percent(30) {
            let at = usize::try_from(dice.below(count)).unwrap_or(0);
            ops[at] = race(&mut dice);
        }
        ops
    }

    /// How long a durable step works before its next operation, or before its end.
    pub fn pause(&self, key: &CallKey, n: usize) -> u64 {
        let mut dice = SeededDice::new(self.seed(), &format!("{key} {n}"));
        if dice.percent(50) { 0 } else { dice.duration() }
    }
}

fn op(dice: &mut SeededDice) -> ScriptedOp {
    match dice.below(5) {
        0 => ScriptedOp::Once { takes: dice.duration() },
        1 => ScriptedOp::Sleep(dice.duration()),
        2 => signal(dice),
        3 => ScriptedOp::Run,
        _ => ScriptedOp::Map {
            items: usize::try_from(dice.below(4)).unwrap_or(0),
            window: u32::try_from(dice.range(1, 3)).unwrap_or(1),
            collect: dice.percent(50),
        },
    }
}

fn signal(dice: &mut SeededDice) -> ScriptedOp {
    ScriptedOp::Signal {
        name: format!("signal{}", dice.below(3)),
        timeout: dice.duration() * 8,
        value: dice.percent(60),
    }
}

/// Two or three that race; those that lose may be asked for again later.
fn race(dice: &mut SeededDice) -> ScriptedOp {
    let count = dice.range(2, 3);
    let racer = |dice: &mut SeededDice| match dice.below(4) {
        0 => ScriptedOp::Once { takes: dice.duration() },
        1 => ScriptedOp::Sleep(dice.duration()),
        2 => signal(dice),
        _ => ScriptedOp::Run,
    };
    ScriptedOp::Race((0..count).map(|_| racer(dice)).collect())
}

/// What a child is given; it tells its calls from those of others.
pub fn child_input(node: &str, n: &str, item: Option<usize>) -> serde_json::Value {
    match item {
        Some(item) => json!(format!("{node}.{n}.{item}")),
        None => json!(format!("{node}.{n}")),
    }
}

/// Asks for all operations of a step, one after the other. Gives their answers.
pub(crate) async fn ask_all(
    world: &Arc<SimWorld>,
    key: &CallKey,
    run: &str,
    context: &CallContext,
) -> Result<Vec<serde_json::Value>, StepError> {
    let Some(durable) = &context.durable else { return Err(StepError::stop("it is no durable step")) };
    let mut answers = Vec::new();
    let ops = world.script.ops(&key.node);
    for (n, op) in ops.iter().enumerate() {
        work(world, key, run, n).await;
        answers.push(ask_or_race(world, key, run, n, op, durable).await?);
    }
    work(world, key, run, ops.len()).await;
    Ok(answers)
}

/// Works for a while; a call that is made again ends at the same moment as the first.
async fn work(world: &Arc<SimWorld>, key: &CallKey, run: &str, n: usize) {
    let began = world.first(run, key, &format!("before {n}"));
    world.until(began.plus_ms(world.script.pause(key, n))).await;
}

async fn ask_or_race(
    world: &Arc<SimWorld>,
    key: &CallKey,
    run: &str,
    n: usize,
    op: &ScriptedOp,
    durable: &DurableHandle,
) -> Result<serde_json::Value, StepError> {
    let ScriptedOp::Race(racers) = op else { return ask(world, key, run, &n.to_string(), op, durable).await };
    let places: Vec<String> = (0..racers.len()).map(|racer| format!("{n}.{racer}")).collect();
    let racing =
        racers.iter().zip(&places).map(|(racer, at)| ask(world, key, run, at, racer, durable).boxed());
    let (first, won, _) = select_all(racing).await;
    Ok(json!({ "won": won, "with": first? }))
}

/// Asks for one operation. `n` tells it from the others of its step.
async fn ask(
    world: &Arc<SimWorld>,
    key: &CallKey,
    run: &str,
    n: &str,
    op: &ScriptedOp,
    durable: &DurableHandle,
) -> Result<serde_json::Value, StepError> {
    let node = &key.node;
    let value = match op {
        ScriptedOp::Race(_) => return Err(StepError::stop("races do not nest")),
        ScriptedOp::Once { takes } => {
            let (world, key, run, takes) = (Arc::clone(world), key.clone(), run.to_owned(), *takes);
            let n = n.to_owned();
            let name = format!("once{n}");
            let once = async move {
                world.crashes.inside(ScriptPart::Once, CrashInside::Beginning).await;
                let began = world.first(&run, &key, &format!("once {n}"));
                world.until(began.plus_ms(takes)).await;
                world.crashes.inside(ScriptPart::Once, CrashInside::End).await;
                Ok(Value::from(json!(format!("once {n}"))))
            };
            durable.once(&name, once).await?
        }
        ScriptedOp::Sleep(ms) => {
            durable.sleep(Duration::from_millis(*ms)).await?;
            Value::null()
        }
        ScriptedOp::Signal { name, timeout, value } => {
            durable.signal(name, Some(Duration::from_millis(*timeout)), *value).await?.unwrap_or_default()
        }
        ScriptedOp::Run => durable.run(CHILD, Value::from(child_input(node, n, None))).await?,
        ScriptedOp::Map { items, window, collect } => {
            let inputs = (0..*items).map(|item| Value::from(child_input(node, n, Some(item)))).collect();
            let outcomes = durable.map(CHILD, inputs, *window, *collect).await?;
            let shown = outcomes.into_iter().map(|outcome| match outcome {
                Ok(value) => value.to_json(),
                Err(error) => json!({ "code": error.failure.code }),
            });
            Value::from(json!(shown.collect::<Vec<_>>()))
        }
    };
    Ok(value.to_json())
}
