//! `rival demo`: an order that survives being killed, to be watched and to be killed.

mod screen;

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use futures::StreamExt;
use rival::event::EventKind;
use rival::prelude::*;
use rival::{
    Event, LogFilter, NodeStatus, Page, RunFilter, RunId, RunOutcome, RunStatus, Seq, SqliteStore,
    StepMetrics, StoreError, Time,
};
use rival_api::EventReply;

use screen::DemoScreen;

use crate::examples::order::{Order, Shipped};
use crate::examples::{self, order};
use crate::lines::EventNarrator;
use crate::style::TextStyle;
use crate::text::{clock, length};
use crate::{exit, signals};

/// How long calls at work may take to finish after Ctrl-C.
const GRACE: Duration = Duration::from_secs(5);
/// How often a terminal is drawn.
const FRAME: Duration = Duration::from_millis(100);

/// Runs the demo: goes on with an order that is under way, or takes a new one.
pub(crate) async fn run(data: &Path, pace: Duration) -> Result<ExitCode> {
    let terminal = std::io::stdout().is_terminal();
    let style = TextStyle::of(terminal);
    std::fs::create_dir_all(data).with_context(|| format!("cannot make the folder {}", data.display()))?;
    let file = data.join("rival.db");
    let workflow = order::workflow(pace)?;
    let start = rival::Clock::System.now();
    // Shared, so that the history can be read once more after the engine has stopped.
    let store = Arc::new(SqliteStore::open(&file).map_err(|error| opening(error, data))?);
    // All examples, so that no run of `rival dev` on the same store is held up.
    let engine = examples::add(Engine::builder().store(store), &file, pace)?.build().await?;
    println!("{}  store {}", style.bold("rival demo"), file.display());

    let demo = match under_way(&engine).await? {
        Some(run) => DemoRun::found(engine, run, nodes(&workflow), start, style).await?,
        None => DemoRun::started(engine, &workflow, start, style).await?,
    };
    println!("{}\n", style.dim(hint(terminal)));
    let end = tokio::select! {
        ended = demo.watch(terminal) => {
            ended?;
            None
        },
        _ = signals::first() => Some(()),
    };
    match end {
        None => demo.sum_up().await,
        Some(()) => demo.stop().await,
    }
}

fn opening(error: StoreError, data: &Path) -> anyhow::Error {
    let advice = match &error {
        StoreError::Locked(_) => {
            "the demo runs already; end that one, or give this one another folder with --data"
        }
        _ => "the demo needs a folder that it can write to",
    };
    anyhow::Error::new(error).context(format!("cannot open the store in {}: {advice}", data.display()))
}

fn hint(terminal: bool) -> &'static str {
    if terminal {
        "Ctrl-C stops in order, kill -9 does not; start it again either way, and it goes on."
    } else {
        "SIGINT stops in order, SIGKILL does not; start it again either way, and it goes on."
    }
}

/// The order that an earlier start left behind, the newest if there are several.
async fn under_way(engine: &Engine) -> Result<Option<RunId>> {
    let open = RunStatus::unfinished().collect();
    let filter = RunFilter { workflow: Some(order::NAME.into()), statuses: open, ..RunFilter::default() };
    let rows = engine.runs(&filter, &Page { before: None, limit: 1 }).await?;
    Ok(rows.into_iter().next().map(|row| row.id))
}

/// A run that is being watched.
struct DemoRun {
    engine: Engine,
    run: RunId,
    style: TextStyle,
    /// The ids of the workflow's nodes, in order.
    nodes: Vec<String>,
    /// When this start began.
    start: Time,
    /// The last event that an earlier start wrote.
    seen: Seq,
    /// The steps that an earlier start completed.
    before: BTreeSet<String>,
}

impl DemoRun {
    async fn started(
        engine: Engine,
        workflow: &Workflow<Order, Shipped>,
        start: Time,
        style: TextStyle,
    ) -> Result<Self> {
        let run = engine.run(workflow, Order::sample()).await?.id().clone();
        println!("new run {}", style.cyan(&run));
        Ok(Self {
            engine,
            run,
            style,
            nodes: nodes(workflow),
            start,
            seen: Seq::ZERO,
            before: BTreeSet::new(),
        })
    }

    async fn found(
        engine: Engine,
        run: RunId,
        nodes: Vec<String>,
        start: Time,
        style: TextStyle,
    ) -> Result<Self> {
        let history = engine.history(&run).await?;
        // The engine goes on at once, so some of these may be of this start.
        let old: Vec<&Event> = history.iter().take_while(|event| event.at < start).collect();
        let seen = old.last().map_or(Seq::ZERO, |event| event.seq);
        let before: BTreeSet<String> = old.iter().filter_map(|event| ended(event)).collect();
        let next = next(&nodes, &before);
        println!("found run {} under way; going on at step {}", style.cyan(&run), style.bold(next));
        if !before.is_empty() {
            let names: Vec<&str> =
                nodes.iter().map(String::as_str).filter(|node| before.contains(*node)).collect();
            println!("done already, and not run again: {}", style.green(names.join(", ")));
        }
        Ok(Self { engine, run, style, nodes, start, seen, before })
    }

    /// Shows the run until it has ended.
    async fn watch(&self, terminal: bool) -> Result<()> {
        if terminal { self.watch_screen().await } else { self.watch_lines().await }
    }

    async fn watch_screen(&self) -> Result<()> {
        let mut screen = DemoScreen::new(self.style, self.nodes.clone(), self.before.clone());
        loop {
            let view = self.engine.get(&self.run).await?;
            let logs = self.engine.logs(&self.run, &LogFilter::default()).await?;
            screen.draw(&view, &logs, rival::Clock::System.now())?;
            if view.status.is_terminal() {
                return Ok(());
            }
            tokio::time::sleep(FRAME).await;
        }
    }

    async fn watch_lines(&self) -> Result<()> {
        let mut events = self.engine.subscribe(&self.run, self.seen);
        let (mut shown, mut teller) = (0, EventNarrator::default());
        while let Some(event) = events.next().await {
            let event = event?;
            // What a step wrote is stored with its outcome, so it is there before the outcome is shown.
            let logs = self.engine.logs(&self.run, &LogFilter::default()).await?;
            let new = logs.iter().skip(shown).filter(|line| line.at >= self.start);
            new.for_each(|line| println!("{}  {}: | {}", clock(line.at), line.node, line.message));
            shown = logs.len();
            if let Some(line) = teller.tell(&EventReply::from(&event)) {
                println!("{}  {line}", clock(event.at));
            }
        }
        Ok(())
    }

    /// Stops in order: calls at work may finish, and what they return is recorded.
    async fn stop(&self) -> Result<ExitCode> {
        println!("\nstopping: what is at work may finish, nothing new starts (again to leave at once)");
        self.engine.shutdown(GRACE).await;
        let done: BTreeSet<String> = self.engine.history(&self.run).await?.iter().filter_map(ended).collect();
        let (count, all) = (done.len(), self.nodes.len());
        println!(
            "stopped with {count} of {all} steps done; `rival demo` goes on at {}",
            next(&self.nodes, &done)
        );
        Ok(ExitCode::from(exit::INTERRUPTED))
    }

    async fn sum_up(&self) -> Result<ExitCode> {
        let style = self.style;
        let outcome = self.engine.wait(&self.run).await?;
        let view = self.engine.get(&self.run).await?;
        let logs = self.engine.logs(&self.run, &LogFilter::default()).await?.len();
        let took = view.ended_at.map_or(0, |end| end.ms_since(view.created_at));
        println!("\n{} after {}: {}", self.ending(&outcome), length(took), result(&outcome));
        view.steps.iter().filter_map(remark).for_each(|remark| println!("  {remark}"));
        let events = view.events.0;
        let kept =
            format!("{events} events and {logs} log lines are in the store; start it again for a new order");
        println!("{}", style.dim(kept));
        self.engine.shutdown(GRACE).await;
        Ok(if outcome.status == RunStatus::Completed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn ending(&self, outcome: &RunOutcome) -> String {
        match outcome.status {
            RunStatus::Completed => self.style.green("completed"),
            other => self.style.red(other),
        }
    }
}

fn result(outcome: &RunOutcome) -> String {
    match (&outcome.output, &outcome.error) {
        (Some(output), _) => output.as_json().to_owned(),
        (None, Some(error)) => error.to_string(),
        (None, None) => outcome.reason.clone().unwrap_or_default(),
    }
}

fn nodes(workflow: &Workflow<Order, Shipped>) -> Vec<String> {
    workflow.plan().block.nodes.iter().map(|node| node.id.clone()).collect()
}

/// What is worth saying about a step that is done.
fn remark(step: &StepMetrics) -> Option<String> {
    let name = &step.name;
    let error = step.error.as_ref().map_or("", |error| error.failure.message.as_str());
    let cut = step.calls.saturating_sub(step.retry_count + 1);
    match (step.status, step.retry_count, cut) {
        (NodeStatus::Failed, ..) => Some(format!("{name} failed and the run went on: {error}")),
        (_, 0, 0) => None,
        (_, 0, cut) => Some(format!("{name} was called again after being cut short ({cut})")),
        (_, retries, 0) => Some(format!("{name} took {} attempts: {error}", retries + 1)),
        (_, retries, cut) => {
            Some(format!("{name} took {} attempts: {error}; calls cut short: {cut}", retries + 1))
        }
    }
}

/// The first node that is not done.
fn next<'a>(nodes: &'a [String], done: &BTreeSet<String>) -> &'a str {
    nodes.iter().find(|node| !done.contains(*node)).map_or("its end", String::as_str)
}

/// The step that ended with this event and will not be called again.
fn ended(event: &Event) -> Option<String> {
    let (EventKind::CallSucceeded { node, .. }
    | EventKind::SleepEnded { node }
    | EventKind::CallFailed { node, verdict: rival::event::FailureVerdict::Continue, .. }) = &event.kind
    else {
        return None;
    };
    Some(node.to_string())
}
