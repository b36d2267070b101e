//! Workflows as nodes of other workflows.

use expect_test::expect;
use rival::prelude::*;
use rival::{Data, Path, WorkflowBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::trees::{Chopped, Forest, Order, chop_tree, find_tree, sweep, tell_forester};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Parcel {
    weight: u32,
}

#[step]
async fn weigh(Input(parcel): Input<Parcel>) -> Result<u32, StepError> {
    Ok(parcel.weight)
}

#[step]
async fn label(weight: Output<weigh>, tree: Option<Output<find_tree>>) -> Result<String, StepError> {
    Ok(format!("{} {:?}", *weight, tree.map(|tree| tree.species.clone())))
}

#[step]
async fn pack(chopped: Output<chop_tree>, _forest: Res<Forest>) -> Result<Parcel, StepError> {
    Ok(Parcel { weight: chopped.logs })
}

fn ship() -> Workflow<Parcel, String> {
    Workflow::new("ship").input::<Parcel>().on_error(tell_forester).step(weigh).step(label).build().unwrap()
}

fn order() -> WorkflowBuilder<Order, Chopped> {
    Workflow::new("order").input::<Order>().step(find_tree).step(chop_tree)
}

#[test]
fn a_nested_workflow_is_part_of_the_plan() {
    let workflow: Workflow<Order, String> = order().workflow_with(&ship(), pack).build().unwrap();
    let json = serde_json::to_string_pretty(&workflow.plan().block.nodes[2]).unwrap();
    expect![[r#"
        {
          "id": "ship",
          "kind": "workflow",
          "workflow": "ship",
          "block": {
            "nodes": [
              {
                "id": "weigh",
                "kind": "step",
                "function": "weigh"
              },
              {
                "id": "label",
                "kind": "step",
                "function": "label"
              }
            ]
          },
          "input": "pack",
          "onError": "tell_forester"
        }"#]]
    .assert_eq(&json);
    let edge = |from: &str| (from.to_owned(), "ship".to_owned());
    // What its input is made of, and what a step inside reads of those around it.
    assert_eq!(workflow.edges()[1..], [edge("chop_tree"), edge("find_tree")]);

    let definition = workflow.definition();
    assert!(definition.nested_schemas[&Path::from("ship")]["properties"]["weight"].is_object());
    assert!(definition.resources.iter().any(|need| need.function == "pack"));
    // What was outside for the nested workflow alone is a step of this one.
    let needs =
        |definition: &rival::Definition| definition.functions["label"].needs().outputs[1].function.clone();
    assert_eq!(needs(&ship().definition()), "../find_tree");
    assert_eq!(needs(&definition), "find_tree");
}

#[test]
fn nested_workflows_are_numbered_and_named() {
    let clean = Workflow::new("clean").step(sweep).build().unwrap();
    let workflow =
        Workflow::new("w").workflow(&clean).workflow(&clean).workflow(clean.named("again")).build().unwrap();
    let ids: Vec<_> = workflow.plan().block.nodes.iter().map(|node| node.id.as_str()).collect();
    assert_eq!(ids, ["clean", "clean_2", "again"]);
    assert_eq!(workflow.definition().functions.len(), 1);
}

mod elsewhere {
    use rival::prelude::*;

    #[step]
    pub(crate) async fn sweep() -> Result<u32, StepError> {
        Ok(1)
    }
    #[step]
    pub(crate) async fn admire(swept: Output<sweep>) -> Result<u32, StepError> {
        Ok(*swept)
    }
}

#[test]
fn functions_of_one_name_are_known_by_their_modules() {
    const ELSEWHERE: &str = "api::nested::elsewhere::sweep";
    let inner = Workflow::new("inner").step(elsewhere::sweep).step(elsewhere::admire).build().unwrap();
    let middle = Workflow::new("middle").workflow(&inner).build().unwrap();
    let outer = Workflow::new("outer").step(sweep).workflow(&middle).build().unwrap();
    let definition = outer.definition();
    assert_eq!(definition.functions.keys().collect::<Vec<_>>(), ["admire", ELSEWHERE, "api::trees::sweep"]);
    assert_eq!(definition.functions["admire"].needs().outputs[0].function, ELSEWHERE);
    assert!(outer.plan().to_json().contains(&format!(r#""function":"{ELSEWHERE}""#)));
    let former = definition.former.expect("version 0.1 named them by their place");
    assert_eq!(former.functions["middle/sweep"], ELSEWHERE);
    assert_eq!(former.functions["sweep"], "api::trees::sweep");
}

/// Ready-made steps such as `http` are closures: one workflow's must not be taken for another's.
#[test]
fn functions_without_a_name_are_known_by_their_path() {
    let inner = |name: &str, result: u32| {
        let step = (move || Ok::<_, StepError>(result)).default_name("http", &result);
        Workflow::new(name).step(step).build().unwrap()
    };
    let http = |holds: u32| format!("http~{}", rival_core::plan::fingerprint(&holds.to_string()));
    let (a, b) = (inner("a", 1), inner("b", 2));
    let keys = |workflow: Workflow<(), u32>| workflow.definition().functions.into_keys().collect::<Vec<_>>();
    assert_eq!(
        keys(Workflow::new("w").workflow(&a).workflow(&b).build().unwrap()),
        [format!("a/{}", http(1)), format!("b/{}", http(2))]
    );
    let middle = Workflow::new("m").workflow(&b).workflow(&a).workflow(&a).build().unwrap();
    let outer = Workflow::new("w").workflow(&middle).build().unwrap();
    assert_eq!(
        keys(outer),
        [format!("m/a/{}", http(1)), format!("m/a_2/{}", http(1)), format!("m/b/{}", http(2))]
    );
}

#[test]
fn schemas_of_deeper_workflows_keep_their_path() {
    let inner: Workflow<Order, String> = order().workflow_with(&ship(), pack).build().unwrap();
    let outer = Workflow::new("outer").input::<Order>().workflow(&inner).build().unwrap();
    let paths: Vec<_> = outer.definition().nested_schemas.into_keys().collect();
    assert_eq!(paths, [Path::from("order/ship")]);
}

#[track_caller]
fn message<I: Data, O: Data>(builder: WorkflowBuilder<I, O>) -> String {
    let errors = builder.build().unwrap_err();
    errors.iter().map(|error| error.message().to_owned()).collect()
}

#[test]
fn a_nested_workflow_must_get_its_own_input() {
    assert_eq!(
        message(order().workflow(&ship())),
        "workflow `ship` takes api::nested::Parcel, but `order` takes api::trees::Order: give it its input with \
         `.workflow_with(..)`"
    );
    assert_eq!(
        message(Workflow::new("w").workflow(&ship())),
        "workflow `ship` takes api::nested::Parcel, but `w` takes no input: give it its input with \
         `.workflow_with(..)`"
    );
    assert_eq!(
        message(Workflow::new("w").workflow_with(&ship(), pack)),
        "input function `pack` of workflow `ship` asks for Output<chop_tree>, but `chop_tree` is not a step of \
         workflow `w`"
    );
    let clean = Workflow::new("clean").step(sweep).build().unwrap();
    assert!(order().workflow(&clean).build().is_ok());
}
