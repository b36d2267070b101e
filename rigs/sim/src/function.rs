//! The functions of random plans, as the engine calls them.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use rival_core::{StepError, Value};
use rival_engine::{CallContext, CallError, FunctionNeeds, UserFunction};

use crate::crash::CrashInside;
use crate::ops::{self, CHILD};
use crate::script::{CallKey, NodeBefore, ScriptPart, ScriptedCall, ScriptedEnd, SeenByCall, plainly};
use crate::world::{MadeCall, SimWorld};

/// All functions that random plans name.
pub fn functions(world: &Arc<SimWorld>) -> BTreeMap<String, Arc<dyn UserFunction>> {
    let parts = [
        ("step", ScriptPart::Step),
        ("listening", ScriptPart::Step),
        ("durable", ScriptPart::Step),
        ("handler", ScriptPart::Handler),
        ("input", ScriptPart::Input),
        ("wait", ScriptPart::Wait),
        ("choose", ScriptPart::Choose),
        ("until", ScriptPart::Test),
        ("while", ScriptPart::Test),
        ("items", ScriptPart::Items),
        ("finally", ScriptPart::Finally),
        ("undo", ScriptPart::Undo),
    ];
    let function = |(name, part): (&str, ScriptPart)| -> (String, Arc<dyn UserFunction>) {
        let needs = FunctionNeeds {
            last_step: true,
            iteration: true,
            cancellation: name == "listening",
            durable: name == "durable",
            ..FunctionNeeds::default()
        };
        let after = name == "until";
        (name.to_owned(), Arc::new(Played { part, needs, after, world: Arc::clone(world) }))
    };
    parts.into_iter().map(function).collect()
}

/// A function that does what the script says.
struct Played {
    part: ScriptPart,
    needs: FunctionNeeds,
    /// It is asked after an iteration.
    after: bool,
    world: Arc<SimWorld>,
}

impl Played {
    /// A loop's questions are told apart by the iterations that are done.
    fn key(&self, context: &CallContext) -> CallKey {
        let index = context.iteration.as_ref().map_or(0, |iteration| iteration.index);
        let turn = if self.part == ScriptPart::Test { index + u32::from(self.after) } else { 0 };
        let mut node = context.run.node.to_string();
        if &*context.run.workflow == CHILD {
            node = format!("{}:{node}", context.input.to_json().as_str().unwrap_or_default());
        }
        CallKey { node, part: self.part, turn, attempt: context.run.attempt }
    }
}

impl UserFunction for Played {
    fn needs(&self) -> &FunctionNeeds {
        &self.needs
    }

    fn call(&self, context: CallContext) -> BoxFuture<'static, Result<Value, CallError>> {
        let (world, needs, key) = (Arc::clone(&self.world), self.needs.clone(), self.key(&context));
        async move { play(&world, key, &needs, &context).await }.boxed()
    }
}

async fn play(
    world: &Arc<SimWorld>,
    key: CallKey,
    needs: &FunctionNeeds,
    context: &CallContext,
) -> Result<Value, CallError> {
    let run = context.run.run_id.as_ref().map(ToString::to_string).unwrap_or_default();
    let made = MadeCall { run: run.clone(), key: key.clone(), call: context.run.call, at: world.clock.now() };
    let (first, _at_work) = world.begin(made.clone(), needs.cancellation);
    let act = world.script.act(&key);
    world.crashes.inside(key.part, CrashInside::Beginning).await;
    world.loses(&made)?;
    let mut seen = seen(context);
    if needs.durable {
        seen.joined = Some(serde_json::Value::Array(ops::ask_all(world, &key, &run, context).await?));
    } else if needs.cancellation {
        tokio::select! {
            biased;
            () = work(world, &act, first) => {}
            () = context.cancellation.cancelled() => {
                // What has been told to stop ends after a while, as it would have ended.
                world.until(world.clock.now().plus_ms(act.settles)).await;
            }
        }
    } else {
        work(world, &act, first).await;
    }
    world.crashes.inside(key.part, CrashInside::End).await;
    world.loses(&made)?;
    match act.does {
        // Only what listens gets here, told to stop.
        None => Err(StepError::stop("told to stop").code("told").into()),
        Some(ScriptedEnd::Fail(fails)) => Err(fails.error().into()),
        Some(ScriptedEnd::Skip) => {
            context.state.set("skipped", serde_json::Value::Bool(true));
            Ok(Value::from(world.script.value(&key, &seen)))
        }
        Some(ScriptedEnd::Return) => Ok(Value::from(world.script.value(&key, &seen))),
    }
}

async fn work(world: &SimWorld, act: &ScriptedCall, first: rival_core::Time) {
    match act.does {
        None => pending().await,
        Some(_) => world.until(first.plus_ms(act.takes)).await,
    }
}

fn seen(context: &CallContext) -> SeenByCall {
    let last = context.last_step.as_ref();
    let iteration = context.iteration.as_ref();
    SeenByCall {
        input: json(&context.input),
        last: last
            .map(|last| NodeBefore::new(&last.name, last.result.as_ref().map(json), last.status.word())),
        iteration: iteration.map(|at| (at.index, at.item.as_ref().map(json))),
        joined: context.joined.as_ref().map(json),
    }
}

fn json(value: &Value) -> serde_json::Value {
    plainly(value.to_json())
}
