//! The functions of random plans, as the engine calls them.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use rival_core::{StepError, Value};
use rival_engine::{CallContext, CallError, Function, Needs};

use crate::crash::Inside;
use crate::ops::{self, CHILD};
use crate::script::{Act, Before, CallKey, Does, Part, Seen, plainly};
use crate::world::{Made, World};

/// All functions that random plans name.
pub fn functions(world: &Arc<World>) -> BTreeMap<String, Arc<dyn Function>> {
    let parts = [
        ("step", Part::Step),
        ("listening", Part::Step),
        ("durable", Part::Step),
        ("handler", Part::Handler),
        ("input", Part::Input),
        ("wait", Part::Wait),
        ("choose", Part::Choose),
        ("until", Part::Test),
        ("while", Part::Test),
        ("items", Part::Items),
        ("finally", Part::Finally),
        ("undo", Part::Undo),
    ];
    let function = |(name, part): (&str, Part)| -> (String, Arc<dyn Function>) {
        let needs = Needs {
            last_step: true,
            iteration: true,
            cancellation: name == "listening",
            durable: name == "durable",
            ..Needs::default()
        };
        let after = name == "until";
        (name.to_owned(), Arc::new(Played { part, needs, after, world: Arc::clone(world) }))
    };
    parts.into_iter().map(function).collect()
}

/// A function that does what the script says.
struct Played {
    part: Part,
    needs: Needs,
    /// It is asked after an iteration.
    after: bool,
    world: Arc<World>,
}

impl Played {
    /// A loop's questions are told apart by the iterations that are done.
    fn key(&self, context: &CallContext) -> CallKey {
        let index = context.iteration.as_ref().map_or(0, |iteration| iteration.index);
        let turn = if self.part == Part::Test { index + u32::from(self.after) } else { 0 };
        let mut node = context.run.node.to_string();
        if &*context.run.workflow == CHILD {
            node = format!("{}:{node}", context.input.to_json().as_str().unwrap_or_default());
        }
        CallKey { node, part: self.part, turn, attempt: context.run.attempt }
    }
}

impl Function for Played {
    fn needs(&self) -> &Needs {
        &self.needs
    }

    fn call(&self, context: CallContext) -> BoxFuture<'static, Result<Value, CallError>> {
        let (world, needs, key) = (Arc::clone(&self.world), self.needs.clone(), self.key(&context));
        async move { play(&world, key, &needs, &context).await }.boxed()
    }
}

async fn play(
    world: &Arc<World>,
    key: CallKey,
    needs: &Needs,
    context: &CallContext,
) -> Result<Value, CallError> {
    let run = context.run.run_id.as_ref().map(ToString::to_string).unwrap_or_default();
    let made = Made { run: run.clone(), key: key.clone(), call: context.run.call, at: world.clock.now() };
    let (first, _at_work) = world.begin(made.clone(), needs.cancellation);
    let act = world.script.act(&key);
    world.crashes.inside(key.part, Inside::Beginning).await;
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
    world.crashes.inside(key.part, Inside::End).await;
    world.loses(&made)?;
    match act.does {
        // Only what listens gets here, told to stop.
        None => Err(StepError::stop("told to stop").code("told").into()),
        Some(Does::Fail(fails)) => Err(fails.error().into()),
        Some(Does::Skip) => {
            context.state.set("skipped", serde_json::Value::Bool(true));
            Ok(Value::from(world.script.value(&key, &seen)))
        }
        Some(Does::Return) => Ok(Value::from(world.script.value(&key, &seen))),
    }
}

async fn work(world: &World, act: &Act, first: rival_core::Time) {
    match act.does {
        None => pending().await,
        Some(_) => world.until(first.plus_ms(act.takes)).await,
    }
}

fn seen(context: &CallContext) -> Seen {
    let last = context.last_step.as_ref();
    let iteration = context.iteration.as_ref();
    Seen {
        input: json(&context.input),
        last: last.map(|last| Before::new(&last.name, last.result.as_ref().map(json), last.status.word())),
        iteration: iteration.map(|at| (at.index, at.item.as_ref().map(json))),
        joined: context.joined.as_ref().map(json),
    }
}

fn json(value: &Value) -> serde_json::Value {
    plainly(value.to_json())
}
