//! A run as one page that opens anywhere, offline: nothing is loaded, nothing is executed, and all of the run's data is
//! text. The run itself is in it too, for programs.

use std::fmt::Write;

use anyhow::Result;
use rival::failure::FailureRecord;
use rival::{Archive, LogLevel, Path, RunId, Time, Value};
use rival_api::{EventReply, LogReply, RunView, StepMetrics, path_segment};

use super::look;
use crate::client::ApiClient;
use crate::failure::{self, told};
use crate::lines::EventNarrator;
use crate::operations;
use crate::style::TextStyle;
use crate::text::{clock, length, moment};

const STYLE: &str = include_str!("page.css");
/// What the run's own data is found by.
const BEGIN: &str = r#"<script type="application/json" id="rival-run">"#;
const END: &str = "</script>";

/// The data in a page; `None` if the text is no such page. Only an element counts, as a browser finds it: what stands in
/// a comment, in an attribute or in another script is text. Two elements count as none: a reader cannot tell which
/// one is the run that the page shows.
pub(crate) fn embedded(page: &str) -> Option<&str> {
    let (mut rest, mut found) = (page, None);
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        if rest.starts_with("<!--") {
            rest = after(rest, "-->");
        } else if let Some(inside) = rest.strip_prefix(BEGIN) {
            let (data, behind) = inside.split_once(END)?;
            if found.replace(data).is_some() {
                return None;
            }
            rest = behind;
        } else {
            rest = behind_tag(rest);
        }
    }
    found
}

/// What follows a tag; of an element whose content is text, what follows that.
fn behind_tag(text: &str) -> &str {
    let name: &str = text[1..].split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let end = match name.to_ascii_lowercase().as_str() {
        "" => return &text[1..],
        "script" => "</script",
        "style" => "</style",
        "textarea" => "</textarea",
        "title" => "</title",
        _ => return behind_attributes(text),
    };
    let content = behind_attributes(text);
    let lower = content.to_ascii_lowercase();
    lower.find(end).map_or("", |at| &content[at..])
}

fn behind_attributes(tag: &str) -> &str {
    let mut quote = None;
    for (at, c) in tag.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '>') => return &tag[at + 1..],
            (None, _) => {}
        }
    }
    ""
}

fn after<'a>(text: &'a str, end: &str) -> &'a str {
    text.find(end).map_or("", |at| &text[at + end.len()..])
}

/// Writes the page of an archived run, as `client` shows it.
pub(crate) async fn render(client: &ApiClient, archive: &Archive) -> Result<String> {
    let id = archive.run.run_id.as_str();
    let run: RunView = client.get(&format!("/api/runs/{}", path_segment(id))).await?.read()?;
    let events = look::events(client, id, 0).await?;
    let events = events
        .iter()
        .map(|event| serde_json::from_str(event.get()))
        .collect::<Result<Vec<EventReply>, _>>()?;
    let logs = look::all_logs(client, id, None, None).await?;
    let logs =
        logs.iter().map(|line| serde_json::from_str(line.get())).collect::<Result<Vec<LogReply>, _>>()?;
    Ok(ExportPage { run: &run, until: run.ended_at.unwrap_or(archive.exported_at), archive }
        .html(&events, &logs))
}

struct ExportPage<'a> {
    run: &'a RunView,
    archive: &'a Archive,
    /// Where the picture ends.
    until: Time,
}

impl ExportPage<'_> {
    fn html(&self, events: &[EventReply], logs: &[LogReply]) -> String {
        let run = self.run;
        let mut html =
            String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        html += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n";
        html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
        html += &format!(
            "<title>{} {} · {}</title>\n",
            text(&run.workflow),
            run.status,
            text(run.run_id.as_str())
        );
        html += &format!("<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n");
        html += &self.head();
        html += &self.values();
        html += &self.steps();
        html += &log_table(logs);
        html += &event_table(events);
        html += &format!(
            "<footer>Exported by Rival {} on {} UTC. This page needs no network; <code>rival import</code> and \
             <code>rival show</code> read the run from it.</footer>\n</main>\n",
            env!("CARGO_PKG_VERSION"),
            moment(self.archive.exported_at)
        );
        html += &format!("{BEGIN}{}{END}\n</body>\n</html>\n", self.archive.to_embedded());
        html
    }

    fn head(&self) -> String {
        let run = self.run;
        let mut html = format!(
            "<header>\n<div class=\"top\"><h1>{}</h1>{}</div>\n<p class=\"id\">{}</p>\n<dl class=\"facts\">\n",
            text(&run.workflow),
            pill(run.status.word()),
            text(run.run_id.as_str())
        );
        let facts = [
            ("Started (UTC)", Some(moment(run.created_at))),
            (
                if run.ended_at.is_some() { "Took" } else { "Age at export" },
                Some(length(look::took(run, self.until))),
            ),
            ("Events", Some(run.events.to_string())),
            ("Steps begun", Some(run.steps.iter().filter(|step| step.kind == "step").count().to_string())),
            ("Tags", Some(run.tags.join(", ")).filter(|tags| !tags.is_empty())),
            ("Parent", run.parent.as_ref().map(RunId::to_string)),
            ("Goes on from", run.source.as_ref().map(RunId::to_string)),
            ("Goes on as", run.retried_as.as_ref().map(RunId::to_string)),
            ("Plan", Some(run.plan.chars().take(12).collect())),
        ];
        for (name, value) in facts {
            if let Some(value) = value {
                html += &format!("<div><dt>{name}</dt><dd>{}</dd></div>\n", text(&value));
            }
        }
        html += "</dl>\n";
        html += &self.trouble();
        html + "</header>\n"
    }

    /// Why it failed, was cancelled or is blocked.
    fn trouble(&self) -> String {
        let run = self.run;
        let mut html = String::new();
        if let Some(error) = &run.error {
            let at = run
                .failed_step
                .as_ref()
                .map_or_else(String::new, |at| format!(" at <code>{}</code>", text(at.path.as_str())));
            html += &format!(
                "<div class=\"card error\"><b>{}</b>{at}: {}{}</div>\n",
                text(&error.code),
                text(&error.sentence()),
                source(error)
            );
        } else if let Some(why) = run.reason.as_ref().or(run.note.as_ref()) {
            html += &format!("<div class=\"card error\">{}</div>\n", text(why));
        }
        for left in &run.not_undone {
            html += &format!(
                "<div class=\"card error\"><b>not undone</b> <code>{}</code>: {}</div>\n",
                text(left.node.as_str()),
                text(&told(&left.failure))
            );
        }
        html
    }

    fn values(&self) -> String {
        let card = |name: &str, value: &Value| {
            format!("<div class=\"card\"><h3>{name}</h3><pre>{}</pre></div>\n", json(value))
        };
        let output = self.run.output.as_ref().map_or_else(String::new, |output| card("Output", output));
        format!(
            "<h2>Input and output</h2>\n<div class=\"two\">\n{}{output}</div>\n",
            card("Input", &self.run.input)
        )
    }

    fn steps(&self) -> String {
        if self.run.steps.is_empty() {
            return String::new();
        }
        let steps: String = self.run.steps.iter().map(|step| self.step(step)).collect();
        format!("<h2>Steps</h2>\n<div class=\"card\">\n{steps}</div>\n")
    }

    fn step(&self, step: &StepMetrics) -> String {
        let depth = step.path.as_str().matches('/').count();
        let calls =
            if step.calls > 1 { format!("<small>{} calls</small>", step.calls) } else { String::new() };
        let kind =
            if step.kind == "step" { String::new() } else { format!("<small>{}</small>", text(&step.kind)) };
        let took = step.duration.map_or_else(String::new, length);
        format!(
            "<details><summary><span class=\"name\" style=\"padding-left:{}px\">{}{kind}{calls}</span>{}{}<span class=\"num\">{took}</span></summary>\n<div class=\"inside\">{}</div></details>\n",
            depth * 16,
            text(step.path.as_str()),
            pill(step.standing()),
            self.bar(step),
            inside(step, self.until)
        )
    }

    /// Where in the run's time the step was.
    fn bar(&self, step: &StepMetrics) -> String {
        let whole = self.until.ms_since(self.run.created_at).max(1);
        let Some(start) = step.started_at else { return "<span class=\"track\"></span>".to_owned() };
        // Parts of a thousand, because shares of a run's time are small.
        let left = (start.ms_since(self.run.created_at) * 1_000 / whole).min(1_000);
        let lasted = step.duration.unwrap_or_else(|| self.until.ms_since(start));
        let wide = (lasted * 1_000 / whole).min(1_000 - left);
        format!(
            "<span class=\"track\"><i class=\"{}\" style=\"left:{}.{}%;width:{}.{}%\"></i></span>",
            step.standing(),
            left / 10,
            left % 10,
            wide / 10,
            wide % 10
        )
    }
}

fn inside(step: &StepMetrics, until: Time) -> String {
    let mut html = String::new();
    if let Some(description) = look::description(step) {
        html += &format!("<p>{}</p>", text(&description));
    }
    if let Some(error) = &step.error {
        html += &format!(
            "<p class=\"bad\"><b>{}</b>: {}</p>{}",
            text(&error.failure.code),
            text(&error.failure.sentence()),
            source(&error.failure)
        );
    }
    html += &operation_table(step, until);
    if let Some(result) = &step.result {
        html += &format!("<label>Result</label><pre>{}</pre>", json(result));
    }
    if step.state.to_json().as_object().is_some_and(|state| !state.is_empty()) {
        html += &format!("<label>State</label><pre>{}</pre>", json(&step.state));
    }
    if html.is_empty() { "<p>Nothing was recorded.</p>".to_owned() } else { html }
}

/// Where a failure comes from, with the lines around it.
fn source(failure: &FailureRecord) -> String {
    let lines = failure::source(failure, TextStyle::PLAIN);
    if lines.is_empty() { String::new() } else { format!("<pre>{}</pre>", text(&lines.join("\n"))) }
}

/// What the step has asked for durably. All of it: a page is read by scrolling.
fn operation_table(step: &StepMetrics, until: Time) -> String {
    if step.operations.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<label>Durable operations</label><div class=\"scroll\"><table><tr><th>Operation</th><th>Status</th><th>Began (UTC)</th><th>Took</th><th>What came of it</th></tr>\n",
    );
    for operation in &step.operations {
        html += &format!(
            "<tr><td class=\"k\">{}</td><td>{}</td><td class=\"t\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
            text(&operation.label()),
            pill(operation.status.word()),
            operation.started_at.map_or_else(String::new, clock),
            text(&operations::time(operation, until)),
            text(&operations::detail(operation))
        );
    }
    html + "</table></div>"
}

fn log_table(logs: &[LogReply]) -> String {
    if logs.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<h2>Log</h2>\n<div class=\"card scroll\"><table><tr><th>Time (UTC)</th><th>Level</th><th>Step</th><th>Message</th></tr>\n",
    );
    for line in logs {
        let class = match line.level {
            LogLevel::Warn => " class=\"k warn\"",
            LogLevel::Error => " class=\"k err\"",
            _ => " class=\"k\"",
        };
        let fields = line.metadata.as_ref().map_or_else(String::new, |fields| {
            format!(" <code>{}</code>", text(&fields.to_json().to_string()))
        });
        html += &format!(
            "<tr><td class=\"t\">{}</td><td{class}>{}</td><td class=\"k\">{}</td><td>{}{fields}</td></tr>\n",
            clock(line.timestamp),
            line.level,
            text(&line.step_name),
            text(&line.message)
        );
    }
    html + "</table></div>\n"
}

fn event_table(events: &[EventReply]) -> String {
    let mut teller = EventNarrator::default();
    let mut html = String::from(
        "<h2>Everything that happened</h2>\n<div class=\"card scroll\"><table><tr><th>#</th><th>Time (UTC)</th><th>Event</th><th>Node</th><th>What it means</th></tr>\n",
    );
    for event in events {
        let means = teller.tell(event).unwrap_or_default();
        let means = means.split_once(": ").map_or(means.as_str(), |(_, means)| means);
        html += &format!(
            "<tr><td class=\"n\">{}</td><td class=\"t\">{}</td><td class=\"k\">{}</td><td>{}</td><td>{}</td></tr>\n",
            event.seq,
            clock(event.at),
            text(&event.r#type),
            text(event.node.as_ref().map_or("", Path::as_str)),
            text(means)
        );
    }
    html + "</table></div>\n"
}

fn pill(status: &str) -> String {
    let status = text(status);
    format!("<span class=\"pill {status}\">{}</span>", status.replace('_', " "))
}

fn json(value: &Value) -> String {
    text(&serde_json::to_string_pretty(&value.to_json()).unwrap_or_default())
}

/// Data as text: nothing in it means anything to a browser.
fn text(data: &str) -> String {
    let mut html = String::with_capacity(data.len());
    for c in data.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            // Writing to a string cannot fail.
            c if c.is_control() && c != '\n' && c != '\t' => drop(write!(html, "\\u{{{:x}}}", u32::from(c))),
            c => html.push(c),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_stays_data() {
        assert_eq!(
            text("<b onclick=\"x('&')\">\u{1b}"),
            "&lt;b onclick=&quot;x(&#39;&amp;&#39;)&quot;&gt;\\u{1b}"
        );
    }

    #[test]
    fn the_data_is_found_in_a_page() {
        let data = |text: &str| format!("{BEGIN}{text}{END}");
        let (one, other) = (data("1"), data("2"));
        let found = [
            format!("<p>{one}</p>"),
            format!("<!-- {other} --><title>{other}</title><p>it's 1 < 2</p>{one}"),
            format!("<p title='{other}'>{one}</p><!-- saved -->"),
            format!("<STYLE>{other}</STYLE><script>'{BEGIN}2'</script>{one}"),
        ];
        for page in &found {
            assert_eq!(embedded(page), Some("1"), "{page}");
        }
        for page in [format!("{one}{other}"), format!("<!-- {one}"), format!("<p title=\"{one}")] {
            assert_eq!(embedded(&page), None, "{page}");
        }
        assert_eq!(embedded("{\"format\": \"rival-run\"}"), None);
    }
}
