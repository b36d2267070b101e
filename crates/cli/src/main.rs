//! The `rival` command: glue only.
#![allow(clippy::print_stdout, reason = "a command's output is what it prints")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, Subcommand};

mod bench;
mod demo;

// Actors, commits and steps are many small allocations from many threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Durable workflows: steps are functions, and nothing that was done is lost.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, after_help = HELP)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run an example order, to watch and to kill: started again, it goes on where it was
    Demo {
        /// The folder of the store
        #[arg(long, value_name = "DIR", default_value = "data")]
        data: PathBuf,
        /// How long a tenth of a second of work takes, in milliseconds; tests make it short
        #[arg(long, value_name = "MS", default_value_t = 100, hide = true)]
        pace: u64,
    },
    /// Measure this machine: throughput, latency, sleeping runs, long plans
    Bench {
        /// Only the benchmarks whose name contains this: throughput, latency, sleepers, long_plan, blocks, load
        #[arg(default_value = "", hide_default_value = true)]
        only: String,
        /// A small size, to see that everything works
        #[arg(long)]
        smoke: bool,
        /// Where the figures go, as JSON
        #[arg(long, value_name = "FILE", default_value = "target/bench.json")]
        json: PathBuf,
    },
}

const HELP: &str = "\
Try it:
  rival demo            start an order; press Ctrl-C or `kill -9` it half-way
  rival demo            start it again: it goes on, and no completed step runs twice

RUST_LOG=info shows what the engine does; NO_COLOR=1 turns colours off.";

fn main() -> Result<ExitCode> {
    // The store's writer has a thread of its own, and is as busy as all steps together: leave it a core.
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads((cores - 1).max(1))
        .enable_all()
        .build()?;
    runtime.block_on(run())
}

async fn run() -> Result<ExitCode> {
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "warn".into()),
        )
        .with_writer(std::io::stderr)
        .init();
    match Args::parse().command {
        Command::Demo { data, pace } => demo::run(&data, Duration::from_millis(pace)).await,
        Command::Bench { only, smoke, json } => {
            bench::run(&only, smoke, &json).await?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
