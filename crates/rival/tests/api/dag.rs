//! Graphs: which step waits for which, what they give, and what is wrong with them.

use rival::prelude::*;
use rival::{Data, Workflow, WorkflowBuilder};

#[step]
async fn validate() -> Result<u32, StepError> {
    Ok(1)
}

#[step]
async fn fraud(valid: Output<validate>) -> Result<u32, StepError> {
    Ok(*valid)
}

#[step]
async fn charge(valid: Output<validate>, risk: Output<fraud>) -> Result<String, StepError> {
    Ok(format!("{} {}", *valid, *risk))
}

#[step]
async fn ship() -> Result<bool, StepError> {
    Ok(true)
}

#[step]
async fn ping(pong: Option<Output<pong>>) -> Result<(), StepError> {
    let _ = pong;
    Ok(())
}

#[step]
async fn pong(ping: Output<ping>) -> Result<(), StepError> {
    let _ = ping;
    Ok(())
}

#[step]
async fn ask() -> Result<(), StepError> {
    Ok(())
}

#[step]
async fn answer(asked: Option<Output<ask>>) -> Result<bool, StepError> {
    Ok(asked.is_some())
}

/// Each node with what it comes after.
fn after<I, O>(workflow: &Workflow<I, O>) -> Vec<String> {
    let nodes = workflow.plan().block.nodes.iter();
    nodes.map(|node| format!("{} <- {}", node.id, node.after.join(", "))).collect()
}

#[track_caller]
fn messages<I: Data, O: Data>(builder: WorkflowBuilder<I, O>) -> Vec<String> {
    let errors = builder.build().expect_err("it must be refused");
    errors.iter().map(|error| error.message().to_owned()).collect()
}

#[test]
fn what_a_step_reads_it_comes_after() {
    let workflow: Workflow<(), bool> =
        Workflow::dag("order").steps((validate, fraud, charge, ship.after(charge))).build().unwrap();
    assert_eq!(
        after(&workflow),
        ["validate <- ", "fraud <- validate", "charge <- validate, fraud", "ship <- charge"]
    );
    let said = Workflow::dag("order")
        .step(validate)
        .step(fraud.after(validate))
        .step(charge.after((validate, fraud)))
        .step(ship.after("charge"))
        .build()
        .unwrap();
    assert_eq!(workflow.plan(), said.plan());
}

#[test]
fn the_order_of_steps_does_not_matter_but_for_the_last() {
    let workflow = Workflow::dag("w").steps((fraud, validate, charge)).build().unwrap();
    assert_eq!(after(&workflow), ["fraud <- validate", "validate <- ", "charge <- fraud, validate"]);
}

#[test]
fn one_step_is_a_graph() {
    assert_eq!(after(&Workflow::dag("w").step(ship).build().unwrap()), ["ship <- "]);
}

#[test]
fn several_last_steps_give_a_map() {
    let workflow: Workflow<(), Joined> = Workflow::dag("w").steps((validate, ship)).joined().build().unwrap();
    assert_eq!(after(&workflow), ["validate <- ", "ship <- "]);
}

#[test]
fn blocks_of_a_graph_come_after_what_is_read_inside_of_them() {
    let inner = Workflow::new("inner").step(ship).build().unwrap();
    let reading = Workflow::new("reading").step(answer).build().unwrap();
    let workflow = Workflow::dag("w")
        .parallel("p", |p| p.branch("b", |b| b.step(ship).step(fraud)))
        .step(validate)
        .step(ask.named("read"))
        .workflow(inner.after("p"))
        .workflow(reading.named("again").after((validate, "p")))
        .step(delay_step(std::time::Duration::ZERO).after(vec!["again", "inner", "read"]))
        .build();
    let expected = [
        "p <- validate",
        "validate <- ",
        "read <- ",
        "inner <- p",
        "again <- validate, read, p",
        "delay <- again, inner, read",
    ];
    assert_eq!(after(&workflow.unwrap()), expected);
}

#[test]
fn a_step_comes_after_what_its_handler_and_compensation_read() {
    let undo = |asked: Output<ask>| async move { Ok::<_, StepError>(format!("{:?}", *asked)) };
    let workflow = Workflow::dag("w")
        .steps((ask, validate))
        .step(ship.compensate(undo.named("undo")).on_error(fraud))
        .build()
        .unwrap();
    assert_eq!(after(&workflow), ["ask <- ", "validate <- ", "ship <- ask, validate"]);
    assert_eq!(workflow.edges().len(), 1, "what a handler reads is no flow of data");
}

#[test]
fn a_branch_can_be_a_graph() {
    let workflow = Workflow::new("w")
        .parallel("p", |p| p.branch("b", |b| b.as_graph().steps((fraud, validate, charge))))
        .build()
        .unwrap();
    let rival::Plan { block, .. } = workflow.plan();
    let inner = block.nodes[0].blocks()[0].1;
    assert_eq!(inner.nodes[0].after, ["validate"]);
}

#[test]
fn mistakes_are_named() {
    let dag = || Workflow::dag("w");
    assert_eq!(messages(dag()), ["workflow `w` has no steps: add at least one"]);
    assert_eq!(
        messages(dag().step(ship.named("x")).step(validate.named("x")).joined()),
        ["two steps are called `x`: give one another name with `.named(\"..\")`"]
    );
    assert_eq!(
        messages(dag().step(ship.after(validate))),
        ["step `ship` comes after `validate`, but there is no such step beside it"]
    );
    assert_eq!(
        messages(dag().step(ship.after("validate"))),
        ["`ship` comes after `validate`, but workflow `w` has no such node"]
    );
    assert_eq!(
        messages(dag().step(fraud)),
        ["step `fraud` asks for Output<validate>, but `validate` is not a step of workflow `w`"]
    );
    assert_eq!(
        messages(dag().steps((ping, pong))),
        ["the nodes of workflow `w` wait for each other: `ping` -> `pong` -> `ping`"]
    );
    assert_eq!(
        messages(dag().step(validate).step(validate).step(ship.after(validate))),
        [
            "step `ship` comes after `validate`, which is used several times here: say which by its id, `.after(\"..\")`"
        ]
    );
    assert_eq!(
        messages(Workflow::new("w").step(validate).step(ship.after(validate))),
        ["`ship` has `.after(..)`, but its block is a sequence: use `Workflow::dag(..)` or `.as_graph()`"]
    );
}

#[test]
fn the_type_of_a_graph_is_what_it_gives() {
    let dag = || Workflow::dag("w");
    assert_eq!(
        messages(dag().steps((charge, validate, fraud))),
        [
            "the graph gives what `charge` gives, because nothing comes after it: add it last, so that the type is right"
        ]
    );
    assert_eq!(
        messages(dag().steps((validate, ship))),
        [
            "nothing comes after `validate` and `ship`, so the graph gives a map: say so with `.joined()`, or let one \
          step come after them"
        ]
    );
    assert_eq!(
        messages(dag().step(ship).joined()),
        ["the graph gives what `ship` gives, not a map: leave out `.joined()`"]
    );
    assert_eq!(
        messages(Workflow::new("w").step(ship).joined()),
        ["joined() is for graphs: a sequence gives what its last node gives"]
    );
}
