//! A wall clock that is set, forward and back, while runs wait.

use std::time::Duration;

use rival::event::EventKind;
use rival::prelude::*;
use rival::{Clock, Definition, Engine, RunId, RunStatus, SteppedClock, Time};
use rival_engine::verify;

use crate::lab::{Lab, facts, since_start};
use crate::steps::{Gate, Tape};

facts![
    ten_years_for_a_second_change_nothing,
    ten_years_for_an_hour_are_gone_after_ten_minutes,
    after_two_hours_back_timers_go_on,
    a_call_times_out_although_the_clock_was_set_back,
    a_day_forward_fires_what_is_due,
    what_an_earlier_process_wrote_in_the_future_is_set_back,
    a_process_that_begins_in_the_past_waits_for_the_right_time,
    a_delay_until_a_moment_means_the_wall_clock,
    steps_of_the_clock_are_counted,
];

const HOUR_MS: i64 = 3_600_000;
const YEARS_MS: i64 = 10 * 365 * 24 * HOUR_MS;

fn minutes(count: u64) -> Duration {
    Duration::from_secs(60 * count)
}

/// An engine on a machine whose wall clock the test sets.
async fn engine(lab: &Lab, clock: &SteppedClock, workflow: impl Into<Definition>) -> Engine {
    let builder = Engine::builder().store(lab.store()).clock(Clock::Stepped(clock.clone()));
    builder.workflow(workflow).build().await.unwrap()
}

fn machine(lab: &Lab) -> SteppedClock {
    SteppedClock::at(lab.clock.now())
}

/// Lets time pass and waits for what that leads to.
async fn pass(engine: &Engine, clock: &SteppedClock, time: Duration) {
    clock.pass(time);
    rest(engine).await;
}

async fn rest(engine: &Engine) {
    engine.tick().await.unwrap();
    engine.settled().await;
}

async fn status(engine: &Engine, run: &RunId) -> RunStatus {
    engine.summary(run).await.unwrap().status
}

async fn start(engine: &Engine) -> RunId {
    let run = engine.run("w", ()).await.unwrap().id().clone();
    rest(engine).await;
    run
}

/// The store is sound, and the run's events say how often its clock was set back.
async fn set_backs(lab: &Lab, engine: &Engine, run: &RunId) -> usize {
    let report = verify::check_store(&*lab.store()).await.unwrap();
    assert!(report.is_sound(), "{report:?}");
    let history = engine.history(run).await.unwrap();
    history.iter().filter(|event| matches!(event.kind, EventKind::ClockSetBack { .. })).count()
}

/// A minute's wait of each kind: a delay, a retry, a signal with a deadline, a sleep inside of a step.
fn minutes_of_each() -> Workflow<(), u32> {
    let tape = Tape::default();
    let flaky = tape.doing("flaky", |attempt| match attempt {
        1 => Err(StepError::retry("busy").backoff(rival::BackoffKind::Linear, minutes(1))),
        _ => Ok(attempt),
    });
    let inside = |durable: Durable| async move { durable.sleep(minutes(1)).await };
    Workflow::new("w")
        .step(delay_step(minutes(1)))
        .step(signal::<u32>("never").timeout_value(minutes(1)))
        .step(inside.named("inside"))
        .step(flaky.retry(3))
        .build()
        .unwrap()
}

/// Lets five minutes pass, in which a run of [`minutes_of_each`] comes to its end.
async fn five_minutes(engine: &Engine, clock: &SteppedClock) {
    for _ in 0..5 {
        pass(engine, clock, minutes(1)).await;
    }
}

async fn ten_years_for_a_second_change_nothing(lab: Lab) {
    let clock = machine(&lab);
    let engine = engine(&lab, &clock, &minutes_of_each()).await;
    let before = start(&engine).await;
    clock.step(YEARS_MS);
    let during = start(&engine).await;
    pass(&engine, &clock, Duration::from_secs(1)).await;
    assert_eq!(status(&engine, &before).await, RunStatus::Waiting);
    clock.step(-YEARS_MS);
    five_minutes(&engine, &clock).await;
    for run in [before, during] {
        assert_eq!(status(&engine, &run).await, RunStatus::Completed);
        assert_eq!(set_backs(&lab, &engine, &run).await, 0);
        let ended = engine.summary(&run).await.unwrap().ended_at.unwrap();
        assert!(since_start(ended) < 6 * 60_000, "{ended}");
    }
}

async fn ten_years_for_an_hour_are_gone_after_ten_minutes(lab: Lab) {
    let clock = machine(&lab);
    // The second delay is longer than it takes to believe the wall clock: the run may go on while the test lets time pass.
    let delays = Workflow::new("w").step(delay_step(minutes(1))).step(delay_step(minutes(15)).named("long"));
    let engine = engine(&lab, &clock, &delays.build().unwrap()).await;
    clock.step(YEARS_MS);
    pass(&engine, &clock, minutes(60)).await;
    let run = start(&engine).await;
    clock.step(-YEARS_MS);
    // Timers go on all the while.
    pass(&engine, &clock, Duration::from_secs(80)).await;
    assert!(
        engine.history(&run).await.unwrap().iter().any(|it| matches!(it.kind, EventKind::SleepEnded { .. }))
    );
    pass(&engine, &clock, minutes(9)).await;
    assert!(engine.clock().now().ms_since(clock.wall()) < 1_000);
    assert_eq!(set_backs(&lab, &engine, &run).await, 1);
    pass(&engine, &clock, minutes(16)).await;
    assert_eq!(status(&engine, &run).await, RunStatus::Completed);
    assert_eq!(set_backs(&lab, &engine, &run).await, 1);
}

async fn after_two_hours_back_timers_go_on(lab: Lab) {
    let clock = machine(&lab);
    let engine = engine(&lab, &clock, &minutes_of_each()).await;
    let run = start(&engine).await;
    clock.step(-2 * HOUR_MS);
    five_minutes(&engine, &clock).await;
    // A minute takes up to 69 seconds, until the wall clock is there.
    five_minutes(&engine, &clock).await;
    assert_eq!(status(&engine, &run).await, RunStatus::Completed);
    assert_eq!(set_backs(&lab, &engine, &run).await, 0);
}

async fn a_call_times_out_although_the_clock_was_set_back(lab: Lab) {
    let (clock, gate) = (machine(&lab), Gate::default());
    let step = Tape::default().gated("stuck", &gate).timeout(minutes(1));
    let engine = engine(&lab, &clock, &Workflow::new("w").step(step).build().unwrap()).await;
    let run = engine.run("w", ()).await.unwrap().id().clone();
    gate.arrived(1).await;
    clock.step(-2 * HOUR_MS);
    clock.pass(Duration::from_secs(80));
    let outcome = engine.wait(&run).await.unwrap();
    assert_eq!(outcome.error.unwrap().code, "timeout");
}

async fn a_day_forward_fires_what_is_due(lab: Lab) {
    let clock = machine(&lab);
    let workflow = Workflow::new("w").step(delay_step(minutes(60))).build().unwrap();
    let engine = engine(&lab, &clock, &workflow).await;
    let run = start(&engine).await;
    clock.step(24 * HOUR_MS);
    rest(&engine).await;
    assert_eq!(status(&engine, &run).await, RunStatus::Completed);
}

async fn what_an_earlier_process_wrote_in_the_future_is_set_back(lab: Lab) {
    let clock = machine(&lab);
    clock.step(YEARS_MS);
    let wrong = clock.clone();
    let (asleep, at_work) = lab
        .life(|lab| async move {
            let gate = Gate::default();
            let stuck = Workflow::new("stuck")
                .step(Tape::default().gated("stuck", &gate))
                .step(delay_step(minutes(1)))
                .build()
                .unwrap();
            let engine = engine(&lab, &wrong, &minutes_of_each()).await;
            engine.register(&stuck).await.unwrap();
            let asleep = start(&engine).await;
            let at_work = engine.run("stuck", ()).await.unwrap().id().clone();
            gate.arrived(1).await;
            (asleep, at_work)
        })
        .await;
    clock.step(-YEARS_MS);
    let clock = clock.after_restart();
    let engine = engine(&lab, &clock, &minutes_of_each()).await;
    let open = Tape::default().doing("stuck", |_| Ok(1));
    let stuck = Workflow::new("stuck").step(open).step(delay_step(minutes(1))).build().unwrap();
    engine.register(&stuck).await.unwrap();
    pass(&engine, &clock, minutes(9)).await;
    assert_eq!(status(&engine, &asleep).await, RunStatus::Waiting);
    pass(&engine, &clock, minutes(1)).await;
    five_minutes(&engine, &clock).await;
    for run in [asleep, at_work] {
        assert_eq!(status(&engine, &run).await, RunStatus::Completed);
        assert_eq!(set_backs(&lab, &engine, &run).await, 1);
    }
}

async fn a_process_that_begins_in_the_past_waits_for_the_right_time(lab: Lab) {
    let clock = machine(&lab);
    let before = clock.clone();
    let workflow = || Workflow::new("w").step(delay_step(minutes(60))).build().unwrap();
    let run =
        lab.life(move |lab| async move { start(&engine(&lab, &before, &workflow()).await).await }).await;
    // A machine without a battery begins where its files end, or in 1970, until it has asked somewhere.
    clock.step(-YEARS_MS);
    let clock = clock.after_restart();
    let engine = engine(&lab, &clock, &workflow()).await;
    pass(&engine, &clock, minutes(2)).await;
    clock.step(YEARS_MS);
    pass(&engine, &clock, minutes(50)).await;
    assert_eq!(status(&engine, &run).await, RunStatus::Waiting);
    pass(&engine, &clock, minutes(8)).await;
    assert_eq!(status(&engine, &run).await, RunStatus::Completed);
    assert_eq!(set_backs(&lab, &engine, &run).await, 0);
}

async fn a_delay_until_a_moment_means_the_wall_clock(lab: Lab) {
    let clock = machine(&lab);
    clock.step(YEARS_MS);
    let moment = Time(clock.wall().0 + HOUR_MS);
    let workflow = Workflow::new("w").step(delay_until(moment)).build().unwrap();
    let engine = engine(&lab, &clock, &workflow).await;
    let run = start(&engine).await;
    clock.step(-YEARS_MS);
    pass(&engine, &clock, minutes(30)).await;
    assert_eq!(set_backs(&lab, &engine, &run).await, 1);
    pass(&engine, &clock, minutes(120)).await;
    assert_eq!(status(&engine, &run).await, RunStatus::Waiting);
    clock.step(moment.0 - clock.wall().0);
    pass(&engine, &clock, minutes(2)).await;
    assert_eq!(status(&engine, &run).await, RunStatus::Completed);
}

async fn steps_of_the_clock_are_counted(lab: Lab) {
    let clock = machine(&lab);
    let engine = engine(&lab, &clock, &minutes_of_each()).await;
    clock.step(4_000);
    clock.step(20_000);
    clock.step(-HOUR_MS);
    let status = engine.clock().status();
    let steps: Vec<i64> = status.last_steps.iter().map(|step| step.by_ms).collect();
    assert_eq!((status.steps, steps, status.ahead_ms), (2, vec![20_000, -HOUR_MS], HOUR_MS));
}
