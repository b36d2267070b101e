//! Looking at runs: `list`, `show`, `history`, `logs`, `explain`.

use std::collections::{BTreeSet, HashMap};

use anyhow::Result;
use rival::event::TriggerOrigin;
use rival::{Clock, LogLevel, NodeStatus, Path, RunId, RunStatus, Seq, Time, Value};
use rival_api::{
    EventListReply, EventReply, ExplanationReply, LogListReply, LogReply, RunListReply, RunSummary, RunView,
    StepMetrics, duration, path_segment,
};
use rival_core::plan::is_system_workflow;
use rival_core::view::TriggerStatus;
use serde_json::value::RawValue;

use super::{VerbContext, each, is_archive, start};
use crate::args;
use crate::client::{ApiClient, OfflineNeed, query};
use crate::event_data::EventData;
use crate::failure::{below, told};
use crate::lines::EventNarrator;
use crate::operations;
use crate::out::{DataOutput, OutputFormat, clean, note, short};
use crate::pick::PickedItems;
use crate::style::TextStyle;
use crate::table::TextTable;
use crate::text::{clock, length, moment, recent};

/// The most runs in a page.
const PAGE: u32 = 500;
/// The most lines of a log in a page.
const LOG_PAGE: usize = 5_000;
/// How many runs are listed unless told otherwise.
const LIMIT: u32 = 20;
/// A terminal of this width has room for ids and whole dates.
const WIDE: usize = 110;
/// How much of a text a table shows.
const CELL: usize = 72;
/// How many retries of a run are named.
const RETRIES: usize = 5;
/// How many failures are shown with their source at a time.
const SOURCES: usize = 3;
/// What is said of runs that have not ended, in a store that nothing runs.
const STANDS_STILL: &str = "no server runs this store: runs that have not ended stand still until one does";

pub(crate) async fn list(context: &VerbContext, args: &args::ListArgs) -> Result<()> {
    let client = context.client(OfflineNeed::Store).await?;
    let mut left = args.limit.unwrap_or(if args.all { u32::MAX } else { LIMIT });
    // Children are folded into their parents, unless they are asked for.
    let roots = !args.all && args.parent.is_none();
    let now = Clock::System.now();
    let mut cursor: Option<String> = None;
    let mut runs: Vec<Box<RawValue>> = Vec::new();
    loop {
        let filters = query(&[
            ("workflow", args.workflow.clone()),
            ("status", statuses(&args.status)),
            ("tag", args.tag.clone()),
            ("parent", args.parent.clone()),
            ("source", args.source.clone()),
            ("system", args.all.then(|| "true".to_owned())),
            ("roots", roots.then(|| "true".to_owned())),
            ("from", args.from.as_deref().map(|time| since(time, now))),
            ("to", args.to.as_deref().map(|time| since(time, now))),
            ("input", args.input.clone()),
            ("limit", Some(left.min(PAGE).to_string())),
            ("cursor", cursor),
        ]);
        let page: RunListReply<Box<RawValue>> = client.get(&format!("/api/runs{filters}")).await?.read()?;
        left = left.saturating_sub(u32::try_from(page.items.len()).unwrap_or(u32::MAX));
        runs.extend(page.items);
        cursor = page.cursor;
        if cursor.is_none() || left == 0 {
            break;
        }
    }
    let stands_still = show_list(&context.out, &runs, roots)? && client.is_passive();
    if stands_still && context.out.format == OutputFormat::Table {
        note(STANDS_STILL);
    }
    if cursor.is_some() && context.out.format == OutputFormat::Table {
        note("there are more: --limit shows more of them, --all shows all, with children");
    }
    Ok(())
}

/// A time as the API takes it: also a day in UTC, `today`, `yesterday`, and a length of time that has passed since.
fn since(text: &str, now: Time) -> String {
    const DAY_MS: i64 = 86_400_000;
    let midnight = |now: Time| now.0 - now.0.rem_euclid(DAY_MS);
    match text {
        "today" => midnight(now).to_string(),
        "yesterday" => (midnight(now) - DAY_MS).to_string(),
        _ => match duration::parse(text).map(|ago| u64::try_from(ago.as_millis())) {
            Some(Ok(ago)) => now.minus_ms(ago).0.to_string(),
            _ if text.len() == "2026-11-16".len() && text.matches('-').count() == 2 => {
                format!("{text}T00:00:00Z")
            }
            _ => text.to_owned(),
        },
    }
}

fn statuses(statuses: &[RunStatus]) -> Option<String> {
    let words: Vec<&str> = statuses.iter().map(|status| status.word()).collect();
    (!words.is_empty()).then(|| words.join(","))
}

/// Shows runs; says whether some of them have not ended.
fn show_list(out: &DataOutput, runs: &[Box<RawValue>], roots: bool) -> Result<bool> {
    if out.format == OutputFormat::Json {
        return out.json(&array(runs)).map(|()| false);
    }
    let runs =
        runs.iter().map(|run| serde_json::from_str(run.get())).collect::<Result<Vec<RunSummary>, _>>()?;
    if out.format == OutputFormat::Ids {
        return runs.iter().try_for_each(|run| out.line(&run.run_id)).map(|()| false);
    }
    if runs.is_empty() {
        note(if roots { "no runs; --all looks for children too" } else { "no runs" });
        return Ok(false);
    }
    out.table(&run_table(&runs, out))?;
    Ok(runs.iter().any(|run| !run.status.is_terminal()))
}

/// Runs as rows of a list.
pub(crate) fn run_table(runs: &[RunSummary], out: &DataOutput) -> TextTable {
    let is_narrow = out.width.is_some_and(|width| width < WIDE);
    let began = if is_narrow { "STARTED" } else { "STARTED (UTC)" };
    let mut table = TextTable::new(&["RUN", "WORKFLOW", "STATUS", began, "TOOK", "NOTE"]).whole(&[0]);
    let now = Clock::System.now();
    // The retries that are in the same list: the older run says what became of it.
    let retries = runs.iter().rev().filter_map(|run| Some((run.source.as_ref()?, &run.run_id)));
    let retries: HashMap<&RunId, &RunId> = retries.collect();
    for run in runs {
        let next = retries.get(&run.run_id).filter(|_| is_retriable(run.status));
        let took = run.ended_at.map_or_else(|| "-".to_owned(), |end| length(end.ms_since(run.created_at)));
        let began = if is_narrow { recent(run.created_at, now) } else { moment(run.created_at) };
        table.row([
            run.run_id.to_string(),
            clean(&run.workflow),
            out.style.status(run.status.word()),
            began,
            took,
            out.cell(&clean(&remark(run, next.copied())), CELL),
        ]);
    }
    table
}

/// Why a run failed or is blocked, which one goes on in its place, and how many children it has.
fn remark(run: &RunSummary, next: Option<&RunId>) -> String {
    let children = match run.children {
        None | Some(0) => None,
        Some(1) => Some("1 child".to_owned()),
        Some(many) => Some(format!("{many} children")),
    };
    let next = next.map(|next| format!("retried as {next}"));
    children.into_iter().chain(next).chain(run.note.clone()).collect::<Vec<_>>().join("; ")
}

fn array(items: &[Box<RawValue>]) -> String {
    let items: Vec<&str> = items.iter().map(|item| item.get()).collect();
    format!("[{}]", items.join(","))
}

pub(crate) async fn show(context: &VerbContext, args: &args::RunsArgs) -> Result<()> {
    let mut first = true;
    each(&context.out, &args.runs, async |given| {
        let (client, run) = context.client_for(given).await?;
        let answer = client.get(&format!("/api/runs/{}", path_segment(&run))).await?;
        if context.out.format == OutputFormat::Table && !std::mem::take(&mut first) {
            context.out.line("")?;
        }
        match context.out.format {
            OutputFormat::Json => context.out.json(&answer.text),
            OutputFormat::Ids => context.out.line(answer.read::<RunView>()?.run_id),
            OutputFormat::Table => {
                let view: RunView = answer.read()?;
                let next = retried(&client, &view).await;
                show_run(&context.out, &view, &next)?;
                if client.is_passive() && !is_archive(given) && !view.status.is_terminal() {
                    note(STANDS_STILL);
                }
                Ok(())
            }
        }
    })
    .await
}

/// The runs that go on from one that did not complete, the first of them first.
async fn retried(client: &ApiClient, run: &RunView) -> Vec<RunId> {
    let (Some(ended), true) = (run.ended_at, is_retriable(run.status)) else { return Vec::new() };
    let filters = query(&[
        ("source", Some(run.run_id.to_string())),
        // Those that it may have been are all after its end: the others need not be read.
        ("from", Some(ended.0.to_string())),
        ("system", is_system_workflow(&run.workflow).then(|| "true".to_owned())),
        ("limit", Some(RETRIES.to_string())),
    ]);
    // It is a help, not what was asked for: an older server does not know the filter.
    let Ok(answer) = client.get(&format!("/api/runs{filters}")).await else { return Vec::new() };
    let Ok(page) = answer.read::<RunListReply>() else { return Vec::new() };
    page.items.into_iter().rev().map(|run| run.run_id).collect()
}

fn is_retriable(status: RunStatus) -> bool {
    matches!(status, RunStatus::Failed | RunStatus::Cancelled)
}

fn show_run(out: &DataOutput, run: &RunView, retries: &[RunId]) -> Result<()> {
    for (name, value) in facts(out, run, retries, Clock::System.now()) {
        out.line(format_args!("{} {value}", out.style.dim(format_args!("{name:<10}"))))?;
    }
    if run.steps.is_empty() {
        return Ok(());
    }
    if is_retriable(run.status) && run.retried_as.is_none() && retries.is_empty() {
        note(start::retry_hint(&run.run_id));
    }
    out.line("")?;
    let mut table = TextTable::new(&["STEP", "STATUS", "TOOK", "ATTEMPTS", "DETAIL"]);
    let now = Clock::System.now();
    for step in &run.steps {
        table.row(step_row(step, out));
        operation_rows(step, out, now).into_iter().for_each(|row| table.row(row));
    }
    out.table(&table)
}

fn facts(out: &DataOutput, run: &RunView, retries: &[RunId], now: Time) -> Vec<(&'static str, String)> {
    let style = out.style;
    let json = |value: &Value| out.cell(&clean(&value.to_json().to_string()), 2 * CELL);
    let mut facts = vec![
        ("run", run.run_id.to_string()),
        ("workflow", format!("{} (plan {})", clean(&run.workflow), short(&run.plan, 12))),
        ("status", style.status(run.status.word())),
        ("started", moment(run.created_at) + " UTC"),
    ];
    let name = if run.ended_at.is_some() { "took" } else { "age" };
    facts.push((name, length(took(run, now))));
    facts.push(("input", json(&run.input)));
    let texts = [
        ("parent", run.parent.as_ref().map(RunId::to_string)),
        ("from", run.source.as_ref().map(RunId::to_string)),
        ("trigger", run.trigger.as_deref().map(trigger_line)),
        ("retried as", retried_as(run, retries)),
        ("tags", Some(run.tags.join(", ")).filter(|tags| !tags.is_empty())),
        ("reason", run.reason.clone()),
    ];
    facts.extend(texts.into_iter().filter_map(|(name, text)| Some((name, clean(&text?)))));
    if let Some(error) = &run.error {
        let at = run.failed_step.as_ref().map_or_else(String::new, |at| format!(" at `{}`", at.path));
        let error_line = style.red(clean(&format!("{} ({}){at}", error.sentence(), error.code)));
        facts.push(("error", error_line + &below(error, style)));
    } else if let Some(note) = run.note.as_ref().filter(|note| run.reason.as_ref() != Some(note)) {
        facts.push(("note", clean(note)));
    }
    for left in &run.not_undone {
        facts.push((
            "left",
            style.red(clean(&format!("`{}` was not undone: {}", left.node, told(&left.failure)))),
        ));
    }
    if let Some(output) = &run.output {
        facts.push(("output", json(output)));
    }
    facts.extend(triggered(style, run));
    facts
}

/// Which trigger started a run.
fn trigger_line(trigger: &TriggerOrigin) -> String {
    let number = trigger.index + 1;
    let item = trigger.item.map_or_else(String::new, |item| format!(", item {item}"));
    format!("number {number} of {}{item}; {} in the chain", trigger.run, trigger.depth)
}

/// What became of what a run triggers, a line for each.
fn triggered(style: TextStyle, run: &RunView) -> Vec<(&'static str, String)> {
    let Some(status) = run.trigger_status else { return Vec::new() };
    let hint = match (status, &run.trigger_run) {
        (TriggerStatus::Failed, Some(retry)) => format!("; `rival retry {retry}` does again what failed"),
        _ => String::new(),
    };
    let mut lines = vec![("triggers", style.status(status.word()) + &hint)];
    for it in &run.triggers {
        let started = match it.runs.as_slice() {
            [] => String::new(),
            [one] => format!(": {one}"),
            [first, ..] => format!(": {} runs, {first} …", it.started),
        };
        let why = it.reason.as_ref().map_or_else(String::new, |reason| format!(" ({})", reason.sentence()));
        let left_out = match it.skipped_items {
            0 => String::new(),
            count => format!(", {count} left out"),
        };
        let (target, rest) = (clean(&it.workflow), clean(&format!("{started}{left_out}{why}")));
        lines.push(("", format!("{target} {}{rest}", style.status(it.status.word()))));
    }
    lines
}

/// By itself, or because it was asked for.
fn retried_as(run: &RunView, retries: &[RunId]) -> Option<String> {
    let all: BTreeSet<&RunId> = run.retried_as.iter().chain(retries).collect();
    let all: Vec<String> = all.into_iter().map(RunId::to_string).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

fn step_row(step: &StepMetrics, out: &DataOutput) -> [String; 5] {
    let took = step.duration.map_or_else(|| "-".to_owned(), length);
    let attempts = if step.kind == "step" { (step.retry_count + 1).to_string() } else { String::new() };
    let (status, detail) = (out.style.status(step.standing()), out.cell(&detail(step), CELL));
    [clean(step.path.as_str()), status, took, attempts, detail]
}

/// What a step has asked for durably, below it.
fn operation_rows(step: &StepMetrics, out: &DataOutput, now: Time) -> Vec<[String; 5]> {
    let PickedItems { shown, left_out } = operations::shown(step);
    let none = String::new;
    let more = (left_out > 0).then(|| [format!("  … {left_out} more"), none(), none(), none(), none()]);
    let rows = shown.into_iter().map(|operation| {
        let name = format!("  {}", clean(&operation.label()));
        let detail = match out.terminal {
            true => operations::detail(operation),
            false => operations::detail_within(operation, usize::MAX),
        };
        let (status, time) = (operation.status.word(), operations::time(operation, now));
        [name, out.style.status(status), time, none(), detail]
    });
    more.into_iter().chain(rows).collect()
}

/// How long a run took, or has taken until `now`.
pub(crate) fn took(run: &RunView, now: Time) -> u64 {
    run.ended_at.unwrap_or(now).ms_since(run.created_at)
}

/// What a step says about itself.
pub(crate) fn description(step: &StepMetrics) -> Option<String> {
    step.state.to_json()["description"].as_str().map(str::to_owned)
}

/// What there is to say about a step in a few words.
pub(crate) fn detail(step: &StepMetrics) -> String {
    let error = step.error.as_ref().map(|error| told(&error.failure));
    let said = match step.status {
        NodeStatus::Completed | NodeStatus::Skipped => description(step),
        _ => error.or_else(|| description(step)),
    };
    clean(&said.unwrap_or_default())
}

pub(crate) async fn history(context: &VerbContext, args: &args::HistoryArgs) -> Result<()> {
    let (client, run) = context.client_for(&args.run).await?;
    let events = events(&client, &run, args.after).await?;
    let out = &context.out;
    if out.format == OutputFormat::Json {
        return out.json(&array(&events));
    }
    let events = events
        .iter()
        .map(|event| serde_json::from_str(event.get()))
        .collect::<Result<Vec<EventReply>, _>>()?;
    if out.format == OutputFormat::Ids {
        return events.iter().try_for_each(|event| out.line(event.seq));
    }
    let mut table = TextTable::new(&["SEQ", "TIME (UTC)", "EVENT", "NODE", "WHAT IT MEANS"]);
    let mut teller = if out.terminal { EventNarrator::default() } else { EventNarrator::whole() };
    for event in &events {
        let means = teller.explain(event);
        let by = event.by.as_ref().map_or_else(String::new, |by| format!(" (asked by {})", clean(by)));
        let node = event.node.as_ref().map_or("", Path::as_str);
        table.row([
            event.seq.to_string(),
            clock(event.at),
            event.r#type.clone(),
            clean(node),
            out.cell(&means, CELL) + &by,
        ]);
    }
    out.table(&table)?;
    show_sources(out, &events)
}

/// Below a history: the source that its failures come from, each once.
fn show_sources(out: &DataOutput, events: &[EventReply]) -> Result<()> {
    let failed = events.iter().filter(|event| event.r#type == "callFailed");
    let failures = failed.filter_map(|event| Some((event.seq, EventData::of(event)?.failure?)));
    let mut told_already = BTreeSet::new();
    for (seq, failure) in failures {
        let source = below(&failure, out.style);
        if !source.is_empty() && told_already.len() < SOURCES && told_already.insert(told(&failure)) {
            out.line(format_args!("\n{seq}: {}{source}", out.style.red(clean(&failure.sentence()))))?;
        }
    }
    Ok(())
}

/// All events of a run after one of them.
pub(crate) async fn events(client: &ApiClient, run: &str, after: u64) -> Result<Vec<Box<RawValue>>> {
    let (mut all, mut cursor) = (Vec::new(), Some(after.to_string()));
    while let Some(from) = cursor {
        let path = format!("/api/runs/{}/events?cursor={from}&limit=5000", path_segment(run));
        let page: EventListReply<Box<RawValue>> = client.get(&path).await?.read()?;
        all.extend(page.items);
        cursor = page.cursor;
    }
    Ok(all)
}

pub(crate) async fn logs(context: &VerbContext, args: &args::LogsArgs) -> Result<()> {
    let (client, run) = context.client_for(&args.run).await?;
    let printer = LogPrinter::new(&context.out, args);
    if !args.follow || client.is_passive() {
        let lines = all_logs(&client, &run, args.step.as_deref(), args.level).await?;
        printer.print_all(&lines, &events(&client, &run, 0).await?)?;
        if args.follow {
            note("no server runs this store: nothing is added until one does");
        }
        return Ok(());
    }
    let mut calls = CallCounter::default();
    super::watch::follow(&client, &run, true, async |message| match message.event.as_str() {
        "log" => printer.print(&message.data),
        "callStarted" | "callFailed" => {
            let event = serde_json::from_str(&message.data)?;
            calls
                .attempt_of_failed(&event)
                .map_or(Ok(()), |attempt| printer.print_failed_call(&event, attempt))
        }
        _ => Ok(()),
    })
    .await
}

/// All lines of a run, of one step and of a level if they are given.
pub(crate) async fn all_logs(
    client: &ApiClient,
    run: &str,
    step: Option<&str>,
    level: Option<LogLevel>,
) -> Result<Vec<Box<RawValue>>> {
    let level = level.map(|level| level.to_string());
    let (mut all, mut cursor) = (Vec::new(), Some("0".to_owned()));
    while cursor.is_some() {
        let filters = query(&[
            ("cursor", cursor),
            ("limit", Some(LOG_PAGE.to_string())),
            ("step", step.map(str::to_owned)),
            ("level", level.clone()),
        ]);
        let page: LogListReply<Box<RawValue>> =
            client.get(&format!("/api/runs/{}/logs{filters}", path_segment(run))).await?.read()?;
        cursor = page.cursor;
        all.extend(page.items);
    }
    Ok(all)
}

/// Prints the lines that are wanted.
struct LogPrinter<'a> {
    out: &'a DataOutput,
    step: Option<&'a str>,
    level: LogLevel,
}

impl<'a> LogPrinter<'a> {
    fn new(out: &'a DataOutput, args: &'a args::LogsArgs) -> Self {
        Self { out, step: args.step.as_deref(), level: args.level.unwrap_or(LogLevel::Debug) }
    }

    /// Prints the lines that there are, and between them how calls failed.
    fn print_all(&self, lines: &[Box<RawValue>], events: &[Box<RawValue>]) -> Result<()> {
        let events = events.iter().map(|event| serde_json::from_str(event.get()));
        let events = events.collect::<Result<Vec<EventReply>, _>>()?;
        let mut calls = CallCounter::default();
        let failed: Vec<(&EventReply, u32)> =
            events.iter().filter_map(|event| Some((event, calls.attempt_of_failed(event)?))).collect();
        let mut failed = failed.into_iter().peekable();
        let starts = starts_of(&events);
        for line in lines {
            let read: LogReply = serde_json::from_str(line.get())?;
            // At one moment, a failure comes before the lines of calls that began after it.
            let began = starts.get(&(read.step_name.as_str(), read.attempt)).copied();
            let is_before = |(event, _): &(&EventReply, u32)| {
                event.at < read.timestamp
                    || event.at == read.timestamp && began.is_some_and(|began| event.seq < began)
            };
            while let Some((event, attempt)) = failed.next_if(is_before) {
                self.print_failed_call(event, attempt)?;
            }
            self.print(line.get())?;
        }
        failed.try_for_each(|(event, attempt)| self.print_failed_call(event, attempt))
    }

    /// A failure is no line of a log, but what a reader looks for in one. For programs it has the fields of a line, and
    /// the failure itself.
    fn print_failed_call(&self, event: &EventReply, attempt: u32) -> Result<()> {
        let step = event.node.as_ref().map_or("", Path::as_str);
        let Some(failure) = EventData::of(event).and_then(|data| data.failure) else { return Ok(()) };
        if !self.shows(LogLevel::Error, step) {
            return Ok(());
        }
        match self.out.format {
            OutputFormat::Ids => Ok(()),
            OutputFormat::Json => self.out.line(serde_json::json!({
                "timestamp": event.at, "level": LogLevel::Error, "stepName": step, "attempt": attempt,
                "message": format!("failed, {}", failure.sentence()), "failure": failure,
            })),
            OutputFormat::Table => {
                let style = self.out.style;
                let (at, level) = (style.dim(clock(event.at)), style.red("error"));
                let (failed, source) = (clean(&failure.sentence()), below(&failure, style));
                let step = format!("{}{}", clean(node_name(step)), after_attempt(attempt));
                self.out.line(format_args!("{at}  {level}  {step}: failed, {failed}{source}"))
            }
        }
    }

    fn shows(&self, level: LogLevel, step: &str) -> bool {
        level >= self.level && self.step.is_none_or(|wanted| wanted == step)
    }

    fn print(&self, line: &str) -> Result<()> {
        let read: LogReply = serde_json::from_str(line)?;
        if !self.shows(read.level, &read.step_name) {
            return Ok(());
        }
        match self.out.format {
            // One line each, so that a program can read them as they come.
            OutputFormat::Json => self.out.line(line),
            OutputFormat::Ids => Ok(()),
            OutputFormat::Table => self.out.line(log_line(&read, self.out.style)),
        }
    }
}

/// When each attempt of a step began, as the number of the event that says so.
fn starts_of(events: &[EventReply]) -> HashMap<(&str, u32), Seq> {
    let started = events.iter().filter(|event| &*event.r#type == "callStarted");
    let starts = started.filter_map(|event| {
        let attempt = EventData::of(event)?.attempt.unwrap_or(1);
        Some(((event.node.as_ref()?.as_str(), attempt), event.seq))
    });
    starts.collect()
}

/// ` (attempt 2)`, or nothing for the first.
fn after_attempt(attempt: u32) -> String {
    if attempt > 1 { format!(" (attempt {attempt})") } else { String::new() }
}

/// Knows which attempt a call belongs to, which only its beginning says.
#[derive(Debug, Default)]
struct CallCounter(HashMap<Path, u32>);

impl CallCounter {
    /// The attempt that has failed, if this event says so; all events of a run go through here in their order.
    fn attempt_of_failed(&mut self, event: &EventReply) -> Option<u32> {
        let node = event.node.as_ref()?;
        match &*event.r#type {
            "callStarted" => {
                self.0.insert(node.clone(), EventData::of(event)?.attempt.unwrap_or(1));
                None
            }
            "callFailed" => Some(self.0.get(node).copied().unwrap_or(1)),
            _ => None,
        }
    }
}

/// The root stands for the run itself, as for its error handler.
fn node_name(path: &str) -> &str {
    if path.is_empty() { "run" } else { path }
}

/// A line that a step wrote, for people.
pub(crate) fn log_line(line: &LogReply, style: TextStyle) -> String {
    let level = format!("{:<5}", line.level);
    let level = match line.level {
        LogLevel::Error => style.red(level),
        LogLevel::Warn => style.yellow(level),
        _ => style.dim(level),
    };
    let attempt = after_attempt(line.attempt);
    let fields = line
        .metadata
        .as_ref()
        .map_or_else(String::new, |fields| style.dim(format_args!("  {}", fields.to_json())));
    let (at, step) = (style.dim(clock(line.timestamp)), clean(node_name(&line.step_name)));
    format!("{at}  {level}  {step}{attempt}: {}{fields}", clean(&line.message))
}

async fn run_view(client: &ApiClient, run: &str) -> Result<RunView> {
    client.get(&format!("/api/runs/{}", path_segment(run))).await?.read()
}

pub(crate) async fn explain(context: &VerbContext, args: &args::RunsArgs) -> Result<()> {
    each(&context.out, &args.runs, async |given| {
        let (client, run) = context.client_for(given).await?;
        let answer = client.get(&format!("/api/runs/{}/explain", path_segment(&run))).await?;
        match context.out.format {
            OutputFormat::Json => context.out.json(&answer.text),
            OutputFormat::Ids => context.out.line(&run),
            OutputFormat::Table => {
                let now = run_view(&client, &run).await?;
                let explanation = clean(&answer.read::<ExplanationReply>()?.explanation);
                context.out.line(explanation + &why(&now, context.out.style))?;
                if client.is_passive() && !is_archive(given) && !now.status.is_terminal() {
                    note("no server runs this store: it changes only when one does");
                }
                Ok(())
            }
        }
    })
    .await
}

/// Where the failure comes from that a run ended with, or after which it waits to try again.
fn why(run: &RunView, style: TextStyle) -> String {
    if let Some(error) = &run.error {
        return below(error, style);
    }
    let waiting = run.steps.iter().filter(|step| step.status == NodeStatus::WaitingRetry);
    let failed = waiting.filter_map(|step| Some((step, &step.error.as_ref()?.failure)));
    failed
        .take(SOURCES)
        .map(|(step, failure)| {
            format!("\n`{}` failed: {}{}", clean(step.path.as_str()), told(failure), below(failure, style))
        })
        .collect()
}
