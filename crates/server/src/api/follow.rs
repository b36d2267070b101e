//! Following one run: its events and the lines of its log, in order, as they become durable.

use std::collections::VecDeque;
use std::time::Duration;

use futures::stream::{self, BoxStream, Stream, StreamExt};
use rival_api::EventReply;
use rival_core::{Event, RunId, Seq};
use rival_engine::RunError;
use rival_store::{LogFilter, LogLine};
use tokio::time::{Interval, MissedTickBehavior};

use super::convert::log_reply;
use crate::app::AppState;

/// How often log lines are looked for while a step is at work.
const LOG_LOOK: Duration = Duration::from_millis(500);
/// How many log lines are read at a time.
const LOG_PAGE: usize = 500;

/// Where a client is in a run: after this event and this line of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RunPosition {
    pub(super) event: Seq,
    pub(super) line: u64,
}

impl RunPosition {
    /// `17`, or `17-203` for a client that follows the log, too.
    pub(super) fn text(self, logs: bool) -> String {
        let Self { event, line } = self;
        if logs { format!("{event}-{line}") } else { event.to_string() }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.parse::<u64>().ok().filter(|number| i64::try_from(*number).is_ok());
        let (event, line) = match text.split_once('-') {
            Some((event, line)) => (number(event)?, number(line)?),
            None => (number(text)?, 0),
        };
        Some(Self { event: Seq(event), line })
    }
}

/// An event or a line.
pub(super) struct FollowedItem {
    /// The event's type, or `log`.
    pub(super) kind: String,
    /// Itself, as JSON.
    pub(super) data: String,
    /// Where a client is that has seen it.
    pub(super) position: RunPosition,
}

/// What happens in a run. It is read from the store, so a client that is slow holds nothing up and is kept nothing for.
pub(super) struct RunFollower {
    position: RunPosition,
    events: BoxStream<'static, Result<Event, RunError>>,
    logs: Option<LogTail>,
    ready: VecDeque<FollowedItem>,
    /// What is given when all lines that were written before it have been.
    after_lines: Option<Event>,
    reading_lines: bool,
    ended: bool,
}

impl RunFollower {
    /// Follows a run from there on. `None` if it has ended, and a client that is not at its beginning has seen all.
    pub(super) async fn new(
        app: &AppState,
        run: RunId,
        position: RunPosition,
        logs: bool,
    ) -> Result<Option<Self>, RunError> {
        let has_ended = app.engine.summary(&run).await?.status.is_terminal();
        let events = app.engine.subscribe(&run, position.event);
        let logs = logs.then(|| LogTail::new(app, &run));
        if has_ended && position != RunPosition::default() {
            let lines = match &logs {
                Some(logs) => logs.lines_after(position.line, 1).await?,
                None => Vec::new(),
            };
            if lines.is_empty() && app.engine.events(&run, position.event, 1).await?.is_empty() {
                return Ok(None);
            }
        }
        let (ready, after_lines) = (VecDeque::new(), None);
        Ok(Some(Self { position, events, logs, ready, after_lines, reading_lines: false, ended: false }))
    }

    /// All that happens, until the run has ended.
    pub(super) fn items(self) -> impl Stream<Item = FollowedItem> + Send {
        stream::unfold(self, |mut follower| async move { Some((follower.next().await?, follower)) })
    }

    async fn next(&mut self) -> Option<FollowedItem> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(item);
            }
            if self.reading_lines {
                self.read_lines().await;
                continue;
            }
            if self.ended {
                return None;
            }
            tokio::select! {
                biased;
                event = self.events.next() => self.heard(event),
                () = tick(&mut self.logs) => self.reading_lines = true,
            }
        }
    }

    fn heard(&mut self, event: Option<Result<Event, RunError>>) {
        match event {
            Some(Ok(event)) => self.after_lines = Some(event),
            // The client comes back and goes on after the last event that it has seen.
            Some(Err(_)) | None => self.ended = true,
        }
        // What a step wrote is stored with its outcome, so it is there before the outcome is given.
        self.reading_lines = true;
    }

    /// A page at a time: a step may have written more than fits into memory.
    async fn read_lines(&mut self) {
        let lines = match &self.logs {
            // What cannot be read now is read at the next look.
            Some(logs) => logs.lines_after(self.position.line, LOG_PAGE).await.unwrap_or_default(),
            None => Vec::new(),
        };
        self.reading_lines = !lines.is_empty();
        for line in lines {
            self.position.line = line.no;
            let data = serde_json::to_string(&log_reply(line)).expect("a line has only string keys");
            self.give("log".to_owned(), data);
        }
        if !self.reading_lines
            && let Some(event) = self.after_lines.take()
        {
            self.position.event = event.seq;
            let event = EventReply::from(&event);
            let data = serde_json::to_string(&event).expect("an event has only string keys");
            self.give(event.r#type, data);
        }
    }

    fn give(&mut self, kind: String, data: String) {
        self.ready.push_back(FollowedItem { kind, data, position: self.position });
    }
}

async fn tick(logs: &mut Option<LogTail>) {
    match logs {
        Some(logs) => {
            logs.interval.tick().await;
        }
        None => std::future::pending().await,
    }
}

/// The log of a run, looked at from time to time.
struct LogTail {
    app: AppState,
    run: RunId,
    interval: Interval,
}

impl LogTail {
    fn new(app: &AppState, run: &RunId) -> Self {
        let mut interval = tokio::time::interval(LOG_LOOK);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { app: app.clone(), run: run.clone(), interval }
    }

    async fn lines_after(&self, line: u64, limit: usize) -> Result<Vec<LogLine>, RunError> {
        let filter = LogFilter { after: Some(line), limit: Some(limit), ..LogFilter::default() };
        self.app.engine.logs(&self.run, &filter).await
    }
}
