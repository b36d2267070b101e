//! Admission: so many runs at a time, the others wait in line.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::try_join_all;
use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{Definition, RunFilter, RunStatus};

use crate::lab::{Lab, facts};
use crate::steps::{Gate, Tape};

facts![
    never_more_runs_than_allowed_are_live,
    the_queue_is_first_in_first_out,
    a_new_run_does_not_overtake_those_that_queue,
    waiting_runs_do_not_count,
    a_burst_stays_within_the_limit,
    a_queued_run_has_only_begun,
];

async fn engine_of(lab: &Lab, runs: usize, workflow: impl Into<Definition>) -> TestEngine {
    lab.builder().configure(|it| it.max_live_runs(runs)).workflow(workflow).build().await.unwrap()
}

/// How many steps are at work at the same time.
#[derive(Clone, Default)]
struct AtWork(Arc<(AtomicUsize, AtomicUsize)>);

impl AtWork {
    async fn work(&self) {
        let now = self.0.0.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.1.fetch_max(now, Ordering::SeqCst);
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }

    fn most(&self) -> usize {
        self.0.1.load(Ordering::SeqCst)
    }
}

async fn never_more_runs_than_allowed_are_live(lab: Lab) {
    let at_work = AtWork::default();
    let working = at_work.clone();
    let step = move || {
        let working = working.clone();
        async move {
            working.work().await;
            Ok::<_, StepError>(())
        }
    };
    let step = step.named("work");
    let engine =
        engine_of(&lab, 2, Workflow::new("w").step(step.clone()).step(step.named("more")).build().unwrap())
            .await;
    let runs = try_join_all((0..50).map(|_| engine.run("w", ()).into_future())).await.unwrap();
    for run in runs {
        assert_eq!(run.wait().await.unwrap().status, RunStatus::Completed);
        assert!(engine.active_runs().len() <= 2);
    }
    // Whether two ever meet is for the threads to say.
    assert!((1..=2).contains(&at_work.most()), "{}", at_work.most());
}

async fn the_queue_is_first_in_first_out(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let (noted, held) = (tape.clone(), gate.clone());
    let step = move |Input(n): Input<u32>| {
        noted.note(format!("{n:02}"));
        let held = held.clone();
        async move {
            held.pass().await;
            Ok::<_, StepError>(n)
        }
    };
    let engine =
        engine_of(&lab, 1, Workflow::new("w").input::<u32>().step(step.named("s")).build().unwrap()).await;
    let mut runs = Vec::new();
    for n in 0..50 {
        runs.push(engine.run("w", n).await.unwrap());
    }
    assert_eq!((runs[0].status(), runs[49].status()), (RunStatus::Running, RunStatus::Queued));
    gate.open();
    for run in &runs {
        run.wait().await.unwrap();
    }
    let order = tape.entries();
    assert!(order.len() == 50 && order.is_sorted(), "{order:?}");
}

/// Runs are started while others end; a run that came later may not begin before a run that came earlier.
async fn a_new_run_does_not_overtake_those_that_queue(lab: Lab) {
    let tape = Tape::default();
    let noted = tape.clone();
    let step = move |Input(n): Input<u32>| {
        noted.note(format!("{n:03}"));
        async move { Ok::<_, StepError>(n) }
    };
    let engine =
        engine_of(&lab, 1, Workflow::new("w").input::<u32>().step(step.named("s")).build().unwrap()).await;
    let mut runs = Vec::new();
    for n in 0..100 {
        runs.push(engine.run("w", n).await.unwrap());
    }
    for run in runs {
        run.wait().await.unwrap();
    }
    let order = tape.entries();
    assert!(order.len() == 100 && order.is_sorted(), "{order:?}");
}

async fn waiting_runs_do_not_count(lab: Lab) {
    let tape = Tape::default();
    let sleepy = Workflow::new("w").step(tape.step("a")).step(delay_step(Duration::from_secs(60)));
    let engine = engine_of(&lab, 2, sleepy.step(tape.step("b")).build().unwrap()).await;
    let runs = try_join_all((0..20).map(|_| engine.run("w", ()).into_future())).await.unwrap();
    engine.come_to_rest().await.unwrap();
    let waiting = RunFilter { statuses: vec![RunStatus::Waiting], ..RunFilter::default() };
    assert_eq!(engine.runs(&waiting, &Default::default()).await.unwrap().len(), 20);
    assert!(engine.active_runs().is_empty());
    engine.advance(Duration::from_secs(60)).await.unwrap();
    for run in runs {
        run.wait().await.unwrap();
    }
    assert_eq!((tape.count("a"), tape.count("b")), (20, 20));
}

async fn a_burst_stays_within_the_limit(lab: Lab) {
    let (burst, limit) = (if lab.is_memory() { 20_000 } else { 1_000 }, 16);
    let tape = Tape::default();
    let engine = engine_of(&lab, limit, Workflow::new("w").step(tape.step("only")).build().unwrap()).await;
    let mut runs = Vec::new();
    for _ in 0..burst / 500 {
        runs.extend(try_join_all((0..500).map(|_| engine.run("w", ()).into_future())).await.unwrap());
        assert!(engine.active_runs().len() <= limit);
    }
    for run in runs {
        run.wait().await.unwrap();
        assert!(engine.active_runs().len() <= limit);
    }
    assert_eq!(tape.count("only"), burst);
}

async fn a_queued_run_has_only_begun(lab: Lab) {
    let gate = Gate::default();
    let step = Tape::default().gated("held", &gate);
    let engine = engine_of(&lab, 1, Workflow::new("w").step(step).build().unwrap()).await;
    engine.run("w", ()).await.unwrap();
    let queued = engine.run("w", ()).await.unwrap();
    let view = queued.state().await.unwrap();
    assert_eq!((view.status, view.steps.len()), (RunStatus::Queued, 0));
    gate.open();
    assert_eq!(queued.wait().await.unwrap().status, RunStatus::Completed);
}
