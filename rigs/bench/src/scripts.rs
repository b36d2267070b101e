//! What TypeScript costs: steps in script hosts, transforms, a folder of files.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rival::prelude::*;
use rival::{Definition, RunStatus, SqliteStore, Value};
use rival_document::{
    CheckContext, ToolCatalog, ToolLookup, TypescriptTransforms, WorkflowCatalog, WorkflowLookup,
    check_document,
};
use rival_script::{Sandbox, ScriptSettings, Scripts, TransformBuiltins, TransformLimits, main_was_asked};
use serde_json::json;

use crate::report::BenchReport;
use crate::throughput::{five_steps, run_all};
use crate::{BenchSize, disk};

const IN_FLIGHT: usize = 500;

/// How often both kinds of steps take turns.
const ROUNDS: usize = 5;

const FIVE: &str = "function a() {}\nfunction b() {}\nfunction c() {}\nfunction d() {}\nfunction e() {}\n\
                    export const name = 'five-ts'\nexport const steps = [a, b, c, d, e]\n";

const NEXT_NUMBER: &str = "interface Input { n: number }\ninterface Output { n: number }\n\
                           export default ({ n }: Input): Output => ({ n: n + 1 })";

pub(crate) async fn measure(size: BenchSize, report: &mut BenchReport) -> Result<()> {
    ensure!(
        main_was_asked(),
        "script hosts must be processes here: their memory and time are measured apart"
    );
    steps(size, report).await?;
    documents(size, report).await?;
    transforms(size, report).await?;
    folder(size, report).await
}

/// Five no-op steps in TypeScript and in Rust, taking turns on one engine.
async fn steps(size: BenchSize, report: &mut BenchReport) -> Result<()> {
    let dir = tempfile::tempdir()?;
    std::fs::write(dir.path().join("five.ts"), FIVE)?;
    let store = SqliteStore::open(dir.path().join("scripts.db"))?;
    let rust = five_steps()?;
    let engine = Engine::builder().store(store).workflow(&rust).build().await?;
    let scripts = Scripts::new(ScriptSettings::default());
    scripts.register(&engine, dir.path()).await?;
    let runs = size.runs / ROUNDS / 5;
    run_by_name(&engine, "five-ts", 50, 50).await?;
    let (mut in_rust, mut in_script) = (ScriptTimeSpent::default(), ScriptTimeSpent::default());
    for _ in 0..ROUNDS {
        let before = ScriptTimeSpent::now()?;
        run_all(&engine, &rust, runs, IN_FLIGHT).await?;
        in_rust.add(&before)?;
        let before = ScriptTimeSpent::now()?;
        run_by_name(&engine, "five-ts", runs, IN_FLIGHT).await?;
        in_script.add(&before)?;
    }
    engine.shutdown(Duration::from_secs(5)).await;
    let count = (runs * ROUNDS * 5) as f64;
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / count;
    let (own, hosts) = (micros(in_script.own), micros(in_script.hosts));
    let note = format!(
        "at most 60: {own:.1} in the engine's process and {hosts:.1} in hosts, less {:.1} for a step in Rust",
        micros(in_rust.own)
    );
    report.add("ts_step_cpu_us", own + hosts - micros(in_rust.own), "us", note);
    let note = format!("{} runs of 5 no-op steps, {IN_FLIGHT} in flight, SQLite FULL", runs * ROUNDS);
    report.add("ts_steps_per_s", count / in_script.wall.as_secs_f64(), "steps/s", note);
    Ok(())
}

/// The same as `run_all`, for a workflow that is known by name.
async fn run_by_name(engine: &Engine, workflow: &'static str, runs: usize, in_flight: usize) -> Result<()> {
    let next = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let tasks: Vec<_> = (0..in_flight.min(runs))
        .map(|_| {
            let (engine, next) = (engine.clone(), Arc::clone(&next));
            tokio::spawn(async move {
                while next.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < runs {
                    let run = engine.run(workflow, ()).await?;
                    let outcome = engine.wait(run.id()).await?;
                    ensure!(outcome.status == RunStatus::Completed, "a run ended as {}", outcome.status);
                }
                Ok(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok(())
}

/// A document of five transforms, one after the other, each of which reads the one before.
async fn documents(size: BenchSize, report: &mut BenchReport) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let store = SqliteStore::open(dir.path().join("documents.db"))?;
    let sandbox = Sandbox::new(ScriptSettings::default());
    let builtins = Arc::new(TransformBuiltins::new(sandbox, TransformLimits::default()));
    let engine = Engine::builder().store(store).builtins(builtins).build().await?;
    engine.register(five_transforms()?).await?;
    run_by_name(&engine, "five-document", 50, 50).await?;
    let runs = size.runs / ROUNDS / 5;
    let start = Instant::now();
    run_by_name(&engine, "five-document", runs, IN_FLIGHT).await?;
    let took = start.elapsed();
    engine.shutdown(Duration::from_secs(5)).await;
    let note =
        format!("{runs} runs of 5 transforms in a sandbox, {IN_FLIGHT} in flight; beside ts_steps_per_s");
    report.add("document_steps_per_s", (runs * 5) as f64 / took.as_secs_f64(), "steps/s", note);
    Ok(())
}

fn five_transforms() -> Result<Definition> {
    let step = |number: usize| {
        let input = if number == 0 { json!(0) } else { json!(format!("@s{}.output.n", number - 1)) };
        json!([{ "name": format!("s{number}"), "transform": NEXT_NUMBER, "input": { "n": input } }])
    };
    let steps: Vec<_> = (0..5).map(step).collect();
    let text = json!({ "name": "five-document", "steps": steps }).to_string();
    let world =
        CheckContext { tools: &NothingElse, transforms: &TypescriptTransforms, workflows: &NothingElse };
    let check = check_document(&text, world);
    let document = check.document.with_context(|| format!("{:?}", check.errors))?;
    Ok(Definition::new(document.plan()?, BTreeMap::new()))
}

/// A world without tools and workflows.
struct NothingElse;

impl ToolCatalog for NothingElse {
    fn tool(&self, _: &str, _: &str) -> ToolLookup {
        ToolLookup::UnknownConnection { known: Vec::new() }
    }
}

impl WorkflowCatalog for NothingElse {
    fn workflow(&self, _: &str) -> WorkflowLookup {
        WorkflowLookup::Unknown { known: Vec::new() }
    }
}

/// A transform of a kilobyte, warm.
async fn transforms(size: BenchSize, report: &mut BenchReport) -> Result<()> {
    let code = "interface Item { id: number; name: string; price: number }
interface Input { items: Item[] }
interface Output { total: number; names: string[] }
export default function (input: Input): Output {
    const total = input.items.reduce((sum, item) => sum + item.price, 0)
    return { total, names: input.items.map((item) => item.name) }
}";
    let items: Vec<_> = (0..20)
        .map(|id| serde_json::json!({ "id": id, "name": format!("item number {id}"), "price": id * 3 }))
        .collect();
    let input = Value::from(serde_json::json!({ "items": items }));
    let transform = rival_script::transform(code).map_err(|problems| anyhow::anyhow!("{problems:?}"))?;
    let sandbox = Sandbox::new(ScriptSettings::default());
    let mut times = Vec::new();
    for turn in 0..size.latency_runs + 20 {
        let start = Instant::now();
        sandbox.run(&transform, &input, TransformLimits::default()).await?;
        if turn >= 20 {
            times.push(start.elapsed());
        }
    }
    let p50 = disk::percentile(&mut times, 50).as_secs_f64() * 1e6;
    let note =
        format!("at most 200: {} bytes in, one at a time, a fresh context for each", input.len_bytes());
    report.add("transform_p50_us", p50, "us", note);
    Ok(())
}

/// A folder of a hundred files.
async fn folder(size: BenchSize, report: &mut BenchReport) -> Result<()> {
    let files = if size.runs < 10_000 { 10 } else { 100 };
    let dir = tempfile::tempdir()?;
    for number in 0..files {
        std::fs::write(dir.path().join(format!("flow-{number}.ts")), file(number))?;
    }
    let engine = Engine::builder().build().await?;
    let own = disk::resident_bytes()?;
    let start = Instant::now();
    let scripts = Scripts::new(ScriptSettings::default());
    let loaded = scripts.register(&engine, dir.path()).await?;
    let took = start.elapsed();
    ensure!(loaded.workflows.len() == files, "not all files were loaded: {:?}", loaded.problems);
    for name in &loaded.workflows {
        engine.run(name.as_str(), serde_json::json!({ "n": 1 })).await?;
    }
    for name in &loaded.workflows {
        let run = engine.run(name.as_str(), serde_json::json!({ "n": 1 })).await?;
        engine.wait(run.id()).await?;
    }
    let memory =
        disk::resident_bytes()?.saturating_sub(own) + hosts()?.iter().map(|host| host.resident).sum::<u64>();
    let note = format!("under 1000 for 100 files; {files} files with zod, from nothing");
    report.add("load_files_ms", took.as_secs_f64() * 1e3, "ms", note);
    let note = "under 300: the engine's growth and all hosts, after two runs of each file";
    report.add("load_files_mb", memory as f64 / 1e6, "MB", note);
    Ok(())
}

fn file(number: usize) -> String {
    let mut text = String::from(
        "import { z } from 'zod'\nexport const input = z.object({ n: z.number(), note: z.string().optional() })\n",
    );
    for step in 0..5 {
        let _ = writeln!(
            text,
            "async function step{step}({{ input, lastStep, log }}: {{ input: {{ n: number }}, lastStep: any, log: any }}) {{\n    \
             log.debug('step {step} of flow {number}')\n    return {{ n: (lastStep.result?.n ?? input.n) + {step} }}\n}}"
        );
    }
    text.push_str("export const steps = [step0, step1, step2, step3, step4]\n");
    text
}

/// Time that something took: on the clock, in this process, in its hosts.
#[derive(Default)]
struct ScriptTimeSpent {
    wall: Duration,
    own: Duration,
    hosts: Duration,
}

impl ScriptTimeSpent {
    fn now() -> Result<(Instant, Duration, Duration)> {
        Ok((Instant::now(), disk::cpu_time()?, hosts()?.iter().map(|host| host.cpu).sum()))
    }

    fn add(&mut self, (wall, own, of_hosts): &(Instant, Duration, Duration)) -> Result<()> {
        self.wall += wall.elapsed();
        self.own += disk::cpu_time()?.saturating_sub(*own);
        self.hosts += hosts()?.iter().map(|host| host.cpu).sum::<Duration>().saturating_sub(*of_hosts);
        Ok(())
    }
}

/// A child process.
struct HostUse {
    cpu: Duration,
    resident: u64,
}

/// What the child processes of this one use.
fn hosts() -> Result<Vec<HostUse>> {
    let me = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let folder = entry?.path();
        // Processes come and go while we look.
        let Ok(stat) = std::fs::read_to_string(folder.join("stat")) else { continue };
        let Some((_, fields)) = stat.rsplit_once(") ") else { continue };
        let fields: Vec<&str> = fields.split(' ').collect();
        if fields.get(1) == Some(&me.as_str()) {
            found.push(host_use(&folder, &fields)?);
        }
    }
    Ok(found)
}

/// See proc(5): after the name, field 11 is the time in user mode, 12 in the kernel, 21 the resident pages.
fn host_use(folder: &Path, fields: &[&str]) -> Result<HostUse> {
    let number = |at: usize| -> Result<u64> {
        let field = fields.get(at).with_context(|| format!("{} is cut short", folder.display()))?;
        Ok(field.parse()?)
    };
    let ticks = number(11)? + number(12)?;
    Ok(HostUse { cpu: Duration::from_millis(ticks * 10), resident: number(21)? * 4096 })
}
