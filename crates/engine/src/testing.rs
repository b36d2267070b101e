//! Virtual time: what a test kit needs to let time pass.

use rival_core::RunId;

use crate::clock::VirtualClock;
use crate::engine::Engine;
use crate::error::RunError;
use crate::view::RunOutcome;

/// Waits until nothing happens any more without time passing.
pub async fn come_to_rest(engine: &Engine) -> Result<(), RunError> {
    engine.tick().await?;
    engine.settled().await;
    Ok(())
}

/// Lets time pass until a run has ended, from one moment that matters to the next. Gives in the end what came of it, or
/// what the run waits for, if no amount of time will end it.
pub async fn finish(
    engine: &Engine,
    clock: &VirtualClock,
    run: &RunId,
) -> Result<Result<RunOutcome, String>, RunError> {
    loop {
        come_to_rest(engine).await?;
        if engine.summary(run).await?.status.is_terminal() {
            return engine.wait(run).await.map(Ok);
        }
        match engine.next_due().await? {
            Some(next) => clock.set(next),
            None if engine.summary(run).await?.status.is_terminal() => {}
            None => return engine.explain(run).await.map(Err),
        }
    }
}
