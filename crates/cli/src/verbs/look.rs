//! Looking at runs: `list`, `show`, `history`, `logs`, `explain`.

use anyhow::Result;
use rival::event::EventKind;
use rival::{Clock, LogLevel, Time};
use serde_json::value::RawValue;

use super::{VerbContext, each, is_archive};
use crate::args;
use crate::client::{ApiClient, OfflineNeed, query, segment};
use crate::lines::EventNarrator;
use crate::out::{DataOutput, OutputFormat, TextTable, clean, note, short};
use crate::shape::{EventJson, EventPage, LogLineJson, LogPage, RunJson, RunListJson, StepJson, SummaryJson};
use crate::style::TextStyle;
use crate::text::{clock, length, moment};

/// The most runs in a page.
const PAGE: u32 = 500;
/// The most lines of a log in a page.
const LOG_PAGE: usize = 5_000;
/// How much of a text a table shows.
const CELL: usize = 72;

pub(crate) async fn list(context: &VerbContext, args: &args::ListArgs) -> Result<()> {
    let client = context.client(OfflineNeed::Store).await?;
    let mut left = if args.all { u32::MAX } else { args.limit };
    let mut cursor: Option<String> = None;
    let mut runs: Vec<Box<RawValue>> = Vec::new();
    loop {
        let filters = query(&[
            ("workflow", args.workflow.clone()),
            ("status", args.status.clone()),
            ("tag", args.tag.clone()),
            ("parent", args.parent.clone()),
            ("from", args.from.clone()),
            ("to", args.to.clone()),
            ("input", args.input.clone()),
            ("limit", Some(left.min(PAGE).to_string())),
            ("cursor", cursor),
        ]);
        let page: RunListJson = client.get(&format!("/api/runs{filters}")).await?.read()?;
        left = left.saturating_sub(u32::try_from(page.runs.len()).unwrap_or(u32::MAX));
        runs.extend(page.runs);
        cursor = page.cursor;
        if cursor.is_none() || left == 0 {
            break;
        }
    }
    show_list(&context.out, &runs)?;
    if cursor.is_some() && context.out.format == OutputFormat::Table {
        note("there are more: --all shows them, --limit more of them");
    }
    Ok(())
}

fn show_list(out: &DataOutput, runs: &[Box<RawValue>]) -> Result<()> {
    if out.format == OutputFormat::Json {
        return out.json(&array(runs));
    }
    let runs =
        runs.iter().map(|run| serde_json::from_str(run.get())).collect::<Result<Vec<SummaryJson>, _>>()?;
    if out.format == OutputFormat::Ids {
        return runs.iter().try_for_each(|run| out.line(&run.run_id));
    }
    if runs.is_empty() {
        note("no runs");
        return Ok(());
    }
    let mut table = TextTable::new(&["RUN", "WORKFLOW", "STATUS", "STARTED (UTC)", "TOOK", "NOTE"]);
    runs.iter().for_each(|run| table.row(summary(run, out.style)));
    out.table(&table)
}

/// A run as a row of a list.
pub(crate) fn summary(run: &SummaryJson, style: TextStyle) -> [String; 6] {
    let took = run.ended_at.map_or_else(|| "-".to_owned(), |end| length(end.ms_since(run.created_at)));
    [
        run.run_id.clone(),
        clean(&run.workflow),
        style.status(run.status.word()),
        moment(run.created_at),
        took,
        short(&clean(run.note.as_deref().unwrap_or_default()), CELL),
    ]
}

fn array(items: &[Box<RawValue>]) -> String {
    let items: Vec<&str> = items.iter().map(|item| item.get()).collect();
    format!("[{}]", items.join(","))
}

pub(crate) async fn show(context: &VerbContext, args: &args::RunsArgs) -> Result<()> {
    let mut first = true;
    each(&context.out, &args.runs, async |run| {
        let (client, run) = context.client_for(run).await?;
        let answer = client.get(&format!("/api/runs/{}", segment(&run))).await?;
        if context.out.format == OutputFormat::Table && !std::mem::take(&mut first) {
            context.out.line("")?;
        }
        match context.out.format {
            OutputFormat::Json => context.out.json(&answer.text),
            OutputFormat::Ids => context.out.line(answer.read::<RunJson>()?.run_id),
            OutputFormat::Table => show_run(&context.out, &answer.read()?),
        }
    })
    .await
}

fn show_run(out: &DataOutput, run: &RunJson) -> Result<()> {
    for (name, value) in facts(out.style, run, Clock::System.now()) {
        out.line(format_args!("{} {value}", out.style.dim(format_args!("{name:<9}"))))?;
    }
    if run.steps.is_empty() {
        return Ok(());
    }
    out.line("")?;
    let mut table = TextTable::new(&["STEP", "STATUS", "TOOK", "ATTEMPTS", "DETAIL"]);
    run.steps.iter().for_each(|step| table.row(step_row(step, out.style)));
    out.table(&table)
}

fn facts(style: TextStyle, run: &RunJson, now: Time) -> Vec<(&'static str, String)> {
    let json = |value: &serde_json::Value| short(&clean(&value.to_string()), 2 * CELL);
    let mut facts = vec![
        ("run", run.run_id.clone()),
        ("workflow", format!("{} (plan {})", clean(&run.workflow), short(&run.plan, 12))),
        ("status", style.status(run.status.word())),
        ("started", moment(run.created_at) + " UTC"),
    ];
    let took = if run.ended_at.is_some() { "took" } else { "age" };
    facts.push((took, length(run.took(now))));
    facts.push(("input", json(&run.input)));
    let texts = [
        ("parent", run.parent.clone()),
        ("from", run.source.clone()),
        ("next", run.retried_as.clone()),
        ("tags", Some(run.tags.join(", ")).filter(|tags| !tags.is_empty())),
        ("reason", run.reason.clone()),
    ];
    facts.extend(texts.into_iter().filter_map(|(name, text)| Some((name, clean(&text?)))));
    if let Some(error) = &run.error {
        let at = run.failed_step.as_ref().map_or_else(String::new, |at| format!(" at `{}`", at.path));
        facts.push(("error", style.red(clean(&format!("{} ({}){at}", error.message, error.code)))));
    } else if let Some(note) = &run.note {
        facts.push(("note", clean(note)));
    }
    for left in &run.not_undone {
        facts.push((
            "left",
            style.red(clean(&format!("`{}` was not undone: {}", left.node, left.failure.message))),
        ));
    }
    if let Some(output) = &run.output {
        facts.push(("output", json(output)));
    }
    facts
}

fn step_row(step: &StepJson, style: TextStyle) -> [String; 5] {
    let took = step.duration.map_or_else(|| "-".to_owned(), length);
    let attempts = if step.kind == "step" { (step.retry_count + 1).to_string() } else { String::new() };
    [clean(&step.path), style.status(&step.status), took, attempts, short(&detail(step), CELL)]
}

/// What there is to say about a step in a few words.
pub(crate) fn detail(step: &StepJson) -> String {
    let error = step.error.as_ref().map(|error| error.message.clone());
    let operations =
        step.operations.iter().filter(|operation| !operation.children.is_empty()).map(|operation| {
            let ended = operation.children.iter().filter(|child| child.status != "waiting").count();
            format!("{} of {} runs of {} ended", ended, operation.children.len(), operation.name)
        });
    let waits = step
        .operations
        .iter()
        .filter(|operation| operation.status == "waiting" && operation.children.is_empty());
    let waits = waits.map(|operation| format!("waits: {} {}", operation.kind, operation.name));
    let said = match step.status.as_str() {
        "completed" | "skipped" => step.description().map(str::to_owned),
        _ => error.or_else(|| step.description().map(str::to_owned)),
    };
    clean(&said.into_iter().chain(operations).chain(waits).collect::<Vec<_>>().join("; "))
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
        .collect::<Result<Vec<EventJson>, _>>()?;
    if out.format == OutputFormat::Ids {
        return events.iter().try_for_each(|event| out.line(event.seq));
    }
    let mut table = TextTable::new(&["SEQ", "TIME (UTC)", "EVENT", "NODE", "WHAT IT MEANS"]);
    let mut teller = EventNarrator::default();
    for event in &events {
        let means = kind(event).and_then(|kind| teller.tell(&kind, event.at)).unwrap_or_default();
        // The node has a column of its own.
        let means = means.split_once(": ").map_or(means.as_str(), |(_, means)| means);
        let node = event.node.as_deref().unwrap_or_default();
        table.row([
            event.seq.to_string(),
            clock(event.at),
            event.kind.clone(),
            clean(node),
            short(means, CELL),
        ]);
    }
    out.table(&table)
}

/// All events of a run after one of them.
pub(crate) async fn events(client: &ApiClient, run: &str, after: u64) -> Result<Vec<Box<RawValue>>> {
    let (mut all, mut after) = (Vec::new(), Some(after));
    while let Some(from) = after {
        let path = format!("/api/runs/{}/events?after={from}&limit=5000", segment(run));
        let page: EventPage = client.get(&path).await?.read()?;
        all.extend(page.events);
        after = page.next;
    }
    Ok(all)
}

/// The event as the engine knows it; `None` if a newer server knows more kinds than this command.
pub(crate) fn kind(event: &EventJson) -> Option<EventKind> {
    let mut tagged = serde_json::Map::new();
    tagged.insert(event.kind.clone(), event.data.clone());
    serde_json::from_str(&serde_json::Value::Object(tagged).to_string()).ok()
}

pub(crate) async fn logs(context: &VerbContext, args: &args::LogsArgs) -> Result<()> {
    let (client, run) = context.client_for(&args.run).await?;
    let printer = LogPrinter::new(&context.out, args);
    if !args.follow || client.is_passive() {
        let lines = all_logs(&client, &run, args.step.as_deref(), args.level).await?;
        lines.iter().try_for_each(|line| printer.print(line.get()))?;
        if args.follow {
            note("no server runs this store: nothing is added until one does");
        }
        return Ok(());
    }
    super::watch::follow(&client, &run, true, async |message| match message.event.as_str() {
        "log" => printer.print(&message.data),
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
    let (mut all, mut after) = (Vec::new(), Some(0));
    while let Some(from) = after {
        let filters = query(&[
            ("after", Some(from.to_string())),
            ("limit", Some(LOG_PAGE.to_string())),
            ("step", step.map(str::to_owned)),
            ("level", level.clone()),
        ]);
        let page: LogPage = client.get(&format!("/api/runs/{}/logs{filters}", segment(run))).await?.read()?;
        // It always says where to read on, because more may be written, and a page of long lines is short.
        after = page.next.filter(|_| !page.logs.is_empty());
        all.extend(page.logs);
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

    fn print(&self, line: &str) -> Result<()> {
        let read: LogLineJson = serde_json::from_str(line)?;
        // A level that this command does not know is a newer server's, and is shown.
        let is_minor = read.level.parse().is_ok_and(|level: LogLevel| level < self.level);
        if is_minor || self.step.is_some_and(|step| step != read.step_name) {
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

/// A line that a step wrote, for people.
pub(crate) fn log_line(line: &LogLineJson, style: TextStyle) -> String {
    let level = format!("{:<5}", line.level);
    let level = match line.level.as_str() {
        "error" => style.red(level),
        "warn" => style.yellow(level),
        _ => style.dim(level),
    };
    let attempt = if line.attempt > 1 { format!(" (attempt {})", line.attempt) } else { String::new() };
    let fields =
        line.metadata.as_ref().map_or_else(String::new, |fields| style.dim(format_args!("  {fields}")));
    let (at, step) = (style.dim(clock(line.timestamp)), clean(&line.step_name));
    format!("{at}  {level}  {step}{attempt}: {}{fields}", clean(&line.message))
}

async fn ended(client: &ApiClient, run: &str) -> Result<bool> {
    Ok(client.get(&format!("/api/runs/{}", segment(run))).await?.read::<RunJson>()?.status.is_terminal())
}

pub(crate) async fn explain(context: &VerbContext, args: &args::RunsArgs) -> Result<()> {
    each(&context.out, &args.runs, async |given| {
        let (client, run) = context.client_for(given).await?;
        let answer = client.get(&format!("/api/runs/{}/explain", segment(&run))).await?;
        match context.out.format {
            OutputFormat::Json => context.out.json(&answer.text),
            OutputFormat::Ids => context.out.line(&run),
            OutputFormat::Table => {
                let answer: serde_json::Value = answer.read()?;
                context.out.line(clean(answer["explanation"].as_str().unwrap_or_default()))?;
                if client.is_passive() && !is_archive(given) && !ended(&client, &run).await? {
                    note("no server runs this store: it changes only when one does");
                }
                Ok(())
            }
        }
    })
    .await
}
