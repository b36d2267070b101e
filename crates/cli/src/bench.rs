//! `rival bench`.

use std::path::Path;

use anyhow::{Context, Result};
use rival_bench::BenchSize;

pub(crate) async fn run(only: &str, smoke: bool, json: &Path) -> Result<()> {
    let size = if smoke { BenchSize::SMOKE } else { BenchSize::FULL };
    let report = rival_bench::run(size, only).await?;
    print!("{report}");
    if let Some(dir) = json.parent() {
        std::fs::create_dir_all(dir)?;
    }
    std::fs::write(json, report.to_json()).with_context(|| format!("cannot write {}", json.display()))?;
    println!("\nwritten to {}", json.display());
    Ok(())
}
