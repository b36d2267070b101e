//! Durable calls inside a step: once, sleep, signal; and what happens to a step that waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rival::event::EventKind;
use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{LogFilter, NodeStatus, RunId, RunStatus, TypedStep};
use serde_json::json;

use crate::lab::{Lab, facts, since_start, told, until_status};
use crate::steps::{Gate, Tape, failure, output};

facts![
    what_is_done_once_is_not_done_again,
    a_crash_inside_a_once_does_it_again,
    an_error_of_a_once_is_the_same_within_an_attempt,
    a_later_attempt_keeps_what_went_well,
    a_sleep_inside_a_step,
    a_signal_inside_a_step,
    a_timeout_of_a_signal_inside_a_step,
    a_signal_that_carries_nothing_has_come,
    a_step_that_waits_is_let_go_and_made_again,
    waiting_does_not_consume_the_timeout,
    the_timeout_still_counts_what_is_not_waiting,
    a_race_is_decided_once,
    answers_come_in_their_order_however_long_one_takes_to_read,
    an_answer_that_is_not_waited_for_holds_no_other_up,
    a_later_attempt_takes_the_same_way,
    a_wait_that_is_dropped_takes_no_signal,
    what_was_dropped_stays_dropped_after_a_crash,
    a_message_that_was_taken_and_not_used_goes_to_the_next_wait,
    a_message_that_its_step_did_not_use_stays_in_the_run,
    a_time_limit_of_tokio_gives_up_what_it_limits,
    what_was_to_be_done_once_and_was_dropped_is_not_begun_again,
    a_step_that_has_ended_is_asked_for_nothing,
    another_operation_than_before_blocks_the_step,
    other_arguments_than_before_block_the_step,
    a_step_that_ends_without_what_it_asked_for_is_blocked,
    a_blocked_step_goes_on_when_the_function_is_back,
    a_step_that_waits_for_what_it_never_asks_again_is_blocked,
    a_step_that_waits_can_be_cancelled,
    a_step_that_waits_can_be_paused,
    an_orderly_stop_lets_a_waiting_step_go,
    crashes_while_it_waits_are_no_interruptions,
    a_waiting_step_shows_what_it_waits_for,
    operations_tell_when_they_were_and_what_came_of_them,
    lines_are_written_once_by_a_step_that_is_let_go,
    lines_are_written_once_over_a_crash,
    another_attempt_writes_its_own_lines,
    a_handler_cannot_ask_for_it,
];

const HOUR: Duration = Duration::from_secs(3_600);
const MINUTE: Duration = Duration::from_secs(60);

/// A step that notes its call, and what it does with the tape and its durable things.
fn step<F, Fut>(tape: &Tape, body: F) -> TypedStep<u32>
where
    F: Fn(Durable, Tape) -> Fut + Send + Sync + Clone + 'static,
    Fut: Future<Output = Result<u32, StepError>> + Send + 'static,
{
    let tape = tape.clone();
    let function = move |durable: Durable| {
        tape.note("called");
        let (body, tape) = (body.clone(), tape.clone());
        async move { body(durable, tape).await }
    };
    function.named("s")
}

fn workflow(step: TypedStep<u32>) -> Workflow<(), u32> {
    Workflow::new("w").step(step).build().unwrap()
}

async fn started(engine: &TestEngine) -> RunId {
    let run = engine.run("w", ()).id("r").await.unwrap().id().clone();
    engine.come_to_rest().await.unwrap();
    run
}

async fn noted(durable: &Durable, tape: &Tape, name: &'static str) -> Result<u32, StepError> {
    let tape = tape.clone();
    durable
        .once(name, move || async move {
            tape.note(name);
            Ok::<_, StepError>(7_u32)
        })
        .await
}

async fn what_is_done_once_is_not_done_again(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let held = gate.clone();
    let workflow = workflow(step(&tape, move |durable, tape| {
        let held = held.clone();
        async move {
            let seven = noted(&durable, &tape, "charge").await?;
            held.pass().await;
            Ok(seven + noted(&durable, &tape, "mail").await?)
        }
    }));
    let arrived = gate.clone();
    lab.life_of(&workflow, async move |engine: TestEngine| {
        engine.run("w", ()).id("r").await.unwrap();
        arrived.arrived(1).await;
    })
    .await;
    gate.open();
    let engine = lab.engine(&workflow).await;
    assert_eq!(output(&engine.finish(&"r".into()).await.unwrap()), 14);
    assert_eq!(tape.entries(), ["called", "charge", "called", "mail"]);
}

async fn a_crash_inside_a_once_does_it_again(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let held = gate.clone();
    let workflow = workflow(step(&tape, move |durable, tape| {
        let held = held.clone();
        async move {
            durable
                .once("charge", move || async move {
                    tape.note("charge");
                    held.pass().await;
                    Ok::<_, StepError>(3)
                })
                .await
        }
    }));
    let arrived = gate.clone();
    lab.life_of(&workflow, async move |engine: TestEngine| {
        engine.run("w", ()).id("r").await.unwrap();
        arrived.arrived(1).await;
    })
    .await;
    gate.open();
    let engine = lab.engine(&workflow).await;
    assert_eq!(output(&engine.finish(&"r".into()).await.unwrap()), 3);
    assert_eq!(tape.entries(), ["called", "charge", "called", "charge"]);
    let history = engine.history(&"r".into()).await.unwrap();
    assert_eq!(history.iter().filter(|event| matches!(event.kind, EventKind::OpEnded { .. })).count(), 1);
}

async fn an_error_of_a_once_is_the_same_within_an_attempt(lab: Lab) {
    let tape = Tape::default();
    let workflow = workflow(step(&tape, |durable, tape| async move {
        let failed = durable
            .once("charge", move || async move {
                tape.note("charge");
                Err::<u32, _>(StepError::new("card declined").code("declined"))
            })
            .await;
        let error = failed.unwrap_err();
        assert_eq!(error.failure.code, "declined");
        durable.sleep(HOUR).await?;
        Ok(1)
    }));
    let engine = lab.engine(&workflow).await;
    let run = started(&engine).await;
    engine.finish(&run).await.unwrap();
    assert_eq!(tape.entries(), ["called", "charge", "called"]);
}

async fn a_later_attempt_keeps_what_went_well(lab: Lab) {
    let tape = Tape::default();
    let tries = Arc::new(AtomicU32::new(0));
    let retried = step(&tape, move |durable, tape| {
        let tries = Arc::clone(&tries);
        async move {
            noted(&durable, &tape, "charge").await?;
            durable
                .once("mail", move || async move {
                    tape.note("mail");
                    match tries.fetch_add(1, Ordering::AcqRel) {
                        0 => Err(StepError::new("no")),
                        n => Ok(n),
                    }
                })
                .await
        }
    });
    let workflow = workflow(retried.retry(3));
    let engine = lab.engine(&workflow).await;
    let run = started(&engine).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 1);
    assert_eq!(tape.entries(), ["called", "charge", "mail", "called", "mail"]);
}

async fn a_sleep_inside_a_step(lab: Lab) {
    let tape = Tape::default();
    let workflow = workflow(step(&tape, |durable, _| async move {
        durable.sleep(HOUR).await?;
        durable.sleep(HOUR).await?;
        Ok(1)
    }));
    let engine = lab.engine(&workflow).await;
    let run = started(&engine).await;
    assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Waiting);
    output(&engine.finish(&run).await.unwrap());
    assert_eq!(lab.elapsed(), 7_200_000);
}

fn waits_for_go(tape: &Tape) -> TypedStep<u32> {
    step(tape, |durable, tape| async move {
        let seven = noted(&durable, &tape, "charge").await?;
        let signal = durable.signal::<u32>("go").timeout(24 * HOUR).await?;
        Ok(seven + signal)
    })
}

async fn a_signal_inside_a_step(lab: Lab) {
    let tape = Tape::default();
    let engine = lab.engine(&workflow(waits_for_go(&tape))).await;
    let run = started(&engine).await;
    engine.signal(&run, "go", 5).await.unwrap();
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 12);
    assert_eq!(tape.entries(), ["called", "charge"], "it was at hand, and was not called again");
}

async fn a_timeout_of_a_signal_inside_a_step(lab: Lab) {
    let tape = Tape::default();
    let workflow = workflow(step(&tape, |durable, _| async move {
        let nothing = durable.signal::<u32>("go").timeout_value(HOUR).await?;
        assert_eq!(nothing, None);
        durable.signal::<u32>("go").timeout(HOUR).await
    }));
    let engine = lab.engine(&workflow).await;
    let run = started(&engine).await;
    let outcome = engine.finish(&run).await.unwrap();
    assert_eq!(failure(&outcome), "s: `s` waited for the signal `go`, and none came in time");
    assert_eq!(outcome.error.unwrap().code, "signal_timeout");
    assert_eq!(lab.elapsed(), 7_200_000);
}

/// Whether it came is told by the history, not by what it carried.
async fn a_signal_that_carries_nothing_has_come(lab: Lab) {
    let tape = Tape::default();
    let workflow = workflow(step(&tape, |durable, _| async move {
        let unit = durable.signal::<()>("go").timeout_value(HOUR).await?;
        assert_eq!(unit, Some(()));
        let null = durable.signal::<Option<u32>>("go").timeout_value(HOUR).await?;
        assert_eq!(null, Some(None));
        let never = durable.signal::<()>("go").timeout_value(HOUR).await?;
        assert_eq!(never, None);
        Ok(7)
    }));
    let engine = lab.engine(&workflow).await;
    let run = started(&engine).await;
    engine.signal(&run, "go", ()).await.unwrap();
    engine.signal(&run, "go", Option::<u32>::None).await.unwrap();
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 7);
}

async fn a_step_that_waits_is_let_go_and_made_again(lab: Lab) {
    let tape = Tape::default();
    let engine = lab.engine(&workflow(waits_for_go(&tape))).await;
    let run = started(&engine).await;
    assert_eq!(engine.active_runs(), std::slice::from_ref(&run));
    engine.advance(MINUTE).await.unwrap();
    assert!(engine.active_runs().is_empty(), "it holds no memory");
    assert_eq!(engine.get(&run).await.unwrap().steps[0].status, NodeStatus::Waiting);
    engine.signal(&run, "go", 5).await.unwrap();
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 12);
    assert_eq!(tape.entries(), ["called", "charge", "called"]);
    let expected = [
        "runStarted",
        "callStarted s#1",
        "opStarted s#1",
        "opEnded s",
        "opStarted s#1",
        "callSuspended s#1",
        "signalReceived",
        "signalTaken s",
        "callStarted s#2",
        "callSucceeded s#2",
        "runCompleted",
    ];
    assert_eq!(told(&engine, &run).await, expected);
    let step = &engine.get(&run).await.unwrap().steps[0];
    assert_eq!((step.calls, step.retry_count), (2, 0));
}

async fn waiting_does_not_consume_the_timeout(lab: Lab) {
    let tape = Tape::default();
    let engine = lab.engine(&workflow(waits_for_go(&tape).timeout(Duration::from_secs(5)))).await;
    let run = started(&engine).await;
    engine.advance(HOUR).await.unwrap();
    engine.signal(&run, "go", 5).await.unwrap();
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 12);
}

async fn the_timeout_still_counts_what_is_not_waiting(lab: Lab) {
    let gate = Gate::default();
    let held = gate.clone();
    let hangs = step(&Tape::default(), move |durable, _| {
        let held = held.clone();
        async move {
            durable.sleep(HOUR).await?;
            held.pass().await;
            Ok(1)
        }
    });
    let engine = lab.engine(&workflow(hangs.timeout(Duration::from_secs(5)))).await;
    let run = started(&engine).await;
    lab.pass(HOUR);
    engine.tick().await.unwrap();
    gate.arrived(1).await;
    lab.pass(Duration::from_secs(5));
    engine.tick().await.unwrap();
    until_status(&engine, &run, RunStatus::Failed).await;
    let outcome = engine.wait(&run).await.unwrap();
    assert_eq!(failure(&outcome), "s: `s` took longer than 5000 ms");
}

/// The signal wins; then the sleep ends too, and the step is called again: it must not take the other way.
async fn a_race_is_decided_once(lab: Lab) {
    let tape = Tape::default();
    let workflow = workflow(step(&tape, |durable, tape| async move {
        let sleep = durable.sleep(HOUR);
        let signal = std::future::IntoFuture::into_future(durable.signal::<u32>("go"));
        let who = tokio::select! {
            biased;
            slept = sleep => { slept?; "sleep" }
            signal = signal => { signal?; "signal" }
        };
        noted(&durable, &tape, who).await?;
        durable.signal::<u32>("end").await
    }));
    let engine = lab.engine(&workflow).await;
    let run = started(&engine).await;
    engine.signal(&run, "go", 1).await.unwrap();
    engine.advance(2 * HOUR).await.unwrap();
    engine.signal(&run, "end", 1).await.unwrap();
    output(&engine.finish(&run).await.unwrap());
    // The signal won, and the step dropped the sleep: the end of the sleep does not wake the step.
    assert_eq!(tape.entries(), ["called", "signal", "called"]);
}

async fn answers_come_in_their_order_however_long_one_takes_to_read(lab: Lab) {
    let tape = Tape::default();
    let workflow = workflow(step(&tape, |durable, tape| async move {
        let signal = async {
            durable.signal::<u32>("a").await?;
            tape.note("a");
            Ok::<_, StepError>(())
        };
        let sleep = async {
            durable.sleep(HOUR).await?;
            tape.note("slept");
            Ok(())
        };
        tokio::try_join!(signal, sleep)?;
        durable.signal::<u32>("end").await
    }));
    lab.life_of(&workflow, async |engine: TestEngine| {
        let run = started(&engine).await;
        engine.signal(&run, "a", 1).await.unwrap();
        engine.advance(2 * HOUR).await.unwrap();
    })
    .await;
    let gate = Gate::default();
    lab.store().hold_next_event(&gate);
    let engine = lab.engine(&workflow).await;
    let run = RunId::from("r");
    let told = engine.signal(&run, "end", 1).into_future();
    let opened = async {
        gate.arrived(1).await;
        // A sleep has no value to be read: if it were told now, it would be there first.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        gate.open();
    };
    let (told, ()) = tokio::join!(told, opened);
    told.unwrap();
    output(&engine.finish(&run).await.unwrap());
    // The second call is that of the step that was let go while it slept.
    let calls: [&[&str]; 3] = [&["called", "a"], &["called", "a", "slept"], &["called", "a", "slept"]];
    assert_eq!(tape.entries(), calls.concat());
}

/// The step begins to wait for an answer, which is being read then, and goes on to wait for another one.
async fn an_answer_that_is_not_waited_for_holds_no_other_up(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let reading = gate.clone();
    let workflow = workflow(step(&tape, move |durable, tape| {
        let reading = reading.clone();
        async move {
            let mut signal = std::pin::pin!(durable.signal::<u32>("a").into_future());
            let is_first_call = tape.count("called") == 1;
            tokio::select! {
                biased;
                _ = &mut signal => return Err(StepError::stop("it cannot be read yet")),
                () = reading.arrived(u32::from(!is_first_call)) => {}
            }
            durable.sleep(HOUR).await?;
            signal.await
        }
    }));
    lab.life_of(&workflow, async |engine: TestEngine| {
        let run = started(&engine).await;
        engine.signal(&run, "a", 1).await.unwrap();
    })
    .await;
    lab.store().hold_next_event(&gate);
    let engine = lab.engine(&workflow).await;
    let opened = async {
        gate.arrived(1).await;
        gate.open();
    };
    let (slept, ()) = tokio::join!(engine.advance(2 * HOUR), opened);
    slept.unwrap();
    assert_eq!(output(&engine.finish(&"r".into()).await.unwrap()), 1);
}

/// What won in the first attempt wins in the second, although another racer has its answer at once by then.
async fn a_later_attempt_takes_the_same_way(lab: Lab) {
    let tape = Tape::default();
    let race = step(&tape, |durable, tape| async move {
        let who = tokio::select! {
            biased;
            first = durable.signal::<u32>("a") => { first?; "a" }
            second = durable.signal::<u32>("b") => { second?; "b" }
        };
        tape.note(who);
        if tape.count("called") == 1 {
            return Err(StepError::retry("once more"));
        }
        Ok(1)
    });
    let engine = lab.engine(&workflow(race.retry(2))).await;
    let run = started(&engine).await;
    engine.signal(&run, "b", 1).await.unwrap();
    engine.signal(&run, "a", 1).await.unwrap();
    output(&engine.finish(&run).await.unwrap());
    assert_eq!(tape.entries(), ["called", "b", "called", "b"]);
}

/// What waits for a message beside a sleep, and when the sleep is over for the next message.
fn gives_up_and_waits_again(tape: &Tape) -> TypedStep<u32> {
    step(tape, |durable, _| async move {
        tokio::select! {
            said = durable.signal::<u32>("m") => return said,
            slept = durable.sleep(MINUTE) => slept?,
        }
        durable.signal::<u32>("m").await
    })
}

async fn a_wait_that_is_dropped_takes_no_signal(lab: Lab) {
    let engine = lab.engine(&workflow(gives_up_and_waits_again(&Tape::default()))).await;
    let run = started(&engine).await;
    engine.advance(MINUTE).await.unwrap();
    engine.signal(&run, "m", 7).await.unwrap();
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 7);
    let dropped = |event: &&rival::Event| matches!(event.kind, EventKind::OpDropped { .. });
    assert_eq!(engine.history(&run).await.unwrap().iter().filter(dropped).count(), 1);
}

async fn what_was_dropped_stays_dropped_after_a_crash(lab: Lab) {
    let workflow = workflow(gives_up_and_waits_again(&Tape::default()));
    let run = lab
        .life_of(&workflow, async |engine: TestEngine| {
            let run = started(&engine).await;
            engine.advance(MINUTE).await.unwrap();
            run
        })
        .await;
    let engine = lab.engine(&workflow).await;
    engine.come_to_rest().await.unwrap();
    engine.signal(&run, "m", 7).await.unwrap();
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 7);
}

/// The wait has taken the message by the time it is dropped.
async fn a_message_that_was_taken_and_not_used_goes_to_the_next_wait(lab: Lab) {
    let (gate, tape) = (Gate::default(), Tape::default());
    let held = gate.clone();
    let workflow = workflow(step(&tape, move |durable, _| {
        let held = held.clone();
        async move {
            let mut first = std::future::IntoFuture::into_future(durable.signal::<u32>("m"));
            assert!(futures::poll!(&mut first).is_pending());
            held.pass().await;
            drop(first);
            durable.signal::<u32>("m").await
        }
    }));
    let engine = lab.engine(&workflow).await;
    engine.run("w", ()).id("r").await.unwrap();
    gate.arrived(1).await;
    engine.signal(&"r".into(), "m", 7).await.unwrap();
    gate.open();
    assert_eq!(output(&engine.finish(&"r".into()).await.unwrap()), 7);
    let taken = |event: &&rival::Event| matches!(event.kind, EventKind::SignalTaken { .. });
    assert_eq!(engine.history(&"r".into()).await.unwrap().iter().filter(taken).count(), 2);
}

/// The step ends with a message in its hand that it never looked at: the next one gets it.
async fn a_message_that_its_step_did_not_use_stays_in_the_run(lab: Lab) {
    let (gate, tape) = (Gate::default(), Tape::default());
    let held = gate.clone();
    let careless = step(&tape, move |durable, _| {
        let held = held.clone();
        async move {
            let mut first = std::future::IntoFuture::into_future(durable.signal::<u32>("m"));
            assert!(futures::poll!(&mut first).is_pending());
            held.pass().await;
            Ok(1)
        }
    });
    let then = signal::<u32>("m").named("then");
    let workflow = Workflow::new("w").step(careless).step(then).build().unwrap();
    let engine = lab.engine(&workflow).await;
    engine.run("w", ()).id("r").await.unwrap();
    gate.arrived(1).await;
    engine.signal(&"r".into(), "m", 7).await.unwrap();
    gate.open();
    assert_eq!(output(&engine.finish(&"r".into()).await.unwrap()), 7);
}

async fn a_time_limit_of_tokio_gives_up_what_it_limits(lab: Lab) {
    let workflow = workflow(step(&Tape::default(), |durable, _| async move {
        let signal = std::future::IntoFuture::into_future(durable.signal::<u32>("m"));
        assert!(tokio::time::timeout(Duration::from_millis(1), signal).await.is_err());
        noted(&durable, &Tape::default(), "gave up").await?;
        durable.signal::<u32>("m").await
    }));
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).id("r").await.unwrap().id().clone();
    while !told(&engine, &run).await.iter().any(|line| line.starts_with("opDropped")) {
        tokio::task::yield_now().await;
    }
    engine.signal(&run, "m", 7).await.unwrap();
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 7);
}

/// Begun, dropped, and not begun again by a call that replays.
async fn what_was_to_be_done_once_and_was_dropped_is_not_begun_again(lab: Lab) {
    let tape = Tape::default();
    let workflow = workflow(step(&tape, |durable, tape| async move {
        let endless = durable.once("endless", move || async move {
            tape.note("begun");
            std::future::pending::<Result<u32, StepError>>().await
        });
        tokio::select! {
            never = endless => return never,
            slept = durable.sleep(MINUTE) => slept?,
        }
        durable.signal::<u32>("m").await
    }));
    let engine = lab.engine(&workflow).await;
    engine.run("w", ()).id("r").await.unwrap();
    while tape.count("begun") == 0 {
        tokio::task::yield_now().await;
    }
    lab.pass(MINUTE);
    engine.tick().await.unwrap();
    while !told(&engine, &"r".into()).await.iter().any(|line| line.starts_with("opDropped")) {
        tokio::task::yield_now().await;
    }
    engine.advance(MINUTE).await.unwrap();
    engine.signal(&"r".into(), "m", 7).await.unwrap();
    assert_eq!(output(&engine.finish(&"r".into()).await.unwrap()), 7);
    assert_eq!(tape.entries(), ["called", "begun", "called"]);
}

async fn a_step_that_has_ended_is_asked_for_nothing(lab: Lab) {
    let (sender, receiver) = tokio::sync::oneshot::channel::<String>();
    let sender = Arc::new(std::sync::Mutex::new(Some(sender)));
    let workflow = workflow(step(&Tape::default(), move |durable, _| {
        let sender = sender.lock().unwrap().take();
        async move {
            tokio::spawn(async move {
                let asked = durable.signal::<u32>("m").await.unwrap_err();
                let again = durable.sleep(MINUTE).await.unwrap_err();
                assert_eq!(asked.failure.code, again.failure.code);
                sender.unwrap().send(asked.failure.code).unwrap();
            });
            Ok(1)
        }
    }));
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).id("r").await.unwrap().id().clone();
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 1);
    assert_eq!(receiver.await.unwrap(), "step_ended");
}

/// A step that asks for something, waits, and is then another function.
async fn changed(lab: &Lab, after: TypedStep<u32>) -> (RunId, TestEngine) {
    let before = workflow(waits_for_go(&Tape::default()));
    let run = lab
        .life_of(&before, async |engine: TestEngine| {
            let run = started(&engine).await;
            engine.advance(MINUTE).await.unwrap();
            run
        })
        .await;
    let engine = lab.engine(&workflow(after)).await;
    engine.signal(&run, "go", 5).await.unwrap();
    engine.come_to_rest().await.unwrap();
    (run, engine)
}

async fn another_operation_than_before_blocks_the_step(lab: Lab) {
    let after = step(&Tape::default(), |durable, _| async move {
        durable.sleep(HOUR).await?;
        Ok(1)
    });
    let (run, engine) = changed(&lab, after).await;
    assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Blocked);
    let why = engine.explain(&run).await.unwrap();
    assert!(why.contains("once(`charge`) was asked for before, where sleep is asked for now"), "{why}");
}

async fn other_arguments_than_before_block_the_step(lab: Lab) {
    let after = step(&Tape::default(), |durable, tape| async move {
        noted(&durable, &tape, "charge").await?;
        durable.signal::<u32>("go").timeout(HOUR).await
    });
    let (run, engine) = changed(&lab, after).await;
    let why = engine.explain(&run).await.unwrap();
    assert!(why.contains("signal(`go`) was asked for before with other arguments than now"), "{why}");
}

async fn a_step_that_ends_without_what_it_asked_for_is_blocked(lab: Lab) {
    let (run, engine) = changed(&lab, step(&Tape::default(), |_, _| async { Ok(1) })).await;
    let why = engine.explain(&run).await.unwrap();
    assert!(
        why.contains("once(`charge`) was asked for before, and now the step comes to its end without it"),
        "{why}"
    );
}

async fn a_blocked_step_goes_on_when_the_function_is_back(lab: Lab) {
    let before = workflow(waits_for_go(&Tape::default()));
    let other = workflow(step(&Tape::default(), |_, _| async { Ok(1) }));
    let run = lab
        .life_of(&before, async |engine: TestEngine| {
            let run = started(&engine).await;
            engine.advance(MINUTE).await.unwrap();
            run
        })
        .await;
    let signalled = run.clone();
    lab.life_of(&other, async move |engine: TestEngine| {
        engine.signal(&signalled, "go", 5).await.unwrap();
        engine.come_to_rest().await.unwrap();
        assert_eq!(engine.status(&signalled).await.unwrap(), RunStatus::Blocked);
    })
    .await;
    let engine = lab.engine(&before).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 12);
}

/// Two things are under way at once, so their order proves nothing; but the first answer was used before the question
/// that is gone, and there is nothing left to wait for.
async fn a_step_that_waits_for_what_it_never_asks_again_is_blocked(lab: Lab) {
    let both = |last: &'static str| {
        step(&Tape::default(), move |durable, tape| async move {
            let slow = async { durable.signal::<u32>("slow").await };
            let quick = async {
                durable.signal::<u32>("quick").await?;
                noted(&durable, &tape, last).await?;
                durable.signal::<u32>("later").await
            };
            let (slow, quick) = futures::try_join!(slow, quick)?;
            Ok(slow + quick)
        })
    };
    let run = lab
        .life_of(&workflow(both("old")), async |engine: TestEngine| {
            let run = started(&engine).await;
            engine.signal(&run, "quick", 1).await.unwrap();
            engine.come_to_rest().await.unwrap();
            engine.signal(&run, "later", 1).await.unwrap();
            engine.come_to_rest().await.unwrap();
            run
        })
        .await;
    let engine = lab.engine(&workflow(both("new"))).await;
    engine.advance(MINUTE).await.unwrap();
    assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Blocked);
    let why = engine.explain(&run).await.unwrap();
    assert!(why.contains("once(`old`) was asked for before"), "{why}");
}

async fn a_step_that_waits_can_be_cancelled(lab: Lab) {
    for let_go in [false, true] {
        let engine = lab.engine(&workflow(waits_for_go(&Tape::default()))).await;
        let run = engine.run("w", ()).await.unwrap().id().clone();
        engine.come_to_rest().await.unwrap();
        if let_go {
            engine.advance(MINUTE).await.unwrap();
        }
        engine.cancel(&run, "enough").await.unwrap();
        engine.come_to_rest().await.unwrap();
        assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Cancelled);
        engine.shutdown(Duration::ZERO).await;
    }
}

async fn a_step_that_waits_can_be_paused(lab: Lab) {
    let tape = Tape::default();
    let engine = lab.engine(&workflow(waits_for_go(&tape))).await;
    let run = started(&engine).await;
    engine.pause(&run).await.unwrap();
    engine.advance(MINUTE).await.unwrap();
    assert_eq!(engine.signal(&run, "go", 5).await.unwrap(), RunStatus::Paused);
    engine.come_to_rest().await.unwrap();
    assert_eq!(tape.count("called"), 1);
    engine.resume(&run).await.unwrap();
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 12);
}

async fn an_orderly_stop_lets_a_waiting_step_go(lab: Lab) {
    let tape = Tape::default();
    let workflow = workflow(waits_for_go(&tape).at_most_once());
    let run = lab
        .life_of(&workflow, async |engine: TestEngine| {
            let run = started(&engine).await;
            engine.shutdown(Duration::ZERO).await;
            run
        })
        .await;
    let engine = lab.engine(&workflow).await;
    engine.signal(&run, "go", 5).await.unwrap();
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 12);
    assert_eq!(tape.count("charge"), 1);
}

async fn crashes_while_it_waits_are_no_interruptions(lab: Lab) {
    let workflow = workflow(waits_for_go(&Tape::default()));
    for _ in 0..7 {
        lab.life_of(&workflow, async |engine: TestEngine| {
            engine.run("w", ()).id("r").await.unwrap();
            engine.come_to_rest().await.unwrap();
        })
        .await;
    }
    let engine = lab.engine(&workflow).await;
    engine.signal(&"r".into(), "go", 5).await.unwrap();
    assert_eq!(output(&engine.finish(&"r".into()).await.unwrap()), 12);
}

async fn a_waiting_step_shows_what_it_waits_for(lab: Lab) {
    let engine = lab.engine(&workflow(waits_for_go(&Tape::default()))).await;
    let run = started(&engine).await;
    let expected = format!("run `{run}` waits at `s` for the signal `go`, for another 24 h");
    assert_eq!(engine.explain(&run).await.unwrap(), expected);
    engine.advance(MINUTE).await.unwrap();
    let expected = format!("run `{run}` waits at `s` for the signal `go`, for another 23 h 59 min");
    assert_eq!(engine.explain(&run).await.unwrap(), expected);
    let view = serde_json::to_value(engine.get(&run).await.unwrap()).unwrap();
    let operations = &view["steps"][0]["operations"];
    let once = &operations[0];
    assert_eq!(
        (&once["kind"], &once["name"], &once["status"]),
        (&json!("once"), &json!("charge"), &json!("completed"))
    );
    assert_eq!(operations[1]["status"], "waiting");
}

async fn operations_tell_when_they_were_and_what_came_of_them(lab: Lab) {
    let workflow = workflow(step(&Tape::default(), |durable, tape| async move {
        let seven = noted(&durable, &tape, "charge").await?;
        durable.sleep(MINUTE).await?;
        let sent: u32 = durable.signal("go").await?;
        let none: Option<u32> = durable.signal("never").timeout_value(MINUTE).await?;
        let late = durable.signal::<u32>("late").timeout(HOUR).await;
        Ok(seven + sent + none.unwrap_or(0) + late.unwrap_or(0))
    }));
    let engine = lab.engine(&workflow).await;
    let run = started(&engine).await;
    engine.advance(MINUTE).await.unwrap();
    engine.signal(&run, "go", 5).await.unwrap();
    engine.come_to_rest().await.unwrap();
    let shown = async || {
        let view = engine.get(&run).await.unwrap();
        let times = |at: Option<rival::Time>| at.map(|at| since_start(at) / 1_000);
        let line = |it: &rival::OperationView| {
            let said = it.error.as_ref().map(ToString::to_string);
            let said = said.or_else(|| Some(it.result.as_ref()?.as_json().to_owned())).unwrap_or_default();
            let (began, ended, wakes) = (times(it.started_at), times(it.ended_at), times(it.wake_at));
            format!("{} {}: {began:?} {ended:?} {wakes:?} {said}", it.label(), it.status)
        };
        view.steps[0].operations.iter().map(line).collect::<Vec<_>>()
    };
    let waiting = "signal(`never`) waiting: Some(60) None Some(120) ";
    assert_eq!(shown().await.last().unwrap(), waiting);
    engine.finish(&run).await.unwrap();
    let expected = [
        "once(`charge`) completed: Some(0) Some(0) None 7",
        "sleep completed: Some(0) Some(60) None ",
        "signal(`go`) completed: Some(60) Some(60) None 5",
        "signal(`never`) completed: Some(60) Some(120) None null",
        "signal(`late`) failed: Some(120) Some(3720) None `s` waited for the signal `late`, and none came in time",
    ];
    assert_eq!(shown().await, expected);
}

async fn lines(engine: &TestEngine, run: &RunId) -> Vec<String> {
    let lines = engine.logs(run, &LogFilter::default()).await.unwrap();
    lines.into_iter().map(|line| line.message).collect()
}

/// A workflow whose step writes a line between all that it does.
fn chatty() -> Workflow<(), u32> {
    let step = |durable: Durable, log: Log| async move {
        log.info((), "begun");
        let inside = log.clone();
        let seven = durable.once("charge", move || async move {
            inside.info((), "charging");
            Ok::<_, StepError>(7_u32)
        });
        let seven = seven.await?;
        log.info((), "charged");
        let left = durable.signal::<u32>("left").into_future();
        let right = durable.signal::<u32>("right").into_future();
        let waiting = async {
            log.info((), "waiting for both");
            Ok::<_, StepError>(())
        };
        let (left, right, ()) = futures::try_join!(left, right, waiting)?;
        log.info((), "both came");
        durable.sleep(HOUR).await?;
        log.info((), "done");
        Ok::<_, StepError>(seven + left + right)
    };
    workflow(step.named("s"))
}

const CHATTY: [&str; 6] = ["begun", "charging", "charged", "waiting for both", "both came", "done"];

async fn lines_are_written_once_by_a_step_that_is_let_go(lab: Lab) {
    let engine = lab.engine(&chatty()).await;
    let run = started(&engine).await;
    for signal in ["left", "right"] {
        // It is let go of while it waits, and called again.
        engine.advance(MINUTE).await.unwrap();
        engine.signal(&run, signal, 1).await.unwrap();
        engine.come_to_rest().await.unwrap();
    }
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 9);
    let history = engine.history(&run).await.unwrap();
    let suspended = history.iter().filter(|it| matches!(it.kind, EventKind::CallSuspended { .. })).count();
    assert_eq!(suspended, 3);
    assert_eq!(lines(&engine, &run).await, CHATTY);
}

/// What the function wrote before the last operation that is recorded is stored with it.
async fn lines_are_written_once_over_a_crash(lab: Lab) {
    let workflow = chatty();
    lab.life_of(&workflow, async |engine: TestEngine| {
        engine.run("w", ()).id("r").await.unwrap();
        engine.come_to_rest().await.unwrap();
    })
    .await;
    for signal in ["left", "right"] {
        lab.life_of(&workflow, async move |engine: TestEngine| {
            engine.signal(&"r".into(), signal, 1).await.unwrap();
            engine.come_to_rest().await.unwrap();
        })
        .await;
    }
    let engine = lab.engine(&workflow).await;
    assert_eq!(output(&engine.finish(&"r".into()).await.unwrap()), 9);
    let lines = lines(&engine, &"r".into()).await;
    let count = |text: &str| lines.iter().filter(|line| *line == text).count();
    for line in ["begun", "charging", "charged", "both came", "done"] {
        assert_eq!(count(line), 1, "{line}: {lines:?}");
    }
}

async fn another_attempt_writes_its_own_lines(lab: Lab) {
    let step = |durable: Durable, log: Log, run: Run| async move {
        log.info((), format!("attempt {}", run.attempt()));
        durable.sleep(HOUR).await?;
        log.info((), "slept");
        if run.attempt() == 1 { Err(StepError::new("no")) } else { Ok(7_u32) }
    };
    let engine = lab.engine(&workflow(step.named("s").retry(2))).await;
    let run = started(&engine).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 7);
    assert_eq!(lines(&engine, &run).await, ["attempt 1", "slept", "attempt 2", "slept"]);
}

async fn a_handler_cannot_ask_for_it(_lab: Lab) {
    let handler = |_: Durable| async { Ok::<_, StepError>(()) };
    let step = waits_for_go(&Tape::default()).on_error(handler.named("h"));
    let errors = Workflow::new("w").step(step).build().unwrap_err();
    assert!(errors.to_string().contains("asks for Durable, which only steps are given"), "{errors}");
}
