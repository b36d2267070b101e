//! Looking at runs: views, lists, logs, and what a run waits for in one sentence.

use std::time::Duration;

use expect_test::{Expect, expect};
use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{Event, LogFilter, LogLevel, LogLine, Page, RunError, RunFilter, RunId, RunStatus, Seq};
use serde_json::json;

use crate::lab::{Lab, facts, since_start};
use crate::steps::{Gate, Tape};

facts![
    explain_says_who_is_at_work,
    explain_says_what_a_run_sleeps_for,
    explain_says_when_a_step_is_tried_again,
    explain_says_that_a_run_waits_for_room,
    explain_says_that_a_run_is_paused,
    explain_says_why_a_run_is_blocked,
    explain_says_what_a_cancelled_run_still_waits_for,
    explain_says_what_a_failing_run_still_waits_for,
    explain_says_how_a_run_ended,
    explain_says_that_a_workflow_is_missing,
    lines_tell_attempt_call_level_and_fields,
    lines_are_filtered,
    lines_of_a_step_that_timed_out_are_kept,
    lines_of_a_handler_are_kept,
    metrics_tell_times,
    iterations_come_in_the_order_of_their_numbers,
    runs_are_filtered_and_paged,
    what_is_not_there_is_not_found,
    history_names_the_cause_of_everything,
    pages_of_events_are_full_until_the_last,
    a_message_that_is_too_long_is_cut,
];

/// However long the error of a function is: it would be read with every look at the run, and shown in every list.
async fn a_message_that_is_too_long_is_cut(lab: Lab) {
    let long = || async {
        let details = json!({ "answer": "y".repeat(4 << 20) });
        Err::<(), _>(StepError::stop("x".repeat(4 << 20)).details(details))
    };
    let (engine, run) = engine_of(&lab, Workflow::new("w").step(long.named("long"))).await;
    let failure = engine.finish(&run).await.unwrap().error.unwrap();
    assert_eq!(failure.message.len(), 64 * 1024);
    assert!(failure.message.ends_with("x … (4194304 bytes in all)"));
    assert_eq!(failure.details.unwrap().to_json()["bytes"], (4 << 20) + 13);
    let note = engine.summary(&run).await.unwrap().note.unwrap();
    assert!(note.len() <= 8 * 1024 && note.ends_with(" bytes in all)"), "{}", note.len());
    let history = engine.history(&run).await.unwrap();
    assert!(serde_json::to_string(&history).unwrap().len() < 512 * 1024);
    engine.cancel(&run, "late").await.unwrap_err();
}

async fn says(engine: &TestEngine, run: &RunId, expected: Expect) {
    expected.assert_eq(&engine.explain(run).await.unwrap());
}

async fn engine_of<O: rival::Data>(
    lab: &Lab,
    workflow: rival::WorkflowBuilder<(), O>,
) -> (TestEngine, RunId) {
    let engine = lab.engine(workflow.build().unwrap()).await;
    engine.run("w", ()).id("r").await.unwrap();
    (engine, "r".into())
}

async fn explain_says_who_is_at_work(lab: Lab) {
    let gate = Gate::default();
    let (engine, run) = engine_of(&lab, Workflow::new("w").step(Tape::default().gated("held", &gate))).await;
    gate.arrived(1).await;
    lab.pass(Duration::from_millis(4_200));
    says(&engine, &run, expect!["run `r` waits for `held`, attempt 1, called 4.2 s ago"]).await;
}

async fn explain_says_what_a_run_sleeps_for(lab: Lab) {
    let (engine, run) =
        engine_of(&lab, Workflow::new("w").step(delay_step(Duration::from_secs(86_400 * 7)))).await;
    engine.advance(Duration::from_secs(7_200)).await.unwrap();
    says(&engine, &run, expect!["run `r` sleeps at `delay` for another 6 days 22 h; it began 2 h ago"]).await;
}

async fn explain_says_when_a_step_is_tried_again(lab: Lab) {
    let bad = Tape::default().failing("bad").retry(2).backoff(BackoffKind::Linear, Duration::from_secs(300));
    let (engine, run) = engine_of(&lab, Workflow::new("w").step(bad)).await;
    engine.advance(Duration::from_secs(60)).await.unwrap();
    says(
        &engine,
        &run,
        expect!["run `r` waits to try `bad` again (attempt 2) for another 4 min; it began 60.0 s ago"],
    )
    .await;
}

async fn explain_says_that_a_run_waits_for_room(lab: Lab) {
    let gate = Gate::default();
    let workflow = Workflow::new("w").step(Tape::default().gated("held", &gate)).build().unwrap();
    let engine = lab.builder().configure(|it| it.max_live_runs(1)).workflow(workflow).build().await.unwrap();
    engine.run("w", ()).await.unwrap();
    engine.run("w", ()).id("r").await.unwrap();
    lab.pass(Duration::from_millis(120));
    says(&engine, &"r".into(), expect!["run `r` has waited for room for 120 ms"]).await;
}

async fn explain_says_that_a_run_is_paused(lab: Lab) {
    let (engine, run) = engine_of(&lab, Workflow::new("w").step(delay_step(Duration::from_secs(60)))).await;
    engine.pause(&run).await.unwrap();
    engine.advance(Duration::from_secs(150)).await.unwrap();
    says(&engine, &run, expect!["run `r` has been paused for 3 min; `resume` lets it go on"]).await;
}

async fn explain_says_why_a_run_is_blocked(lab: Lab) {
    let text = (|| async { Ok::<_, StepError>("text".to_owned()) }).named("text");
    let reads = (|last: LastStep| async move { last.get::<u32>() }).named("reads");
    let (engine, run) = engine_of(&lab, Workflow::new("w").step(text).step(reads)).await;
    engine.advance(Duration::from_secs(1)).await.unwrap();
    says(&engine, &run, expect![[r#"run `r` has been blocked for 1.0 s: `reads` cannot read a recorded value (the result of `text` does not decode into `u32`: invalid type: string "text", expected u32 at line 1 column 6); mend the type, then `resume`"#]]).await;
}

/// A cooperative step that does not settle.
fn stubborn(gate: &Gate) -> rival::TypedStep<()> {
    let gate = gate.clone();
    let function = move |_told: Cancellation| {
        let gate = gate.clone();
        async move {
            gate.pass().await;
            Ok::<_, StepError>(())
        }
    };
    function.named("stubborn")
}

async fn explain_says_what_a_cancelled_run_still_waits_for(lab: Lab) {
    let gate = Gate::default();
    let (engine, run) = engine_of(&lab, Workflow::new("w").step(stubborn(&gate))).await;
    gate.arrived(1).await;
    engine.cancel(&run, "").await.unwrap();
    lab.pass(Duration::from_secs(2));
    says(&engine, &run, expect!["run `r` is cancelling: waits for `stubborn`, attempt 1, called 2.0 s ago"])
        .await;
}

async fn explain_says_what_a_failing_run_still_waits_for(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = Workflow::new("w").on_error(tape.gated("alarm", &gate)).step(tape.failing("bad"));
    let (engine, run) = engine_of(&lab, workflow).await;
    gate.arrived(1).await;
    lab.pass(Duration::from_secs(2));
    says(
        &engine,
        &run,
        expect!["run `r` is failing: waits for the workflow's error handler, attempt 1, called 2.0 s ago"],
    )
    .await;
}

async fn explain_says_how_a_run_ended(lab: Lab) {
    let tape = Tape::default();
    let good = Workflow::new("good").step(tape.step("a")).build().unwrap();
    let bad = Workflow::new("bad").step(tape.failing("b")).build().unwrap();
    let long = Workflow::new("long").step(delay_step(Duration::from_secs(60))).build().unwrap();
    let engine = lab.builder().workflow(good).workflow(bad).workflow(long).build().await.unwrap();
    for run in ["good", "bad", "long"] {
        engine.run(run, ()).id(run).await.unwrap();
    }
    engine.cancel(&"long".into(), "enough").await.unwrap();
    engine.advance(Duration::from_secs(3)).await.unwrap();
    says(&engine, &"good".into(), expect!["run `good` completed 3.0 s ago"]).await;
    says(&engine, &"bad".into(), expect!["run `bad` failed 3.0 s ago: b failed in attempt 1"]).await;
    says(&engine, &"long".into(), expect!["run `long` cancelled 3.0 s ago: enough"]).await;
}

async fn explain_says_that_a_workflow_is_missing(lab: Lab) {
    let delay = delay_step(Duration::from_secs(1));
    let workflow = Workflow::new("w").step(delay).step(Tape::default().step("late")).build().unwrap();
    let life = async |engine: TestEngine| drop(engine.run("w", ()).id("r").await.unwrap());
    lab.life_of(&workflow, life).await;
    let engine = lab.builder().build().await.unwrap();
    engine.advance(Duration::from_secs(1)).await.unwrap();
    says(
        &engine,
        &"r".into(),
        expect!["run `r` is blocked: workflow `w` is not here: the run goes on when its file is loaded, or its program registers it"],
    )
    .await;
}

#[expect(clippy::needless_pass_by_value, reason = "a step takes its arguments by value")]
fn chatty(run: Run, log: Log) -> Result<(), StepError> {
    log.debug(json!({ "n": run.attempt() }), "looking");
    log.info((), format_args!("attempt {}", run.attempt()));
    if run.attempt() == 1 {
        log.warn((), "no luck");
        return Err(StepError::new("again"));
    }
    log.error("only a text", "odd");
    Ok(())
}

fn shown(line: &LogLine) -> String {
    let fields = line.fields.as_ref().map_or("-", |fields| fields.as_json());
    let at = since_start(line.at);
    format!(
        "{} {}#{} {at} {} {} {fields}",
        line.node,
        line.attempt,
        line.call,
        line.level.word(),
        line.message
    )
}

async fn lines_tell_attempt_call_level_and_fields(lab: Lab) {
    let (engine, run) = engine_of(&lab, Workflow::new("w").step(chatty.retry(2))).await;
    engine.finish(&run).await.unwrap();
    let lines = engine.logs(&run, &LogFilter::default()).await.unwrap();
    let lines: Vec<_> = lines.iter().map(shown).collect();
    let expected = [
        r#"chatty 1#1 0 debug looking {"n":1}"#,
        "chatty 1#1 0 info attempt 1 -",
        "chatty 1#1 0 warn no luck -",
        r#"chatty 2#2 1000 debug looking {"n":2}"#,
        "chatty 2#2 1000 info attempt 2 -",
        r#"chatty 2#2 1000 error odd "only a text""#,
    ];
    assert_eq!(lines, expected);
}

async fn lines_are_filtered(lab: Lab) {
    let other = (|log: Log| async move {
        log.info((), "other");
        Ok::<_, StepError>(())
    })
    .named("other");
    let (engine, run) = engine_of(&lab, Workflow::new("w").step(chatty.retry(2)).step(other)).await;
    engine.finish(&run).await.unwrap();
    let messages = async |filter: LogFilter| {
        let lines = engine.logs(&run, &filter).await.unwrap();
        lines.into_iter().map(|line| line.message).collect::<Vec<_>>()
    };
    let warnings = LogFilter { level: Some(LogLevel::Warn), ..LogFilter::default() };
    assert_eq!(messages(warnings).await, ["no luck", "odd"]);
    let of_other = LogFilter { node: Some("other".to_owned()), ..LogFilter::default() };
    assert_eq!(messages(of_other).await, ["other"]);
    assert_eq!(messages(LogFilter { limit: Some(2), ..LogFilter::default() }).await, ["odd", "other"]);
}

async fn lines_of_a_step_that_timed_out_are_kept(lab: Lab) {
    let gate = Gate::default();
    let held = gate.clone();
    let step = move |log: Log| {
        let held = held.clone();
        async move {
            log.info((), "began");
            held.pass().await;
            Ok::<_, StepError>(())
        }
    };
    let step = step.named("s").timeout(Duration::from_secs(1));
    let (engine, run) = engine_of(&lab, Workflow::new("w").step(step)).await;
    gate.arrived(1).await;
    lab.pass(Duration::from_secs(1));
    engine.finish(&run).await.unwrap();
    let lines = engine.logs(&run, &LogFilter::default()).await.unwrap();
    assert_eq!(lines.iter().map(|line| line.message.as_str()).collect::<Vec<_>>(), ["began"]);
}

async fn lines_of_a_handler_are_kept(lab: Lab) {
    let handler = (|log: Log| async move {
        log.error((), "oh");
        Ok::<_, StepError>(())
    })
    .named("handler");
    let (engine, run) =
        engine_of(&lab, Workflow::new("w").on_error(handler).step(Tape::default().failing("a"))).await;
    engine.finish(&run).await.unwrap();
    assert_eq!(engine.logs(&run, &LogFilter::default()).await.unwrap()[0].message, "oh");
}

async fn metrics_tell_times(lab: Lab) {
    let tape = Tape::default();
    let flaky = tape.doing("flaky", |n| if n == 1 { Err("no".into()) } else { Ok(n) }).retry(2);
    let steps = (flaky, delay_step(Duration::from_secs(5)));
    let (engine, run) = engine_of(&lab, Workflow::new("w").steps(steps).step(tape.step("last"))).await;
    engine.finish(&run).await.unwrap();
    let view = engine.get(&run).await.unwrap();
    let times: Vec<_> = view
        .steps
        .iter()
        .map(|step| {
            let (from, to) = (step.started_at.unwrap(), step.completed_at.unwrap());
            (step.name.as_str(), &*step.kind, since_start(from), since_start(to), step.duration.unwrap())
        })
        .collect();
    let expected = [
        ("flaky", "step", 0, 1_000, 1_000),
        ("delay", "sleep", 1_000, 6_000, 5_000),
        ("last", "step", 6_000, 6_000, 0),
    ];
    assert_eq!(times, expected);
    assert_eq!((since_start(view.created_at), view.ended_at.map(since_start)), (0, Some(6_000)));
}

async fn iterations_come_in_the_order_of_their_numbers(lab: Lab) {
    let tape = Tape::default();
    let items = || async { Ok::<_, StepError>((0..12).collect::<Vec<u32>>()) };
    let charge = tape.step("charge");
    let flow = Workflow::new("w").for_each("items", items.named("list"), |e| e.body(|b| b.step(charge)));
    let (engine, run) = engine_of(&lab, flow).await;
    engine.finish(&run).await.unwrap();
    let view = engine.get(&run).await.unwrap();
    let paths: Vec<&str> = view.steps.iter().map(|step| step.path.as_str()).collect();
    let expected: Vec<String> = (0..12).map(|n| format!("items[{n}]/charge")).collect();
    assert_eq!(paths[0], "items");
    assert_eq!(paths[1..], expected);
}

async fn runs_are_filtered_and_paged(lab: Lab) {
    let tape = Tape::default();
    let good = Workflow::new("good").step(tape.step("a")).build().unwrap();
    let bad = Workflow::new("bad").step(tape.failing("b")).build().unwrap();
    let engine = lab.builder().workflow(good).workflow(bad).build().await.unwrap();
    for n in 0..10 {
        let (workflow, tag) = (if n % 2 == 0 { "good" } else { "bad" }, if n < 5 { "old" } else { "new" });
        let run = engine.run(workflow, ()).id(format!("r{n}")).tag(tag).await.unwrap();
        engine.finish(run.id()).await.unwrap();
    }
    let ids = async |filter: RunFilter, page: Page| {
        let rows = engine.runs(&filter, &page).await.unwrap();
        rows.iter().map(|row| row.id.to_string()).collect::<Vec<_>>()
    };
    let failed = RunFilter { statuses: vec![RunStatus::Failed], ..RunFilter::default() };
    assert_eq!(ids(failed, Page::default()).await, ["r9", "r7", "r5", "r3", "r1"]);
    let both =
        RunFilter { workflow: Some("good".to_owned()), tag: Some("old".to_owned()), ..RunFilter::default() };
    assert_eq!(ids(both, Page::default()).await, ["r4", "r2", "r0"]);

    let (mut page, mut paged) = (Page { before: None, limit: 4 }, Vec::new());
    loop {
        let rows = engine.runs(&RunFilter::default(), &page).await.unwrap();
        let Some(last) = rows.last() else { break };
        page.before = Some(last.no);
        paged.extend(rows.iter().map(|row| row.id.to_string()));
    }
    assert_eq!(paged, (0..10).rev().map(|n| format!("r{n}")).collect::<Vec<_>>());
}

async fn what_is_not_there_is_not_found(lab: Lab) {
    let engine = lab.builder().build().await.unwrap();
    let nobody = RunId::from("nobody");
    let not_found = |error: RunError| matches!(error, RunError::NotFound(_));
    assert!(not_found(engine.get(&nobody).await.unwrap_err()));
    assert!(not_found(engine.history(&nobody).await.unwrap_err()));
    assert!(not_found(engine.logs(&nobody, &LogFilter::default()).await.unwrap_err()));
    assert!(not_found(engine.explain(&nobody).await.unwrap_err()));
    assert!(not_found(engine.handle("nobody").await.unwrap_err()));
    assert!(not_found(engine.pause(&nobody).await.unwrap_err()));
}

async fn history_names_the_cause_of_everything(lab: Lab) {
    let steps = (Tape::default().step("a"), delay_step(Duration::from_secs(5)));
    let (engine, run) = engine_of(&lab, Workflow::new("w").steps(steps)).await;
    engine.finish(&run).await.unwrap();
    let history = engine.history(&run).await.unwrap();
    let causes: Vec<_> = history.iter().map(|event| json!([event.seq, event.cause])).collect();
    let expected = json!([[1, "request"], [2, 1], [3, 2], [4, 3], [5, "clock"], [6, 5]]);
    assert_eq!(json!(causes), expected);
}

/// Whatever was committed together, and however many events that were.
async fn pages_of_events_are_full_until_the_last(lab: Lab) {
    let tape = Tape::default();
    let steps = Workflow::new("w").step(tape.step("a")).step(tape.step("b"));
    let workflow = steps.step(tape.step("c")).step(delay_step(Duration::ZERO)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap().id().clone();
    engine.finish(&run).await.unwrap();
    let history = engine.history(&run).await.unwrap();
    for limit in 1..=history.len() + 1 {
        let mut read = Vec::new();
        loop {
            let after = read.last().map_or(Seq::ZERO, |event: &Event| event.seq);
            let page = engine.events(&run, after, limit).await.unwrap();
            assert_eq!(page.len(), limit.min(history.len() - read.len()), "a page of {limit} after {after}");
            if page.is_empty() {
                break;
            }
            read.extend(page);
        }
        assert_eq!(read, history);
    }
}
