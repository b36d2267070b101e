//! A step stays callable as an ordinary function.

use rival::prelude::*;
use rival::{StepRecord, testing};

use crate::trees::{Chopped, Forest, Order, chop_tree, count, find_tree, tell_forester};

#[tokio::test]
async fn a_step_is_a_function() -> Result<(), StepError> {
    let order = Order { id: 9 };
    let log = testing::log();
    let tree = find_tree(Input(order.clone()), Res::new(Forest { trees: 1 }), log.clone()).await?;
    assert_eq!(log.take()[0].message, "order 9");

    let state = State::test();
    let chopped = chop_tree(Input(order), Output::new(tree), state.clone()).await?;
    assert_eq!(chopped, Chopped { logs: 9 });
    assert_eq!(state.get::<String>("species").as_deref(), Some("oak"));

    assert_eq!(count(Output::new(chopped)).unwrap(), 9);
    Ok(())
}

#[tokio::test]
async fn a_handler_is_a_function() -> Result<(), StepError> {
    let log = testing::log();
    tell_forester(Failure::test("find_tree", "no trees left"), log.clone()).await?;
    assert_eq!(log.take()[0].message, "no trees left");
    Ok(())
}

#[tokio::test]
async fn steps_by_name_have_test_doubles() -> Result<(), StepError> {
    let steps = Steps::test([StepRecord::test("plant", 3).with_state("soil", "clay")]);
    assert_eq!(steps.get::<u32>("plant").await?, 3);
    let record = steps.find("plant").await?.expect("it is there");
    assert_eq!(record.state::<String>("soil").as_deref(), Some("clay"));
    assert_eq!(steps.find("harvest").await?, None);

    let missing = steps.get::<u32>("harvest").await.unwrap_err();
    assert_eq!(missing.failure.code, "missing_output");
    assert_eq!(
        missing.to_string(),
        "step `test` asks for the result of `harvest`, but no such step comes before it"
    );

    let last = LastStep::test(StepRecord::test("plant", 3));
    assert_eq!((last.name(), last.get::<u32>()?), (Some("plant"), 3));
    let first = LastStep::test(None).get::<u32>().unwrap_err();
    assert_eq!(first.to_string(), "step `test` asks for the result of the last step, but it is the first");
    Ok(())
}

#[tokio::test]
async fn a_cancellation_can_be_triggered_in_a_test() {
    let cancellation = Cancellation::test();
    assert!(!cancellation.is_cancelled());
    cancellation.cancel();
    cancellation.cancelled().await;
}

#[test]
fn an_output_gives_its_value_back() {
    let output: Output<count> = Output::new(7);
    assert_eq!(format!("{output:?}"), "7");
    assert_eq!(output.into_inner(), 7);
}
