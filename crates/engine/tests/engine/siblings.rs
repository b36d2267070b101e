//! Two engines of one process on one store: each goes on with what the other leaves, and reaches what the other has.

use std::time::Duration;

use rival::prelude::*;
use rival::{RunStatus, signal};

use crate::lab::{Lab, facts};
use crate::steps::{Gate, Tape, output};

facts![
    what_an_engine_leaves_is_taken_over,
    what_an_engine_leaves_in_the_queue_is_taken_over,
    a_run_of_the_other_engine_is_reached_and_waited_for,
];

async fn engine(lab: &Lab, workflow: &Workflow<(), u32>, runs: usize) -> Engine {
    let builder = Engine::builder().store(lab.store()).workflow(workflow).max_live_runs(runs);
    builder.build().await.unwrap()
}

/// On the real clock, and without a look at the second engine: it must be told.
async fn what_an_engine_leaves_is_taken_over(lab: Lab) {
    let (gate, tape) = (Gate::default(), Tape::default());
    let workflow = Workflow::new("w").step(tape.gated("held", &gate)).build().unwrap();
    let first = engine(&lab, &workflow, 10).await;
    let second = engine(&lab, &workflow, 10).await;
    let run = first.run(&workflow, ()).await.unwrap().id().clone();
    gate.arrived(1).await;
    first.shutdown(Duration::ZERO).await;
    gate.arrived(2).await;
    gate.open();
    assert_eq!(output(&second.wait(&run).await.unwrap()), 2);
}

async fn what_an_engine_leaves_in_the_queue_is_taken_over(lab: Lab) {
    let gate = Gate::default();
    let workflow = Workflow::new("w").step(Tape::default().gated("held", &gate)).build().unwrap();
    let first = engine(&lab, &workflow, 1).await;
    let second = engine(&lab, &workflow, 10).await;
    first.run(&workflow, ()).await.unwrap();
    let queued = first.run(&workflow, ()).await.unwrap();
    assert_eq!(queued.status(), RunStatus::Queued);
    let queued = queued.id().clone();
    first.shutdown(Duration::ZERO).await;
    gate.open();
    assert_eq!(second.wait(&queued).await.unwrap().status, RunStatus::Completed);
}

async fn a_run_of_the_other_engine_is_reached_and_waited_for(lab: Lab) {
    let gate = Gate::default();
    let held = Tape::default().gated("held", &gate);
    let workflow: Workflow<(), u32> =
        Workflow::new("w").step(held).step(signal::<u32>("go")).build().unwrap();
    let first = engine(&lab, &workflow, 10).await;
    let second = engine(&lab, &workflow, 10).await;
    let run = first.run(&workflow, ()).await.unwrap().id().clone();
    gate.arrived(1).await;
    assert_eq!(second.signal(&run, "go", 7).await.unwrap(), RunStatus::Running);
    gate.open();
    assert_eq!(output(&second.wait(&run).await.unwrap()), 7);
}
