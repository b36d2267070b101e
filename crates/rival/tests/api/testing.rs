//! The testing kit: what it replaces, and how it lets time pass.

use std::time::Duration;

use rival::prelude::*;
use rival::testing::{Mock, TestEngine};
use rival::{RunStatus, TypedStep};

const DAY: Duration = Duration::from_secs(24 * 3_600);

fn approval() -> Workflow<(), String> {
    let said = |by: LastStep| async move { Ok::<_, StepError>(format!("by {}", by.get::<String>()?)) };
    Workflow::new("approval")
        .step(delay_step(DAY))
        .step(signal::<String>("approved").timeout(3 * DAY))
        .step(said.named("said"))
        .build()
        .unwrap()
}

async fn engine_of(workflow: impl Into<rival::Definition>) -> TestEngine {
    TestEngine::builder().workflow(workflow).build().await.unwrap()
}

#[tokio::test]
async fn a_signal_comes_when_its_time_has_passed() {
    let approval = approval();
    let engine = engine_of(&approval).await;
    let (began, run) = (engine.now(), engine.run(&approval, ()).await.unwrap());
    engine.signal_after(2 * DAY, run.id(), "approved", "Ada");
    engine.finish(run.id()).await.unwrap();
    assert_eq!(run.output().await.unwrap(), "by Ada");
    assert_eq!(engine.now().duration_since(began), 2 * DAY);
}

#[tokio::test]
async fn a_signal_comes_while_time_is_moved_by_hand() {
    let approval = approval();
    let engine = engine_of(&approval).await;
    let run = engine.run(&approval, ()).await.unwrap();
    engine.signal_after(2 * DAY, run.id(), "approved", "Ada");
    engine.advance(2 * DAY - Duration::from_millis(1)).await.unwrap();
    assert_eq!(engine.status(run.id()).await.unwrap(), RunStatus::Waiting);
    engine.advance(Duration::from_millis(1)).await.unwrap();
    assert_eq!(engine.status(run.id()).await.unwrap(), RunStatus::Completed);
}

#[tokio::test]
async fn a_signal_that_comes_too_late_is_too_late() {
    let approval = approval();
    let engine = engine_of(&approval).await;
    let run = engine.run(&approval, ()).await.unwrap();
    engine.signal_after(5 * DAY, run.id(), "approved", "Ada");
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(outcome.error.unwrap().code, "signal_timeout");
    // To a run that has ended it is not sent.
    engine.advance(5 * DAY).await.unwrap();
}

#[tokio::test]
async fn a_test_waits_until_a_run_waits_for_a_signal() {
    let approval = approval();
    let engine = engine_of(&approval).await;
    let (began, run) = (engine.now(), engine.run(&approval, ()).await.unwrap());
    engine.until_waiting_for(run.id(), "approved").await.unwrap();
    assert_eq!(engine.now().duration_since(began), DAY);
    engine.signal(run.id(), "approved", "Eve").await.unwrap();
    engine.finish(run.id()).await.unwrap();
    assert_eq!(run.output().await.unwrap(), "by Eve");
}

#[tokio::test]
#[should_panic(expected = "never waits for the signal `aproved`: run")]
async fn a_signal_that_is_never_waited_for_is_named() {
    let approval = approval();
    let engine = engine_of(&approval).await;
    let run = engine.run(&approval, ()).await.unwrap();
    engine.until_waiting_for(run.id(), "aproved").await.unwrap();
}

fn pay() -> TypedStep<String> {
    let pay = |durable: Durable, Input(amount): Input<u32>| async move {
        let token: String = durable.once("token", || async { Ok::<_, StepError>("real".to_owned()) }).await?;
        let charge = || async { Err::<u32, _>(StepError::new("a real charge")) };
        let charged: u32 = durable.once("charge", charge).await?;
        let invoice = durable.run("invoice", charged + amount).await?;
        Ok::<_, StepError>(format!("{token}, {}", invoice.to_json()))
    };
    pay.named("pay")
}

fn invoice() -> Workflow<u32, String> {
    let send = |Input(amount): Input<u32>| async move {
        Err::<String, _>(StepError::stop(format!("a real letter about {amount}")))
    };
    Workflow::new("invoice").input::<u32>().step(send.named("send")).build().unwrap()
}

#[tokio::test]
async fn children_and_what_is_done_once_are_mocked() {
    let order = Workflow::new("order").input::<u32>().step(pay()).build().unwrap();
    let charge = Mock::returning(40);
    let child = Mock::by_input(|amount: u32| Ok(format!("an invoice for {amount}")));
    let builder = || {
        let builder = TestEngine::builder().workflow(&order).mock_once("charge", &charge);
        builder.mock_workflow("invoice", &child)
    };
    // The child need not be there, and is replaced if it is.
    for builder in [builder(), builder().workflow(invoice())] {
        let engine = builder.build().await.unwrap();
        let run = engine.run(&order, 2).await.unwrap();
        engine.finish(run.id()).await.unwrap();
        assert_eq!(run.output().await.unwrap(), r#"real, "an invoice for 42""#);
    }
    assert_eq!((charge.calls(), child.calls()), (2, 2));
}

#[tokio::test]
async fn steps_of_children_are_mocked() {
    let order = Workflow::new("order").input::<u32>().step(pay()).build().unwrap();
    let send = Mock::by_attempt(|attempt| Ok(format!("sent in attempt {attempt}")));
    let engine = TestEngine::builder()
        .workflow(&order)
        .workflow(invoice())
        .mock("send", &send)
        .mock_once("charge", &Mock::returning(1))
        .build()
        .await
        .unwrap();
    let run = engine.run(&order, 2).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    assert_eq!(run.output().await.unwrap(), r#"real, "sent in attempt 1""#);
}

#[tokio::test]
async fn what_is_done_once_may_fail_in_a_test() {
    let order = Workflow::new("order").input::<u32>().step(pay()).build().unwrap();
    let charge = Mock::failing(StepError::stop("no money").code("card"));
    let engine = TestEngine::builder().workflow(&order).mock_once("charge", &charge).build().await.unwrap();
    let run = engine.run(&order, 2).await.unwrap();
    assert_eq!(engine.finish(run.id()).await.unwrap().error.unwrap().code, "card");
}

/// The step waits in real time for longer than it may.
#[tokio::test]
async fn a_time_limit_acts_on_real_time() {
    let slow = || async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok::<_, StepError>(1)
    };
    let slow = slow.named("slow").timeout(Duration::from_millis(300));
    let workflow = Workflow::new("w").step(slow).build().unwrap();
    let engine = engine_of(&workflow).await;
    let (began, run) = (engine.now(), engine.run(&workflow, ()).await.unwrap());
    assert_eq!(engine.finish(run.id()).await.unwrap().error.unwrap().code, "timeout");
    assert_eq!(engine.now().duration_since(began), Duration::from_millis(300));
}
