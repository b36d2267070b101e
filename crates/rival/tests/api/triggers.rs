//! Triggers as authors write them.

use std::time::Duration;

use rival::TriggerStatus;
use rival::prelude::*;
use rival::testing::{Mock, TestEngine};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Mail {
    to: String,
    #[serde(default)]
    copies: u32,
}

#[derive(Serialize, Deserialize)]
struct Placed {
    id: u32,
    email: Option<String>,
    parcels: Vec<u32>,
}

#[step]
async fn place() -> Result<Placed, StepError> {
    Ok(Placed { id: 7, email: Some("ada@example.com".into()), parcels: vec![1, 2] })
}

#[step]
async fn send(Input(mail): Input<Mail>) -> Result<String, StepError> {
    Ok(format!("{} of {}", mail.to, mail.copies))
}

fn mailing() -> Workflow<Mail, String> {
    Workflow::new("mail").input::<Mail>().step(send).build().unwrap()
}

#[track_caller]
fn built(trigger: Trigger) -> String {
    let workflow = Workflow::new("order").step(place).trigger(trigger).build().unwrap();
    serde_json::to_string(&workflow.plan().triggers[0]).unwrap()
}

#[track_caller]
fn wrong(trigger: Trigger) -> Vec<String> {
    let errors = Workflow::new("order").step(place).trigger(trigger).build().unwrap_err();
    assert!(errors.iter().all(|error| error.location().file().ends_with("triggers.rs")), "{errors}");
    errors.iter().map(|error| error.message().to_owned()).collect()
}

#[test]
fn a_trigger_is_data_of_the_plan() {
    let output = TriggerValue::output;
    assert_eq!(
        built(Trigger::to("next").input("id", output().at("id")).input("n", 3).input("on", true)),
        r#"{"workflow":"next","inputs":{"id":{"$":["output","id"]},"n":3,"on":true}}"#
    );
    let timed = Trigger::to("next").input_from(output()).timeout(Duration::from_secs(5)).max_retries(2);
    assert_eq!(
        built(timed),
        r#"{"workflow":"next","inputs":{"$":["output"]},"timeoutMs":5000,"maxRetries":2}"#
    );
    let each = Trigger::to("next")
        .for_each(output().at("parcels"))
        .input("parcel", TriggerValue::item())
        .input("at", TriggerValue::index())
        .input("first", output().at("parcels").at(0))
        .input("note", TriggerValue::input().at("note").optional());
    assert_eq!(
        built(each),
        r#"{"workflow":"next","inputs":{"at":{"$":["index"]},"first":{"$":["output","parcels",0]},"note":{"$":["input","note"],"missing":"omit"},"parcel":{"$":["item"]}},"forEach":{"$":["output","parcels"]}}"#
    );
    let quoted = Trigger::to("next").input("x", json!({"$": 1})).input("y", TriggerValue::list([output()]));
    assert_eq!(
        built(quoted),
        r#"{"workflow":"next","inputs":{"x":{"$quote":{"$":1}},"y":[{"$":["output"]}]}}"#
    );
    assert_eq!(built(Trigger::to("next")), r#"{"workflow":"next","inputs":null}"#);
}

#[test]
fn what_is_wrong_is_said_with_the_line() {
    assert_eq!(
        wrong(Trigger::to("next").input("x", TriggerValue::item())),
        [
            "trigger of `next`: inputs: `item` means nothing here; there is output, input; `.for_each(..)` starts a run for each \
          item of a list"
        ]
    );
    assert_eq!(
        wrong(Trigger::to(&mailing()).input("copys", 1)),
        [
            "trigger of `mail`: the workflow takes no `copys`; it takes `copies`, `to`",
            "trigger of `mail`: the workflow needs `to`: add `.input(..)`"
        ]
    );
    assert_eq!(
        wrong(Trigger::to("next").input("x", 1).input("x", 2).input_from(3)),
        [
            "trigger of `next`: it has `.input_from(..)` and `.input(..)`: the whole input, or its fields",
            "trigger of `next`: `x` is given twice"
        ]
    );
    let errors = Workflow::new("order").step(place).trigger(Trigger::to("rival:x")).build().unwrap_err();
    assert!(errors.to_string().contains("`rival:x` is a name of Rival's own"), "{errors}");
}

#[test]
fn a_workflow_without_triggers_keeps_its_hash() {
    let plain = Workflow::new("order").step(place).build().unwrap();
    let triggering = Workflow::new("order").step(place).trigger(Trigger::to("x")).build().unwrap();
    assert_ne!(plain.hash(), triggering.hash());
    assert!(!plain.plan().to_json().contains("triggers"));
}

#[tokio::test]
async fn a_test_engine_runs_what_is_triggered() {
    let order = Workflow::new("order")
        .step(place)
        .trigger(Trigger::to(&mailing()).input("to", TriggerValue::output().at("email")).input("copies", 2))
        .trigger(Trigger::to("elsewhere").input("id", TriggerValue::output().at("id")))
        .build()
        .unwrap();
    let engine = TestEngine::builder().workflow(&order).workflow(mailing()).build().await.unwrap();
    let run = engine.run(&order, ()).id("r").await.unwrap();
    assert_eq!(engine.finish(run.id()).await.unwrap().status, rival::RunStatus::Completed);
    engine.come_to_rest().await.unwrap();
    let triggers = engine.triggers(run.id()).await.unwrap().unwrap();
    let statuses: Vec<TriggerStatus> = triggers.triggers.iter().map(|it| it.status).collect();
    assert_eq!(statuses, [TriggerStatus::Triggered, TriggerStatus::Failed]);
    let sent = engine.handle("r~t0").await.unwrap().of(&mailing()).unwrap().output().await.unwrap();
    assert_eq!(sent, "ada@example.com of 2");
}

/// A value that is `null` is there; one that the output does not have is not.
#[tokio::test]
async fn a_mocked_output_decides_what_is_triggered() {
    let order = Workflow::new("order")
        .step(place)
        .trigger(Trigger::to(&mailing()).input("to", TriggerValue::output().at("email")))
        .build()
        .unwrap();
    let mock = Mock::returning(json!({"id": 1, "parcels": []}));
    let engine = TestEngine::builder()
        .workflow(&order)
        .workflow(mailing())
        .mock("place", &mock)
        .build()
        .await
        .unwrap();
    let run = engine.run(&order, ()).id("r").await.unwrap();
    engine.finish(run.id()).await.unwrap();
    engine.come_to_rest().await.unwrap();
    let triggers = engine.triggers(run.id()).await.unwrap().unwrap();
    assert_eq!(triggers.status, TriggerStatus::Skipped);
    assert_eq!(triggers.triggers[0].reason.as_ref().unwrap().code, "missing_ref");
}
