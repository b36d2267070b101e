//! Virtual time: what a test kit needs to let time pass.

use std::time::Duration;

use rival_core::RunId;
use rival_core::view::RunOutcome;
use tokio::time::Instant;

use crate::api::engine::Engine;
use crate::api::error::RunError;
use crate::schedule::clock::VirtualClock;

/// How long a test waits, in real time, for a call that does not return and that no amount of time will end.
const RETURN_PATIENCE: Duration = Duration::from_secs(30);

/// Waits until nothing happens any more without time passing. A function that waits for something of its own, and was
/// not woken for a second of real time (20 where it works in another thread or process), is not waited for.
pub async fn come_to_rest(engine: &Engine) -> Result<(), RunError> {
    engine.tick().await?;
    tokio::select! {
        () = engine.settled() => {}
        () = engine.shared.in_flight.find_stuck_calls() => {}
    }
    Ok(())
}

/// Lets time pass until a run has ended, from one moment that matters to the next. Gives in the end what came of it, or
/// what the run waits for, if no amount of time will end it.
pub async fn finish(
    engine: &Engine,
    clock: &VirtualClock,
    run: &RunId,
) -> Result<Result<RunOutcome, String>, RunError> {
    finish_with(engine, clock, run, RETURN_PATIENCE).await
}

async fn finish_with(
    engine: &Engine,
    clock: &VirtualClock,
    run: &RunId,
    patience: Duration,
) -> Result<Result<RunOutcome, String>, RunError> {
    let in_flight = &engine.shared.in_flight;
    let mut stuck_since = None;
    loop {
        come_to_rest(engine).await?;
        if engine.summary(run).await?.status.is_terminal() {
            return engine.wait(run).await.map(Ok);
        }
        stuck_since = in_flight.has_stuck_calls().then(|| stuck_since.unwrap_or_else(Instant::now));
        let left = stuck_since.map(|since| patience.saturating_sub(since.elapsed()));
        match (engine.next_due().await?, left) {
            (_, Some(Duration::ZERO)) => return engine.explain(run).await.map(Err),
            (Some(next), _) => clock.set(next),
            // The function may still return, in real time.
            (None, Some(left)) => _ = tokio::time::timeout(left, in_flight.stirred()).await,
            (None, None) if engine.summary(run).await?.status.is_terminal() => {}
            (None, None) => return engine.explain(run).await.map(Err),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use futures::future::BoxFuture;
    use rival_core::plan::{Node, NodeKind, PlanBlock, StepNode};
    use rival_core::{Plan, Value};

    use super::*;
    use crate::call::context::CallContext;
    use crate::call::function::{CallError, FunctionNeeds, UserFunction};
    use crate::registry::definition::Definition;
    use crate::schedule::clock::Clock;

    struct Never(FunctionNeeds);

    impl UserFunction for Never {
        fn needs(&self) -> &FunctionNeeds {
            &self.0
        }

        fn call(&self, _: CallContext) -> BoxFuture<'static, Result<Value, CallError>> {
            Box::pin(std::future::pending())
        }
    }

    #[tokio::test]
    async fn a_call_that_no_amount_of_time_ends_is_named() {
        let step = StepNode { function: "never".into(), ..StepNode::default() };
        let plan = Plan {
            workflow: "w".into(),
            block: PlanBlock::sequence(vec![Node::new("never", NodeKind::Step(step))]),
            on_error: None,
            timeout_ms: None,
            max_retries: 0,
        };
        let never: Arc<dyn UserFunction> = Arc::new(Never(FunctionNeeds::default()));
        let workflow = Definition {
            plan,
            functions: [("never".to_owned(), never)].into(),
            former: None,
            input_schema: None,
            input_check: None,
            nested_schemas: BTreeMap::new(),
            signal_schemas: BTreeMap::new(),
            description: None,
            resources: Vec::new(),
        };
        let clock = VirtualClock::default();
        let builder = Engine::builder().clock(Clock::Virtual(clock.clone())).workflow(workflow);
        let engine = builder.build().await.unwrap();
        let run = engine.run("w", ()).await.unwrap();
        let told = finish_with(&engine, &clock, run.id(), Duration::from_millis(1)).await.unwrap();
        assert!(told.unwrap_err().contains("`never`"));
    }
}
