//! The plan that a builder makes. These are snapshots on purpose: a change here is a new version of every user's
//! workflows.

use std::collections::BTreeSet;
use std::time::{Duration, UNIX_EPOCH};

use expect_test::{Expect, expect};
use rival::prelude::*;
use rival::{Data, Time, TypedStep};
use rival_core::plan::fingerprint;

use crate::trees::{Chopped, Order, chop_tree, count, find_tree, sweep, tell_forester};

fn check<I, O>(workflow: &Workflow<I, O>, expected: &Expect) {
    let json = serde_json::to_string_pretty(&workflow.plan().block.nodes).unwrap();
    expected.assert_eq(&json);
}

fn trees() -> Workflow<Order, u32> {
    Workflow::new("treeProcessing")
        .description("From the forest to the yard")
        .input::<Order>()
        .timeout(Duration::from_secs(3600))
        .max_retries(1)
        .on_error(tell_forester)
        .step(find_tree)
        .step(chop_tree.timeout(Duration::from_secs(60)).retry(3))
        .step(sweep)
        .step(count)
        .build()
        .unwrap()
}

#[test]
fn the_plan_is_data() {
    let workflow = trees();
    let json = serde_json::to_string_pretty(workflow.plan()).unwrap();
    expect![[r#"
        {
          "workflow": "treeProcessing",
          "block": {
            "nodes": [
              {
                "id": "find_tree",
                "kind": "step",
                "function": "find_tree"
              },
              {
                "id": "chop_tree",
                "kind": "step",
                "function": "chop_tree",
                "maxAttempts": 3,
                "timeoutMs": 60000
              },
              {
                "id": "sweep",
                "kind": "step",
                "function": "sweep"
              },
              {
                "id": "count",
                "kind": "step",
                "function": "count"
              }
            ]
          },
          "onError": "tell_forester",
          "timeoutMs": 3600000,
          "maxRetries": 1
        }"#]]
    .assert_eq(&json);
}

#[test]
fn the_hash_is_stable() {
    expect!["affaff1f726967ca1b750bf4fe8338cdd575df99202b01a1f26b293fcb291b36"]
        .assert_eq(trees().hash().as_str());
    assert_eq!(trees().hash(), trees().hash());
}

#[test]
fn the_definition_has_all_that_the_engine_needs() {
    let definition = trees().definition();
    assert_eq!(
        definition.functions.keys().collect::<Vec<_>>(),
        ["chop_tree", "count", "find_tree", "sweep", "tell_forester"]
    );
    let resources: Vec<_> =
        definition.resources.iter().map(|it| (it.function.as_str(), it.resource.name)).collect();
    assert_eq!(resources, [("find_tree", "api::trees::Forest")]);
    let schema = definition.input_schema.unwrap();
    assert_eq!(schema["required"], serde_json::json!(["id"]));
    assert_eq!(definition.description.as_deref(), Some("From the forest to the yard"));
}

#[test]
fn the_data_flow_can_be_drawn() {
    let edge = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    assert_eq!(trees().edges(), [edge("find_tree", "chop_tree"), edge("chop_tree", "count")]);
}

#[test]
fn every_option_reaches_the_plan() {
    let step = sweep
        .named("tidy")
        .timeout(Duration::from_secs(1))
        .on_timeout_retry()
        .retry(5)
        .backoff(BackoffKind::Exponential, Duration::from_millis(250))
        .jitter()
        .at_most_once()
        .on_error(tell_forester)
        .continue_on_error();
    check(
        &Workflow::new("w").step(step).build().unwrap(),
        &expect![[r#"
        [
          {
            "id": "tidy",
            "kind": "step",
            "function": "sweep",
            "maxAttempts": 5,
            "backoff": "exponential",
            "backoffMs": 250,
            "jitter": true,
            "timeoutMs": 1000,
            "onTimeout": "retry",
            "onError": "tell_forester",
            "continueOnError": true,
            "atMostOnce": true
          }
        ]"#]],
    );
}

#[test]
fn the_config_form_is_the_same() {
    let config = StepConfig {
        timeout: Some(Duration::from_secs(1)),
        on_timeout: OnTimeout::Retry,
        max_attempts: Some(5),
        backoff: Some(BackoffKind::Exponential),
        backoff_base: Some(Duration::from_millis(250)),
        jitter: true,
        at_most_once: true,
    };
    let chain = sweep.timeout(Duration::from_secs(1)).on_timeout_retry().retry(5);
    let chain = chain.backoff(BackoffKind::Exponential, Duration::from_millis(250)).jitter().at_most_once();
    let a = Workflow::new("w").step(sweep.config(config)).build().unwrap();
    let b = Workflow::new("w").step(chain).build().unwrap();
    assert_eq!(a.hash(), b.hash());
}

#[test]
fn the_batch_form_is_the_same() {
    let one: Workflow<Order, u32> = Workflow::new("w")
        .input::<Order>()
        .steps((find_tree, chop_tree.retry(3), delay_step(Duration::from_secs(1)), count))
        .build()
        .unwrap();
    let other = Workflow::new("w")
        .input::<Order>()
        .step(find_tree)
        .step(chop_tree.retry(3))
        .step(delay_step(Duration::from_secs(1)))
        .step(count)
        .build()
        .unwrap();
    assert_eq!(one.plan(), other.plan());
}

#[test]
fn a_function_used_twice_is_numbered() {
    let workflow =
        Workflow::new("w").step(sweep).step(sweep).step(sweep.named("last")).step(sweep).build().unwrap();
    let ids: Vec<_> = workflow.plan().block.nodes.iter().map(|node| node.id.as_str()).collect();
    assert_eq!(ids, ["sweep", "sweep_2", "last", "sweep_3"]);
    assert_eq!(workflow.definition().functions.len(), 1);
}

#[test]
fn ready_made_steps_are_numbered_and_keep_apart() {
    let fetch = |n: u32| (move || Ok::<u32, StepError>(n)).default_name("http", &n);
    let workflow = Workflow::new("w")
        .step(fetch(1))
        .step(fetch(2).retry(3))
        .step(fetch(3).named("last"))
        .build()
        .unwrap();
    let ids: Vec<_> = workflow.plan().block.nodes.iter().map(|node| node.id.as_str()).collect();
    assert_eq!(ids, ["http", "http_2", "last"]);
    let definition = workflow.definition();
    let one = format!("http~{}", fingerprint("1"));
    let two = format!("http~{}", fingerprint("2"));
    assert_eq!(
        definition.functions.keys().cloned().collect::<BTreeSet<_>>(),
        [one, two, "last".to_owned()].into()
    );
    let former = definition.former.expect("version 0.1 numbered them");
    assert_eq!(former.functions.keys().collect::<Vec<_>>(), ["http", "http_2", "last"]);
}

#[test]
fn a_configured_step_can_be_reused() {
    fn patient<M, S: StepFn<M>>(step: S) -> TypedStep<S::Out> {
        step.timeout(Duration::from_secs(60)).retry(5)
    }
    let patient_sweep = patient(sweep);
    let workflow = Workflow::new("w").step(patient_sweep.clone()).step(patient_sweep).build().unwrap();
    assert_eq!(workflow.plan().step_count(), 2);
}

#[step]
async fn how_long(Input(order): Input<Order>) -> Result<Duration, StepError> {
    Ok(Duration::from_secs(order.id.into()))
}

#[test]
fn delays_are_sleeps() {
    let workflow: Workflow<Order, ()> = Workflow::new("w")
        .input::<Order>()
        .step(delay_step(Duration::ZERO))
        .step(delay_step(Duration::from_secs(2)))
        .step(delay_until(UNIX_EPOCH + Duration::from_secs(1)).named("dawn"))
        .step(delay_until(Time(5)))
        .step(delay_by(how_long))
        .step(delay_by((|| Ok::<_, StepError>(Duration::from_secs(1))).named("fixed")))
        .build()
        .unwrap();
    check(
        &workflow,
        &expect![[r#"
        [
          {
            "id": "delay",
            "kind": "sleep",
            "wait": {
              "forMs": 0
            }
          },
          {
            "id": "delay_2",
            "kind": "sleep",
            "wait": {
              "forMs": 2000
            }
          },
          {
            "id": "dawn",
            "kind": "sleep",
            "wait": {
              "untilMs": 1000
            }
          },
          {
            "id": "delay_3",
            "kind": "sleep",
            "wait": {
              "untilMs": 5
            }
          },
          {
            "id": "delay_4",
            "kind": "sleep",
            "wait": {
              "computed": "how_long"
            }
          },
          {
            "id": "delay_5",
            "kind": "sleep",
            "wait": {
              "computed": "fixed"
            }
          }
        ]"#]],
    );
}

#[test]
fn the_output_is_what_the_last_node_gives() {
    fn output<I, O: Data>(_: &Workflow<I, O>) -> &'static str {
        std::any::type_name::<O>()
    }
    let builder = || Workflow::new("w").input::<Order>().step(find_tree);
    assert_eq!(output(&builder().step(chop_tree).build().unwrap()), std::any::type_name::<Chopped>());
    let soft = builder().step(chop_tree.continue_on_error()).build().unwrap();
    assert_eq!(output(&soft), std::any::type_name::<Option<Chopped>>());
}
