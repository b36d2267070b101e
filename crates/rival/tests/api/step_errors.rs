//! Errors of steps: where they come from, and how they go through other kinds of errors.

use rival::prelude::*;
use rival::{Behavior, RunOutcome};

/// The file and the line of a run's failure.
fn place(outcome: &RunOutcome) -> (Option<&str>, Option<u32>) {
    let origin = outcome.error.as_ref().and_then(|error| error.origin.as_deref()).unwrap();
    (origin.file.as_deref(), origin.line)
}

async fn outcome_of(workflow: &Workflow<(), ()>) -> RunOutcome {
    let engine = Engine::builder().workflow(workflow).build().await.unwrap();
    engine.run(workflow, ()).await.unwrap().wait().await.unwrap()
}

#[step]
async fn declines() -> Result<(), StepError> {
    Err(StepError::stop("declined"))
}
const DECLINED_AT: u32 = line!() - 2;

#[step]
async fn falls() -> Result<(), StepError> {
    panic!("a branch fell")
}
const FALLEN_AT: u32 = line!() - 2;

#[step]
fn falls_on_its_own_thread() -> Result<(), StepError> {
    let branches: Vec<u32> = Vec::new();
    assert_eq!(branches.first(), Some(&1));
    Ok(())
}
const BLOCKING_FALLEN_AT: u32 = line!() - 3;

#[tokio::test]
async fn a_failure_has_the_line_of_the_error_or_the_panic() {
    let at = |line: u32| (Some(file!()), Some(line));
    let outcome = outcome_of(&Workflow::new("w").step(declines).build().unwrap()).await;
    assert_eq!(place(&outcome), at(DECLINED_AT));
    let outcome = outcome_of(&Workflow::new("w").step(falls).build().unwrap()).await;
    assert_eq!(place(&outcome), at(FALLEN_AT));
    let outcome = outcome_of(&Workflow::new("w").step(falls_on_its_own_thread).build().unwrap()).await;
    assert_eq!(place(&outcome), at(BLOCKING_FALLEN_AT));
}

/// The panic began elsewhere, and nothing says where.
#[step]
async fn passes_a_panic_on() -> Result<(), StepError> {
    let fell = tokio::spawn(async { panic!("far away") }).await;
    std::panic::resume_unwind(fell.unwrap_err().into_panic())
}
const FAR_FALLEN_AT: u32 = line!() - 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_that_is_passed_on_has_its_own_place_or_none() {
    let outcome = outcome_of(&Workflow::new("w").step(passes_a_panic_on).build().unwrap()).await;
    let error = outcome.error.unwrap();
    assert_eq!(error.message, "the function panicked: far away");
    assert!(error.origin.is_none_or(|origin| origin.line == Some(FAR_FALLEN_AT)));
}

#[cfg(feature = "anyhow")]
mod through_anyhow {
    use anyhow::Context;

    use super::*;

    async fn pays(durable: &Durable) -> anyhow::Result<u32> {
        // An error of Rival's own, and one of another crate, in one function.
        let price = durable.once("price", || async { Ok::<_, StepError>("7".to_owned()) }).await?;
        let price: u32 = price.parse().context("no price")?;
        Err(StepError::stop(format!("{price} is too much")).code("too_much"))?;
        Ok(price)
    }

    #[step]
    async fn pay(durable: Durable) -> anyhow::Result<()> {
        pays(&durable).await.context("while paying")?;
        Ok(())
    }

    #[tokio::test]
    async fn a_step_that_returns_anyhow_stops_as_its_step_error_says() {
        let outcome = outcome_of(&Workflow::new("w").step(pay.retry(5)).build().unwrap()).await;
        assert_eq!(place(&outcome).0, Some(file!()));
        let error = outcome.error.unwrap();
        // It was not tried again: the error came out of anyhow as it went in.
        assert_eq!(
            (error.code.as_str(), error.message.as_str()),
            ("too_much", "while paying: 7 is too much")
        );
    }

    #[step]
    fn pay_boxed() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Err(StepError::stop("too much").code("too_much").into_boxed())
    }

    #[tokio::test]
    async fn a_step_that_returns_a_boxed_error_stops_as_its_step_error_says() {
        let outcome = outcome_of(&Workflow::new("w").step(pay_boxed.retry(5)).build().unwrap()).await;
        assert_eq!(outcome.error.unwrap().code, "too_much");
        let back = StepError::from(pay_boxed().unwrap_err());
        assert_eq!(back.behavior, Behavior::Stop);
    }
}
