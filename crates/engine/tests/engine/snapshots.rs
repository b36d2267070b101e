//! Long runs: they come back from a snapshot, and lose nothing without it.

use rival::prelude::*;
use rival::testing::TestEngine;

use crate::lab::{Lab, facts};
use crate::steps::{Gate, Tape, output};
use crate::store::Snapshots;

facts![a_long_run_comes_back_from_its_snapshot];

/// How many steps come before the one that is held.
const STEPS: usize = 2_500;

/// One run, brought back three times: with its snapshot, without it, and with a damaged one.
async fn a_long_run_comes_back_from_its_snapshot(lab: Lab) {
    async fn again(Input(n): Input<u32>) -> Result<u32, StepError> {
        Ok(n)
    }
    let (tape, gate) = (Tape::default(), Gate::default());
    let sum = |steps: Steps| async move {
        Ok::<_, StepError>(steps.get::<u32>("again").await? + steps.get::<u32>("again_2500").await?)
    };
    let workflow = (1..STEPS).fold(Workflow::new("w").input::<u32>().step(again), |it, _| it.step(again));
    let workflow = workflow.step(tape.gated("held", &gate)).step(sum.named("sum")).build().unwrap();

    let held = gate.clone();
    let life = async move |engine: TestEngine| {
        engine.run("w", 7_u32).id("r").await.unwrap();
        held.arrived(1).await;
    };
    lab.life_of(&workflow, life).await;

    let mut read = Vec::new();
    for (count, how) in [(2, Snapshots::Kept), (3, Snapshots::Dropped), (4, Snapshots::Damaged)] {
        let (gate, workflow) = (gate.clone(), workflow.clone());
        let life = async move |lab: Lab| {
            lab.store().read_snapshots_as(how);
            let _engine = lab.engine(&workflow).await;
            gate.arrived(count).await;
            lab.store().events_read()
        };
        read.push(lab.life(life).await);
    }
    let [kept, dropped, damaged] = read[..] else { panic!("three lives") };
    assert!(kept < 2_000, "only what came after the snapshot is read: {kept} events");
    assert!(dropped > 5_000 && damaged > 5_000, "everything is read: {dropped}, {damaged}");

    gate.open();
    let engine = lab.engine(&workflow).await;
    assert_eq!(output(&engine.finish(&"r".into()).await.unwrap()), 14);
    assert_eq!(tape.count("held"), 5);
}
