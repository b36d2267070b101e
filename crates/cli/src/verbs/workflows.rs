//! What can be run: `workflows`, `validate`, `graph`.

use std::io::IsTerminal;

use anyhow::Result;
use rival_engine::SourceProblem;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::Context;
use crate::args::{self, Drawing};
use crate::client::{Need, Violation, segment};
use crate::exit::Failed;
use crate::out::{Format, Out, Table, clean, short};
use crate::sample::sample;
use crate::shape::{Graph, Run, Workflow};
use crate::style::Style;
use crate::tree;
use crate::workflow_files::note_problems;

#[derive(Debug, Deserialize)]
struct Listed {
    workflows: Vec<Box<RawValue>>,
    #[serde(default)]
    problems: Vec<SourceProblem>,
}

pub(crate) async fn workflows(context: &Context, args: &args::Workflows) -> Result<()> {
    let client = context.client(Need::Workflows).await?;
    let out = &context.out;
    if let Some(name) = &args.name {
        let answer = client.get(&format!("/api/workflows/{}", segment(name))).await?;
        return match out.format {
            Format::Json => out.json(&answer.text),
            Format::Ids => out.line(answer.read::<Workflow>()?.name),
            Format::Table => show(out, &answer.read()?),
        };
    }
    let listed: Listed = client.get("/api/workflows").await?.read()?;
    if client.is_served() {
        note_problems(&listed.problems, Style::of(std::io::stderr().is_terminal()));
    }
    if out.format == Format::Json {
        let all: Vec<&str> = listed.workflows.iter().map(|workflow| workflow.get()).collect();
        return out.json(&format!("[{}]", all.join(",")));
    }
    let mut table = Table::new(&["WORKFLOW", "STEPS", "PLAN", "ABOUT"]);
    for workflow in &listed.workflows {
        let workflow: Workflow = serde_json::from_str(workflow.get())?;
        if out.format == Format::Ids {
            out.line(&workflow.name)?;
        }
        let about = clean(workflow.description.as_deref().unwrap_or_default());
        table.row([workflow.name, workflow.step_count.to_string(), short(&workflow.plan_hash, 12), about]);
    }
    if out.format == Format::Table { out.table(&table) } else { Ok(()) }
}

fn show(out: &Out, workflow: &Workflow) -> Result<()> {
    let fact = |name: &str, value: String| {
        out.line(format_args!("{} {value}", out.style.dim(format_args!("{name:<9}"))))
    };
    fact("workflow", clean(&workflow.name))?;
    if let Some(about) = &workflow.description {
        fact("about", clean(about))?;
    }
    let old = workflow.versions.iter().filter(|version| !version.current).count();
    let old = if old == 0 { String::new() } else { format!(" ({old} older in this store)") };
    fact("plan", format!("{}{old}", short(&workflow.plan_hash, 12)))?;
    fact("input", schema(workflow.input_schema.as_ref()))?;
    for (signal, payload) in &workflow.signal_schemas {
        fact("signal", format!("{}: {}", clean(signal), schema(Some(payload))))?;
    }
    let sample = workflow.input_schema.as_ref().map(sample);
    let input = sample.map_or_else(String::new, |sample| format!(" --input '{sample}'"));
    fact("try", clean(&format!("rival run {}{input}", workflow.name)))?;
    out.line("")?;
    let Some(graph) = &workflow.graph else { return Ok(()) };
    tree::draw_plan(graph, out.style).iter().skip(1).try_for_each(|line| out.line(line))
}

/// A schema in a few words: `{customer: string, items: array}`.
fn schema(schema: Option<&serde_json::Value>) -> String {
    let Some(schema) = schema else { return "none".to_owned() };
    let word = |schema: &serde_json::Value| match &schema["type"] {
        serde_json::Value::String(word) => word.clone(),
        serde_json::Value::Array(words) => {
            words.iter().filter_map(|word| word.as_str()).collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    };
    let Some(fields) = schema["properties"].as_object() else { return word(schema) };
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|required| required == name))
    };
    let fields = fields
        .iter()
        .map(|(name, field)| format!("{name}{}: {}", if required(name) { "" } else { "?" }, word(field)));
    clean(&format!("{{{}}}", fields.collect::<Vec<_>>().join(", ")))
}

#[derive(Debug, Deserialize)]
struct Validated {
    valid: bool,
    errors: Vec<Violation>,
}

pub(crate) async fn validate(context: &Context, args: &args::Validate) -> Result<()> {
    let input = match &args.input {
        Some(input) => super::json(input, "input").await?,
        None => serde_json::Value::Null,
    };
    let client = context.client(Need::Workflows).await?;
    let path = format!("/api/workflows/{}/validate", segment(&args.workflow));
    let answer = client.post(&path, &json!({ "input": input })).await?;
    let validated: Validated = answer.read()?;
    let out = &context.out;
    match out.format {
        Format::Json => out.json(&answer.text)?,
        Format::Ids => {}
        Format::Table if validated.valid => out.line("valid")?,
        Format::Table => {
            for error in &validated.errors {
                let path = if error.path.is_empty() { "the input" } else { &error.path };
                out.line(clean(&format!("{path}: {}", error.message)))?;
            }
        }
    }
    if validated.valid {
        return Ok(());
    }
    Err(Failed::error(format!("the input does not fit workflow `{}`", args.workflow)).into())
}

pub(crate) async fn graph(context: &Context, args: &args::Graph) -> Result<()> {
    let client = context.client(Need::Workflows).await?;
    let format = match args.format {
        _ if context.out.format == Format::Json => "json",
        Drawing::Text | Drawing::Json => "json",
        Drawing::Mermaid => "mermaid",
        Drawing::Dot => "dot",
    };
    let name = segment(&args.name);
    let workflow = client.get(&format!("/api/workflows/{name}/graph?format={format}")).await;
    let (answer, of_run) = match workflow {
        Err(error) if is_not_found(&error) => {
            let run = client.get(&format!("/api/runs/{name}/graph?format={format}")).await;
            let neither = |error: anyhow::Error| match is_not_found(&error) {
                true => Failed::not_found(format!("no workflow and no run is called `{}`", args.name)).into(),
                false => error,
            };
            (run.map_err(neither)?, true)
        }
        other => (other?, false),
    };
    let out = &context.out;
    if args.format != Drawing::Text || context.out.format == Format::Json {
        return if format == "json" { out.json(&answer.text) } else { out.line(answer.text.trim_end()) };
    }
    let graph: Graph = answer.read()?;
    let lines = if of_run {
        let run: Run = client.get(&format!("/api/runs/{name}")).await?.read()?;
        tree::draw(&run, &graph, out.style, 0, rival::Clock::System.now())
    } else {
        tree::draw_plan(&graph, out.style)
    };
    lines.iter().try_for_each(|line| out.line(line))
}

fn is_not_found(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Failed>().is_some_and(|failed| failed.exit == crate::exit::NOT_FOUND)
}
