//! `make bench`: measures this machine, prints the figures and writes them as JSON.
#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;
use rival_bench::BenchSize;

/// The allocator of the `rival` command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measure this machine: throughput, latency, sleeping runs, long plans
#[derive(Debug, Parser)]
#[command(name = "rival-bench")]
struct BenchArgs {
    /// Only the benchmarks whose name contains this: throughput, latency, sleepers, long_plan, blocks, load, waiting, scripts
    #[arg(default_value = "", hide_default_value = true)]
    only: String,
    /// A small size, to see that everything works
    #[arg(long)]
    smoke: bool,
    /// Where the figures go, as JSON
    #[arg(long, value_name = "FILE", default_value = "target/bench.json")]
    json: PathBuf,
}

fn main() -> Result<()> {
    // As the `rival` command does.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    // The benchmarks start script hosts, which are this program.
    rival_script::main_if_asked();
    // So is the server that many clients wait at.
    if rival_bench::is_asked_to_serve() {
        return runtime()?.block_on(rival_bench::serve());
    }
    let args = BenchArgs::parse();
    runtime()?.block_on(run(&args))
}

/// As the `rival` command has it: a core is left to the store's writer.
fn runtime() -> Result<tokio::runtime::Runtime> {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let workers = (cores - 1).max(1);
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()?)
}

async fn run(args: &BenchArgs) -> Result<()> {
    let size = if args.smoke { BenchSize::SMOKE } else { BenchSize::FULL };
    let report = rival_bench::run(size, &args.only).await?;
    print!("{report}");
    let json = &args.json;
    if let Some(dir) = json.parent() {
        std::fs::create_dir_all(dir)?;
    }
    std::fs::write(json, report.to_json()).with_context(|| format!("cannot write {}", json.display()))?;
    println!("\nwritten to {}", json.display());
    Ok(())
}
