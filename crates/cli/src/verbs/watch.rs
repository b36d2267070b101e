//! `watch`: a run as a live tree of its steps on a terminal, as lines elsewhere; or all runs, as they change.

use std::collections::VecDeque;
use std::time::Duration;

use anyhow::Result;
use rival::Clock;
use rival_api::{EventReply, Graph, LogReply, RunListReply, RunSummary, RunView, SseMessage, path_segment};
use rival_core::plan::is_system_workflow;

use super::look::{self, log_line};
use super::{VerbContext, start};
use crate::args;
use crate::client::{ApiClient, OfflineNeed, query};
use crate::event_data::EventData;
use crate::exit::ExitError;
use crate::lines::EventNarrator;
use crate::live_run::LiveRun;
use crate::out::{DataOutput, OutputFormat, note};
use crate::screen::LiveScreen;
use crate::sse::SseStream;
use crate::text::clock;
use crate::tree;

/// How often a terminal is drawn.
const FRAME: Duration = Duration::from_millis(120);
/// How long to wait before a stream that broke off is asked for again, and how often.
const PAUSE: Duration = Duration::from_secs(1);
const TRIES_MAX: u32 = 30;
/// What is said where changes may not have been told.
const MISSED: &str = "some changes may be missing here; `rival list` shows how runs stand";
/// How many of all runs are shown.
const NEWEST: usize = 20;

pub(crate) async fn watch(context: &VerbContext, args: &args::WatchArgs) -> Result<()> {
    let Some(run) = &args.run else { return watch_all(context, args.workflow.as_deref()).await };
    let (client, run) = context.client_for(run).await?;
    if client.is_passive() {
        return show_what_there_is(context, &client, &run).await;
    }
    if context.out.terminal && context.out.format == OutputFormat::Table {
        watch_screen(&client, &run, LiveScreen::on_stdout(context.out.style)).await?;
    } else {
        watch_lines(context, &client, &run).await?;
    }
    start::conclude(&client, &run).await
}

/// Nothing happens on a store that no engine has: tell what happened so far.
async fn show_what_there_is(context: &VerbContext, client: &ApiClient, run: &str) -> Result<()> {
    let mut printer = RunPrinter::new(&context.out);
    for event in look::events(client, run, 0).await? {
        printer.event(event.get())?;
    }
    let run_now: RunView = client.get(&format!("/api/runs/{}", path_segment(run))).await?.read()?;
    if run_now.status.is_terminal() {
        return start::conclude(client, run).await;
    }
    let message = format!("run `{run}` is {}, and no server runs this store", run_now.status);
    Err(ExitError::error(message).hint("start one with `rival serve` or `rival dev`, and it goes on").into())
}

async fn watch_lines(context: &VerbContext, client: &ApiClient, run: &str) -> Result<()> {
    let mut printer = RunPrinter::new(&context.out);
    follow(client, run, true, async |message| match message.event.as_str() {
        "log" => printer.log(&message.data),
        _ => printer.event(&message.data),
    })
    .await
}

/// Prints what happens, a line each.
struct RunPrinter<'a> {
    out: &'a DataOutput,
    teller: EventNarrator,
    /// What steps wrote, until an event shows when: lines come with the outcome of their step, and before it.
    lines: VecDeque<LogReply>,
}

impl<'a> RunPrinter<'a> {
    fn new(out: &'a DataOutput) -> Self {
        Self { out, teller: EventNarrator::default(), lines: VecDeque::new() }
    }

    fn event(&mut self, json: &str) -> Result<()> {
        match self.out.format {
            OutputFormat::Json => self.out.line(json),
            OutputFormat::Ids => Ok(()),
            OutputFormat::Table => {
                let event: EventReply = serde_json::from_str(json)?;
                self.lines_before(&event)?;
                let Some(text) = self.teller.tell(&event) else { return Ok(()) };
                self.out.line(format_args!("{}  {text}", self.out.style.dim(clock(event.at))))
            }
        }
    }

    fn log(&mut self, json: &str) -> Result<()> {
        if self.out.format == OutputFormat::Table {
            self.lines.push_back(serde_json::from_str(json)?);
        }
        Ok(())
    }

    /// Lines of an earlier moment, and of the same moment those of the call that ends, or asks for something durable, with this
    /// event: it wrote them before. Nothing comes after a run's end.
    fn lines_before(&mut self, event: &EventReply) -> Result<()> {
        let call = EventData::of(event).and_then(|data| data.call);
        let ends = |kind: &str| kind.starts_with("call") && kind != "callStarted";
        let ended = call.filter(|_| ends(&event.r#type));
        let asked = call.filter(|_| event.r#type == "opStarted");
        let before = |line: &mut LogReply| {
            let of_node = event.node.as_ref().is_some_and(|node| node.as_str() == line.step_name);
            let of_call = |call: Option<u32>| of_node && call == Some(line.call);
            let before_it_asked = of_call(asked) && line.timestamp == event.at;
            line.timestamp < event.at || of_call(ended) || before_it_asked || is_end(&event.r#type)
        };
        while let Some(line) = self.lines.pop_front_if(before) {
            self.out.line(log_line(&line, self.out.style))?;
        }
        Ok(())
    }
}

/// Follows a run to its end, also when the server is started again meanwhile.
pub(crate) async fn follow(
    client: &ApiClient,
    run: &str,
    logs: bool,
    mut heard: impl AsyncFnMut(&SseMessage) -> Result<()>,
) -> Result<()> {
    let path = format!("/api/runs/{}/stream?logs={logs}", path_segment(run));
    let (mut last, mut tries) = (None::<String>, 0);
    loop {
        let stream = match client.follow(&path, last.as_deref()).await {
            Ok(None) => return Ok(()),
            Ok(Some(stream)) => Some(stream),
            // Refused at the first try: it is not going to be better.
            Err(error) if last.is_none() || refused(&error) => return Err(error),
            Err(_) => None,
        };
        if let Some(mut stream) = stream {
            while let Ok(Some(message)) = stream.next().await {
                tries = 0;
                heard(&message).await?;
                if is_end(&message.event) {
                    return Ok(());
                }
                last = message.id.or(last);
            }
        }
        try_again(&mut tries).await?;
    }
}

/// Waits a little before a server that went away is asked again; not for ever.
pub(super) async fn try_again(tries: &mut u32) -> Result<()> {
    *tries += 1;
    if *tries > TRIES_MAX {
        return Err(ExitError::error("the server went away").into());
    }
    if *tries == 2 {
        note("the connection broke off; trying again");
    }
    tokio::time::sleep(PAUSE).await;
    Ok(())
}

/// Whether the server has answered, and will not answer otherwise.
pub(super) fn refused(error: &anyhow::Error) -> bool {
    let code = error.downcast_ref::<ExitError>().and_then(|failed| failed.code.as_deref());
    code.is_some_and(|code| code != "shutting_down")
}

pub(crate) fn is_end(event: &str) -> bool {
    matches!(event, "runCompleted" | "runFailed" | "runCancelled")
}

/// Draws a run until it has ended: as its events say, and now and then because time passes.
pub(crate) async fn watch_screen(client: &ApiClient, run: &str, mut screen: LiveScreen) -> Result<()> {
    let id = path_segment(run);
    let graph: Graph = client.get(&format!("/api/runs/{id}/graph")).await?.read()?;
    let (told, mut news) = tokio::sync::mpsc::unbounded_channel::<EventReply>();
    let following = follow(client, run, false, async |message| {
        // The drawing listens as long as it needs to.
        let _ = told.send(serde_json::from_str(&message.data)?);
        Ok(())
    });
    let shown = async || client.get(&format!("/api/runs/{id}")).await?.read::<RunView>();
    let drawing = async {
        let mut live = LiveRun::new(&graph, shown().await?);
        loop {
            let mut known = true;
            while let Ok(event) = news.try_recv() {
                known &= live.apply(&event);
            }
            if !known || live.has_ended() {
                live.view = shown().await?;
            }
            let lines = tree::draw(&live.view, &graph, screen.style, screen.turn, Clock::System.now());
            screen.draw(lines)?;
            if live.view.status.is_terminal() {
                return Ok(());
            }
            tokio::time::sleep(FRAME).await;
        }
    };
    tokio::pin!(following, drawing);
    tokio::select! {
        drawn = &mut drawing => drawn,
        // The last event has been heard: draw until it shows.
        followed = &mut following => match followed {
            Ok(()) => drawing.await,
            Err(error) => Err(error),
        },
    }
}

async fn watch_all(context: &VerbContext, workflow: Option<&str>) -> Result<()> {
    let client = context.client(OfflineNeed::Store).await?;
    if client.is_passive() {
        return Err(ExitError::error("no server runs this store: there is nothing to watch")
            .hint("start one with `rival serve` or `rival dev`; `rival list` shows what there is")
            .into());
    }
    let path = format!("/api/stream{}", query(&[("workflow", workflow.map(str::to_owned))]));
    let out = &context.out;
    let live = out.terminal && out.format == OutputFormat::Table;
    let mut board = live.then(|| Board::new(out, &client, workflow));
    let mut tries = 0;
    loop {
        match client.follow(&path, None).await {
            Ok(Some(stream)) => {
                if tries > 0 && board.is_none() {
                    note(MISSED);
                }
                tries = 0;
                watch_stream(stream, out, board.as_mut()).await?;
            }
            Ok(None) => {}
            // Refused at the first try: it is not going to be better.
            Err(error) if tries == 0 || refused(&error) => return Err(error),
            Err(_) => {}
        }
        try_again(&mut tries).await?;
    }
}

/// Shows what a stream of all runs says, for as long as it lasts.
async fn watch_stream(
    mut stream: SseStream,
    out: &DataOutput,
    mut board: Option<&mut Board<'_>>,
) -> Result<()> {
    if let Some(board) = &mut board {
        board.list().await?;
    }
    while let Ok(Some(message)) = stream.next().await {
        match (&mut board, message.event.as_str()) {
            (Some(board), "reset") => board.list().await?,
            (None, "reset") => note(MISSED),
            (Some(board), _) => board.put(serde_json::from_str(&message.data)?)?,
            (None, _) => change(out, &serde_json::from_str(&message.data)?, &message.data)?,
        }
    }
    Ok(())
}

fn change(out: &DataOutput, run: &RunSummary, json: &str) -> Result<()> {
    match out.format {
        OutputFormat::Json => out.line(json),
        OutputFormat::Ids => out.line(&run.run_id),
        OutputFormat::Table => {
            let at = out.style.dim(clock(Clock::System.now()));
            out.line(format_args!(
                "{at}  {}  {}  {}",
                run.run_id,
                run.workflow,
                out.style.status(run.status.word())
            ))
        }
    }
}

/// The newest runs on a terminal.
struct Board<'a> {
    out: &'a DataOutput,
    client: &'a ApiClient,
    workflow: Option<&'a str>,
    screen: LiveScreen,
    runs: Vec<RunSummary>,
}

impl<'a> Board<'a> {
    fn new(out: &'a DataOutput, client: &'a ApiClient, workflow: Option<&'a str>) -> Self {
        Self { out, client, workflow, screen: LiveScreen::on_stdout(out.style), runs: Vec::new() }
    }

    /// Whether children are left out: those of one workflow may be all that there is to see.
    fn folds(&self) -> bool {
        self.workflow.is_none()
    }

    async fn list(&mut self) -> Result<()> {
        let filter = [
            ("workflow", self.workflow.map(str::to_owned)),
            ("roots", self.folds().then(|| "true".to_owned())),
            ("limit", Some(NEWEST.to_string())),
        ];
        let page: RunListReply = self.client.get(&format!("/api/runs{}", query(&filter))).await?.read()?;
        // How many they have is only known for this moment.
        self.runs = page.items.into_iter().map(|run| RunSummary { children: None, ..run }).collect();
        self.draw()
    }

    fn put(&mut self, run: RunSummary) -> Result<()> {
        if self.folds() && (run.parent.is_some() || is_system_workflow(&run.workflow)) {
            return Ok(());
        }
        match self.runs.iter_mut().find(|known| known.run_id == run.run_id) {
            Some(known) => *known = run,
            None => self.runs.insert(0, run),
        }
        self.runs.truncate(NEWEST);
        self.draw()
    }

    fn draw(&mut self) -> Result<()> {
        let style = self.out.style;
        if self.runs.is_empty() {
            return Ok(self.screen.draw(vec![style.dim("no runs yet; Ctrl-C ends this").into()])?);
        }
        let table = look::run_table(&self.runs, self.out);
        let lines = table.show(style, self.out.width).lines().map(|line| line.to_owned().into()).collect();
        Ok(self.screen.draw(lines)?)
    }
}
