//! A service that fails more often than not: retries with growing pauses, and a step that the run goes on without.

use std::time::Duration;

use rival::prelude::*;

/// Fails twice, and says how long to wait before the third attempt.
#[step]
async fn call_service(run: Run, log: Log, state: State) -> Result<u32, StepError> {
    log.info((), format_args!("attempt {}", run.attempt()));
    if run.attempt() < 3 {
        return Err(StepError::new("the service is busy").code("busy"));
    }
    state.describe(format!("answered at attempt {}", run.attempt()));
    Ok(42)
}

#[step]
async fn send_postcard() -> Result<(), StepError> {
    Err(StepError::new("out of stamps").code("no_stamps"))
}

#[step]
async fn sum_up(
    answer: Output<call_service>,
    card: Option<Output<send_postcard>>,
) -> Result<String, StepError> {
    let card = if card.is_some() { "with" } else { "without" };
    Ok(format!("the answer is {}, {card} a postcard", *answer))
}

pub(super) fn workflow(pace: Duration) -> Result<Workflow<(), String>, rival::BuildErrors> {
    Workflow::new("flaky")
        .description("A service that fails twice, and a step that is done without")
        .step(
            call_service
                .retry(5)
                .backoff(BackoffKind::Exponential, pace * 5)
                .timeout(Duration::from_secs(10)),
        )
        .step(send_postcard.continue_on_error())
        .step(sum_up)
        .build()
}
