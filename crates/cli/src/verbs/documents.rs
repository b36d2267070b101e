//! Workflows as documents: `documents`, and `validate` of a document.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use axum::http::{HeaderName, header};
use rival_api::{
    DocumentCheckReply, DocumentListReply, DocumentReply, DocumentSavedReply, DocumentSummary,
    DocumentVersionsReply, ViolationReply, path_segment,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{GIVEN_MAX_BYTES, VerbContext, connections, workflows};
use crate::args::{DocumentsVerb, ValidateArgs};
use crate::client::{ApiClient, OfflineNeed};
use crate::exit::ExitError;
use crate::out::{DataOutput, OutputFormat, clean, note};
use crate::read;
use crate::table::TextTable;
use crate::text::moment;

/// How many documents or versions are asked for at once.
const PAGE: usize = 1_000;

/// Checks a document, or an input. What names a file is a document.
pub(crate) async fn validate(context: &VerbContext, args: &ValidateArgs) -> Result<()> {
    let subject = args.subject.as_str();
    let is_file = subject == "-" || subject.ends_with(".json") || Path::new(subject).is_file();
    if args.input.is_some() || !is_file {
        return workflows::validate(context, subject, args.input.as_deref()).await;
    }
    let source = DocumentSource::read(subject).await?;
    let client = context.client(OfflineNeed::Check).await?;
    for connection in connections_in(&source.text) {
        connections::read_tools(&client, &connection).await?;
    }
    let answer = client.post_text("/api/documents/validate", source.text.clone()).await?;
    let check: DocumentCheckReply = answer.read()?;
    let out = &context.out;
    match out.format {
        OutputFormat::Json => out.json(&answer.text)?,
        OutputFormat::Ids => {}
        OutputFormat::Table => {
            source.tell(out, &check)?;
            if check.valid {
                out.line("valid")?;
            }
        }
    }
    if check.valid { Ok(()) } else { Err(source.invalid(&check).into()) }
}

pub(crate) async fn documents(context: &VerbContext, verb: Option<DocumentsVerb>) -> Result<()> {
    match verb.unwrap_or(DocumentsVerb::List) {
        DocumentsVerb::List => list(context).await,
        DocumentsVerb::Show { name, version } => show(context, &name, version).await,
        DocumentsVerb::Create { file } => {
            save(context, &file, Some((header::IF_NONE_MATCH, "*".to_owned()))).await
        }
        DocumentsVerb::Put { file, if_version } => save(context, &file, condition(if_version)).await,
        DocumentsVerb::Delete { name, if_version } => delete(context, &name, condition(if_version)).await,
        DocumentsVerb::Versions { name } => versions(context, &name).await,
    }
}

/// Only if this version is the newest.
fn condition(version: Option<u64>) -> Option<(HeaderName, String)> {
    version.map(|version| (header::IF_MATCH, format!("\"{version}\"")))
}

fn as_header(condition: Option<&(HeaderName, String)>) -> Option<(HeaderName, &str)> {
    condition.map(|(name, value)| (name.clone(), value.as_str()))
}

async fn list(context: &VerbContext) -> Result<()> {
    let client = context.client(OfflineNeed::Look).await?;
    let out = &context.out;
    let all = all_documents(&client).await?;
    if out.format == OutputFormat::Json {
        let all: Vec<&str> = all.iter().map(|document| document.get()).collect();
        return out.json(&format!("[{}]", all.join(",")));
    }
    let mut table = TextTable::new(&["DOCUMENT", "VERSION", "SAVED", "BY", "STATE", "ABOUT"]).whole(&[0]);
    for document in &all {
        let document: DocumentSummary = serde_json::from_str(document.get())?;
        if out.format == OutputFormat::Ids {
            out.line(&document.name)?;
        }
        let state = state(&document);
        table.row([
            document.name,
            document.version.to_string(),
            moment(document.updated_at),
            clean(document.updated_by.as_deref().unwrap_or_default()),
            state,
            clean(document.description.as_deref().unwrap_or_default()),
        ]);
    }
    if out.format == OutputFormat::Table { out.table(&table) } else { Ok(()) }
}

fn state(document: &DocumentSummary) -> String {
    match &document.shadowed_by {
        Some(other) => clean(&format!("hidden by {other}")),
        None if document.stale => format!("stale: {} problems", document.problems),
        None if document.problems > 0 => "not registered".to_owned(),
        None => "good".to_owned(),
    }
}

async fn all_documents(client: &ApiClient) -> Result<Vec<Box<RawValue>>> {
    let (mut all, mut path) = (Vec::new(), format!("/api/documents?limit={PAGE}"));
    loop {
        let page: DocumentListReply<Box<RawValue>> = client.get(&path).await?.read()?;
        all.extend(page.documents);
        let Some(next) = page.next else { return Ok(all) };
        path = format!("/api/documents?limit={PAGE}&after={}", path_segment(&next));
    }
}

async fn show(context: &VerbContext, name: &str, version: Option<u64>) -> Result<()> {
    let client = context.client(OfflineNeed::Look).await?;
    let query = version.map_or_else(String::new, |version| format!("?version={version}"));
    let answer = client.get(&format!("/api/documents/{}{query}", path_segment(name))).await?;
    let out = &context.out;
    let document: DocumentReply = answer.read()?;
    match out.format {
        OutputFormat::Json => out.json(&answer.text)?,
        OutputFormat::Ids => out.line(&document.name)?,
        // As it was written, to be sent into a file; control characters in JSON are escaped.
        OutputFormat::Table => out.line(document.text.trim_end())?,
    }
    if let Some(other) = &document.shadowed_by {
        note(clean(&format!("runs of `{name}` come from {other}, which has the same name")));
    }
    if document.stale && out.format == OutputFormat::Table {
        note(format_args!("it no longer fits what it refers to; new runs have its plan as it was saved:"));
        let source = DocumentSource { shown: name.to_owned(), text: document.text };
        document.errors.iter().for_each(|error| source.problem_lines(error).iter().for_each(note));
    }
    Ok(())
}

async fn save(context: &VerbContext, file: &str, condition: Option<(HeaderName, String)>) -> Result<()> {
    let source = DocumentSource::read(file).await?;
    let check = checked(context, &source).await?;
    let out = &context.out;
    source.tell_to_user(&check);
    if !check.valid {
        return Err(source.invalid(&check).into());
    }
    let name = name_in(&source.text).ok_or_else(|| source.invalid(&check))?;
    let client = context.client(OfflineNeed::NewRun).await?;
    let path = format!("/api/documents/{}", path_segment(&name));
    let answer = client.put_text(&path, source.text.clone(), as_header(condition.as_ref())).await?;
    let saved: DocumentSavedReply = answer.read()?;
    if let Some(other) = &saved.shadowed_by {
        note(clean(&format!("runs of `{name}` come from {other}, which has the same name")));
    }
    match out.format {
        OutputFormat::Json => out.json(&answer.text),
        OutputFormat::Ids => out.line(&saved.name),
        OutputFormat::Table => out.line(clean(&format!("{} version {}", saved.name, saved.version))),
    }
}

/// What is wrong with a document that is to be saved. One that is refused makes no store.
async fn checked(context: &VerbContext, source: &DocumentSource) -> Result<DocumentCheckReply> {
    let client = match context.config.store().exists() {
        true => context.client(OfflineNeed::NewRun).await?,
        false => Arc::new(ApiClient::connect(&context.config, OfflineNeed::Look).await?),
    };
    client.post_text("/api/documents/validate", source.text.clone()).await?.read()
}

/// The connections whose tools a document calls.
fn connections_in(text: &str) -> BTreeSet<String> {
    #[derive(Deserialize)]
    struct Phases {
        steps: Vec<Vec<Step>>,
    }
    #[derive(Deserialize)]
    struct Step {
        tool: Option<Tool>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Tool {
        connection_id: String,
    }
    // Of a text that is not one, everything is said when it is checked.
    let steps = serde_json::from_str::<Phases>(text).map(|document| document.steps).unwrap_or_default();
    let tools = steps.into_iter().flatten().filter_map(|step| step.tool);
    tools.map(|tool| tool.connection_id).collect()
}

fn name_in(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    serde_json::from_str::<Named>(text).ok().map(|named| named.name)
}

async fn delete(context: &VerbContext, name: &str, condition: Option<(HeaderName, String)>) -> Result<()> {
    let client = context.client(OfflineNeed::Workflows).await?;
    client.delete(&format!("/api/documents/{}", path_segment(name)), as_header(condition.as_ref())).await?;
    note(clean(&format!("`{name}` is deleted; its runs go on")));
    Ok(())
}

async fn versions(context: &VerbContext, name: &str) -> Result<()> {
    let client = context.client(OfflineNeed::Look).await?;
    let base = format!("/api/documents/{}/versions?limit={PAGE}", path_segment(name));
    let (mut all, mut path) = (Vec::new(), base.clone());
    loop {
        let page: DocumentVersionsReply = client.get(&path).await?.read()?;
        all.extend(page.versions);
        let Some(next) = page.next else { break };
        path = format!("{base}&before={next}");
    }
    let out = &context.out;
    match out.format {
        OutputFormat::Json => out.json(&serde_json::to_string(&all)?),
        OutputFormat::Ids => all.iter().try_for_each(|version| out.line(version.version)),
        OutputFormat::Table => {
            let mut table = TextTable::new(&["VERSION", "AT", "BY", ""]);
            for version in &all {
                let by = clean(version.by.as_deref().unwrap_or_default());
                let word = if version.deleted { "deleted" } else { "" };
                table.row([version.version.to_string(), moment(version.at), by, word.to_owned()]);
            }
            out.table(&table)
        }
    }
}

/// A text that is a document, and how it is called.
struct DocumentSource {
    shown: String,
    text: String,
}

impl DocumentSource {
    async fn read(file: &str) -> Result<Self> {
        let shown = if file == "-" { "stdin" } else { file };
        let text = read::text(Path::new(file), GIVEN_MAX_BYTES).await.map_err(|error| {
            let message = format!("cannot read the document from {shown}: {error}");
            match error.kind() {
                std::io::ErrorKind::NotFound => ExitError::not_found(message),
                _ => ExitError::usage(message),
            }
        })?;
        Ok(Self { shown: shown.to_owned(), text })
    }

    /// Prints what is wrong; what is only worth a second look goes to stderr.
    fn tell(&self, out: &DataOutput, check: &DocumentCheckReply) -> Result<()> {
        for error in &check.errors {
            self.problem_lines(error).iter().try_for_each(|line| out.line(line))?;
        }
        self.tell_warnings(check);
        Ok(())
    }

    /// Says all of it on stderr.
    fn tell_to_user(&self, check: &DocumentCheckReply) {
        check.errors.iter().for_each(|error| self.problem_lines(error).iter().for_each(note));
        self.tell_warnings(check);
    }

    fn tell_warnings(&self, check: &DocumentCheckReply) {
        for warning in &check.warnings {
            let mut lines = self.problem_lines(warning).into_iter();
            if let Some(first) = lines.next() {
                note(format_args!("warning: {first}"));
            }
            lines.for_each(note);
        }
        if check.left_out > 0 {
            note(format_args!("and {} more", check.left_out));
        }
    }

    /// `file:line:column: step `x`: message`, and the line with a mark below it.
    fn problem_lines(&self, problem: &ViolationReply) -> Vec<String> {
        let (line, column) = (problem.line.unwrap_or(1), problem.column.unwrap_or(1));
        let whose = match (&problem.step, problem.trigger) {
            (Some(step), _) => format!("step `{step}`: "),
            (None, Some(trigger)) => format!("trigger {trigger}: "),
            (None, None) => String::new(),
        };
        let mut lines = vec![clean(&format!("{}:{line}:{column}: {whose}{}", self.shown, problem.message))];
        let index = usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
        if let Some(source) = self.text.lines().nth(index) {
            let number = line.to_string();
            let (shown, mark) = window(source, column);
            lines.push(format!("  {number} | {}", clean(&shown)));
            lines.push(format!("  {} | {}^", " ".repeat(number.len()), " ".repeat(mark)));
        }
        lines
    }

    fn invalid(&self, check: &DocumentCheckReply) -> ExitError {
        let count = check.errors.len();
        let problems = if count == 1 { "problem" } else { "problems" };
        let failed = ExitError::error(format!("{} is not valid: {count} {problems}", self.shown));
        failed.code("invalid_document")
    }
}

/// The part of a line around a column, which is counted in UTF-16 units from 1, and where in it that is. A document may be one
/// line of a megabyte.
fn window(line: &str, column: u32) -> (String, usize) {
    const BEFORE: usize = 60;
    const LENGTH: usize = 100;
    let wanted = usize::try_from(column).unwrap_or(usize::MAX).saturating_sub(1);
    let mut units = 0;
    let at = line.chars().take_while(|c| {
        let is_before = units < wanted;
        units += c.len_utf16();
        is_before
    });
    let at = at.count();
    let begin = at.saturating_sub(BEFORE);
    // A tab is as wide as the terminal likes.
    let shown = line.chars().skip(begin).take(LENGTH).map(|c| if c == '\t' { ' ' } else { c });
    (shown.collect(), at - begin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_below_what_it_means() {
        assert_eq!(window("ab\tcd", 4), ("ab cd".to_owned(), 3));
        assert_eq!(window("\u{1F333}x", 3), ("\u{1F333}x".to_owned(), 1));
        assert_eq!(window("ab", 9), ("ab".to_owned(), 2));
        let long = "x".repeat(1_000) + "y" + &"z".repeat(1_000);
        let (shown, mark) = window(&long, 1_001);
        assert_eq!((shown.len(), &shown[mark..=mark]), (100, "y"));
    }
}
