//! What the process itself logs, on stderr.

use std::fmt;
use std::io::{self, IsTerminal, Write};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::ResolvedConfig;
use crate::out::{clean, visible};
use crate::style::TextStyle;
use crate::text::clock;

/// The field of an event that holds lines of source.
pub(crate) const SOURCE: &str = "source";

/// How much a command logs by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefaultVerbosity {
    /// A server in production: logs as the settings say, by default as JSON if stderr is not a terminal.
    Server,
    /// A server that a developer watches.
    Dev,
    /// Only what is wrong.
    Quiet,
}

/// Begins to log.
pub(crate) fn start(voice: DefaultVerbosity, config: &ResolvedConfig) {
    let (filter, chosen) = config.log();
    let filter = match voice {
        _ if chosen => filter,
        DefaultVerbosity::Server => filter,
        // Every request would be a line, and what comes of it another.
        DefaultVerbosity::Dev => "info,rival_server=warn",
        // What becomes of connections is what such a command prints.
        DefaultVerbosity::Quiet => "warn,rival_mcp=error",
    };
    let terminal = std::io::stderr().is_terminal();
    let style = TextStyle::of(terminal);
    let json = config.log_json().unwrap_or(voice == DefaultVerbosity::Server && !terminal);
    let layer = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    // The library that speaks with MCP servers logs what they say, secrets among it: whatever the filter asks for, that is
    // not written. What is to be known of connections is logged by `rival_mcp`.
    let without_protocol = filter_fn(|event| !event.target().starts_with("rmcp"));
    let registry = tracing_subscriber::registry().with(EnvFilter::new(filter)).with(without_protocol);
    match voice {
        _ if json => registry.with(layer.with_writer(|| EventLines).json().flatten_event(true)).init(),
        DefaultVerbosity::Dev => registry.with(layer.event_format(ForPeople { style })).init(),
        DefaultVerbosity::Server | DefaultVerbosity::Quiet => {
            registry.with(layer.with_writer(|| EventLines).with_ansi(style.colour)).init();
        }
    }
}

/// Writes each event as one line: what others wrote cannot forge another.
struct EventLines;

impl Write for EventLines {
    /// Is given one event at a time, with the end of its line.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        io::stderr().lock().write_all(one_line(&text).as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

fn one_line(event: &str) -> String {
    let line = event.strip_suffix('\n').unwrap_or(event).replace('\n', "\\n");
    visible(&line).into_owned() + "\n"
}

/// One line for people: when, in which run, what.
struct ForPeople {
    style: TextStyle,
}

impl<S, N> FormatEvent<S, N> for ForPeople
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let style = self.style;
        let mut said = LogFields::default();
        event.record(&mut said);
        write!(out, "{}  ", style.dim(clock(rival::Clock::System.now())))?;
        match *event.metadata().level() {
            Level::ERROR => write!(out, "{}  ", style.red("error"))?,
            Level::WARN => write!(out, "{}  ", style.yellow("warning"))?,
            _ => {}
        }
        if let Some(run) = &said.run {
            write!(out, "{}  ", style.dim(run))?;
        }
        // A line that a step wrote, in a run.
        if event.metadata().target() == "rival::step" {
            // The root stands for the run itself, as for its error handler.
            let node = if said.node.is_empty() { "run" } else { &said.node };
            return writeln!(out, "{node}: | {}{}", said.message, style.dim(said.fields));
        }
        writeln!(out, "{}{}", said.message, style.dim(said.others))?;
        for line in &said.source {
            writeln!(out, "    {line}")?;
        }
        said.advice.map_or(Ok(()), |advice| writeln!(out, "    {advice}"))
    }
}

/// What an event says.
#[derive(Default)]
struct LogFields {
    message: String,
    run: Option<String>,
    node: String,
    /// What the author of a step gave beside the message, as JSON.
    fields: String,
    /// What to do, on a line of its own.
    advice: Option<String>,
    /// The source that a failure comes from.
    source: Vec<String>,
    others: String,
}

impl Visit for LogFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == SOURCE {
            self.source = format!("{value:?}").lines().map(|line| visible(line).into_owned()).collect();
            return;
        }
        let text = clean(&format!("{value:?}"));
        match field.name() {
            "message" => self.message = text,
            "run" => self.run = Some(text),
            "node" => self.node = text,
            "fields" if !text.is_empty() => self.fields = format!("  {text}"),
            "fields" => {}
            "advice" => self.advice = Some(text),
            name => self.others += &format!("  {name}={text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_whatever_it_says() {
        assert_eq!(one_line("INFO x: a\nINFO forged\n"), "INFO x: a\\nINFO forged\n");
        assert_eq!(
            one_line("\x1b[32mINFO\x1b[0m \u{9b}2J\u{202e}\n"),
            "\x1b[32mINFO\x1b[0m \\u009b2J\\u202e\n"
        );
    }
}
