//! What can be run: `workflows`, `validate`, `graph`.

use std::io::IsTerminal;

use anyhow::Result;
use rival_api::{
    CheckBody, CheckReply, Graph, RunView, WorkflowDetail, WorkflowListReply, WorkflowSummary, path_segment,
};
use serde_json::value::RawValue;

use super::VerbContext;
use crate::args::{self, DrawingArg};
use crate::client::OfflineNeed;
use crate::exit::ExitError;
use crate::out::{DataOutput, OutputFormat, clean, note, short};
use crate::sample::{sample, type_of};
use crate::style::TextStyle;
use crate::table::TextTable;
use crate::tree;
use crate::workflow_files::{near, note_problems, note_stale};

pub(crate) async fn workflows(context: &VerbContext, args: &args::WorkflowsArgs) -> Result<()> {
    let client = context.client(OfflineNeed::Look).await?;
    let out = &context.out;
    if let Some(name) = &args.name {
        let answer = client.get(&format!("/api/workflows/{}", path_segment(name))).await;
        let answer = answer.map_err(|error| context.explain_unknown(&client, error))?;
        return match out.format {
            OutputFormat::Json => out.json(&answer.text),
            OutputFormat::Ids => out.line(answer.read::<WorkflowSummary>()?.name),
            OutputFormat::Table => show(out, &answer.read()?),
        };
    }
    let listed: WorkflowListReply<Box<RawValue>> = client.get("/api/workflows").await?.read()?;
    if client.is_served() {
        note_problems(&listed.problems, TextStyle::of(std::io::stderr().is_terminal()));
    }
    if out.format == OutputFormat::Json {
        let all: Vec<&str> = listed.items.iter().map(|workflow| workflow.get()).collect();
        return out.json(&format!("[{}]", all.join(",")));
    }
    let mut table = TextTable::new(&["WORKFLOW", "STEPS", "PLAN", "ABOUT"]).whole(&[0]);
    for workflow in &listed.items {
        let workflow: WorkflowSummary = serde_json::from_str(workflow.get())?;
        if out.format == OutputFormat::Ids {
            out.line(&workflow.name)?;
        }
        let about = clean(workflow.description.as_deref().unwrap_or_default());
        table.row([workflow.name, workflow.step_count.to_string(), short(&workflow.plan_hash, 12), about]);
    }
    if out.format != OutputFormat::Table {
        return Ok(());
    }
    out.table(&table)?;
    if let Some(why) = context.why_examples().filter(|_| !client.is_served()) {
        note(why);
    }
    Ok(())
}

fn show(out: &DataOutput, detail: &WorkflowDetail) -> Result<()> {
    let workflow = &detail.summary;
    let fact = |name: &str, value: String| {
        out.line(format_args!("{} {value}", out.style.dim(format_args!("{name:<9}"))))
    };
    fact("workflow", clean(&workflow.name))?;
    if let Some(about) = &workflow.description {
        fact("about", clean(about))?;
    }
    let old = detail.versions.iter().filter(|version| !version.current).count();
    let old = if old == 0 { String::new() } else { format!(" ({old} older in this store)") };
    fact("plan", format!("{}{old}", short(&workflow.plan_hash, 12)))?;
    note_stale(&workflow.name, &detail.problems, TextStyle::of_stderr());
    if let Some(file) = &workflow.file {
        fact("file", clean(&near(std::path::Path::new(file))))?;
    }
    fact("input", schema(workflow.input_schema.as_ref()))?;
    for (signal, payload) in &workflow.signal_schemas {
        fact("signal", format!("{}: {}", clean(signal), schema(Some(payload))))?;
    }
    let sample = workflow.input_schema.as_ref().map(sample);
    let input = sample.map_or_else(String::new, |sample| format!(" --input '{sample}'"));
    fact("try", clean(&format!("rival run {}{input}", workflow.name)))?;
    out.line("")?;
    tree::draw_plan(&detail.graph, out.style).iter().skip(1).try_for_each(|line| out.line(line))
}

/// A schema in a few words.
fn schema(schema: Option<&serde_json::Value>) -> String {
    schema.map_or_else(|| "none".to_owned(), |schema| clean(&type_of(schema)))
}

/// Checks an input.
pub(crate) async fn validate(context: &VerbContext, workflow: &str, input: Option<&str>) -> Result<()> {
    let input = super::optional_json(input, "input").await?.unwrap_or_default();
    let client = context.client(OfflineNeed::Look).await?;
    let path = format!("/api/workflows/{}/validate", path_segment(workflow));
    let answer = client.post(&path, &CheckBody { input }).await;
    let answer = answer.map_err(|error| context.explain_unknown(&client, error))?;
    let validated: CheckReply = answer.read()?;
    let out = &context.out;
    match out.format {
        OutputFormat::Json => out.json(&answer.text)?,
        OutputFormat::Ids => {}
        OutputFormat::Table if validated.valid => out.line("valid")?,
        OutputFormat::Table => {
            for error in &validated.errors {
                let path = if error.path.is_empty() { "the input" } else { &error.path };
                out.line(clean(&format!("{path}: {}", error.message)))?;
            }
        }
    }
    if validated.valid {
        return Ok(());
    }
    Err(ExitError::error(format!("the input does not fit workflow `{workflow}`")).into())
}

pub(crate) async fn graph(context: &VerbContext, args: &args::GraphArgs) -> Result<()> {
    let client = context.client(OfflineNeed::Look).await?;
    let graph = match args.format {
        _ if context.out.format == OutputFormat::Json => "graph",
        DrawingArg::Text | DrawingArg::Json => "graph",
        DrawingArg::Mermaid => "graph/mermaid",
        DrawingArg::Dot => "graph/dot",
    };
    let name = path_segment(&args.name);
    let workflow = client.get(&format!("/api/workflows/{name}/{graph}")).await;
    let (answer, of_run) = match workflow {
        Err(error) if is_not_found(&error) => {
            let run = client.get(&format!("/api/runs/{name}/{graph}")).await;
            let neither = |error: anyhow::Error| match is_not_found(&error) {
                true => {
                    let neither = format!("no workflow and no run is called `{}`", args.name);
                    let neither = ExitError::not_found(neither).code("unknown_workflow").into();
                    context.explain_unknown(&client, neither)
                }
                false => error,
            };
            (run.map_err(neither)?, true)
        }
        other => (other?, false),
    };
    let out = &context.out;
    if args.format != DrawingArg::Text || context.out.format == OutputFormat::Json {
        return if graph == "graph" { out.json(&answer.text) } else { out.line(answer.text.trim_end()) };
    }
    let graph: Graph = answer.read()?;
    let lines = if of_run {
        let run: RunView = client.get(&format!("/api/runs/{name}")).await?.read()?;
        let lines = tree::draw(&run, &graph, out.style, 0, rival::Clock::System.now());
        lines.into_iter().map(|line| line.text).collect()
    } else {
        tree::draw_plan(&graph, out.style)
    };
    lines.iter().try_for_each(|line| out.line(line))
}

fn is_not_found(error: &anyhow::Error) -> bool {
    error.downcast_ref::<ExitError>().is_some_and(|failed| failed.exit == crate::exit::NOT_FOUND)
}
