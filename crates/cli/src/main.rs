//! The `rival` command: glue only.
#![allow(clippy::print_stdout, reason = "a command's output is what it prints")]

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};

mod bench;

// Actors, commits and steps are many small allocations from many threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Durable workflows: steps are functions, nothing is lost.
#[derive(Parser)]
#[command(version, about)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure this machine: throughput, latency, sleeping runs, long plans
    Bench {
        /// Only the benchmarks whose name contains this: throughput, latency, sleepers, long_plan
        #[arg(default_value = "")]
        only: String,
        /// A small size, to see that everything works
        #[arg(long)]
        smoke: bool,
        /// Where the figures go, as JSON
        #[arg(long, default_value = "target/bench.json")]
        json: PathBuf,
    },
}

#[tokio::main]
async fn main() -> Result<()> {
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "warn".into()),
        )
        .with_writer(std::io::stderr)
        .init();
    match Args::parse().command {
        Command::Bench { only, smoke, json } => bench::run(&only, smoke, &json).await,
    }
}
