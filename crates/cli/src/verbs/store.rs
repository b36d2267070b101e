//! `verify`: everything in the store against what must always hold.

use anyhow::Result;
use rival::{SqliteStore, StoreError};
use rival_engine::verify::{self, Report};
use serde_json::json;

use super::Context;
use crate::exit::Failed;
use crate::out::{Format, Out, clean};

pub(crate) async fn verify(context: &Context) -> Result<()> {
    let file = context.config.store();
    if !file.exists() {
        return Err(Failed::not_found(format!("there is no store at {}", file.display())).into());
    }
    let store = SqliteStore::open(file).map_err(|error| match error {
        StoreError::Locked(who) => Failed::error(who)
            .hint("verify looks at a store that nobody uses; or copy it, and name the copy with --store"),
        other => Failed::error(other.to_string()).code(other.code()),
    })?;
    let report = verify::check_store(&store).await?;
    show(&context.out, &report)?;
    if report.is_sound() {
        return Ok(());
    }
    let count = report.breaches.len();
    Err(Failed::error(format!("{count} things are not as they must be in {}", file.display()))
        .hint("keep a copy of the file as it is, and report this: it is a bug of Rival or of the disk")
        .into())
}

fn show(out: &Out, report: &Report) -> Result<()> {
    match out.format {
        Format::Json => {
            let breaches = report.breaches.iter().map(|breach| {
                json!({ "runId": breach.run, "invariant": breach.invariant.number(), "message": breach.message })
            });
            let runs: serde_json::Map<_, _> =
                report.runs.iter().map(|(status, count)| (status.to_string(), json!(count))).collect();
            let report = json!({
                "sound": report.is_sound(), "runs": runs, "events": report.events, "calls": report.calls,
                "messages": report.messages, "snapshots": report.snapshots,
                "breaches": breaches.collect::<Vec<_>>(),
            });
            out.json(&report.to_string())
        }
        Format::Ids => report.breaches.iter().try_for_each(|breach| out.line(&breach.run)),
        Format::Table => {
            let runs: Vec<String> =
                report.runs.iter().map(|(status, count)| format!("{count} {status}")).collect();
            let runs = if runs.is_empty() { String::new() } else { format!(" ({})", runs.join(", ")) };
            out.line(format_args!(
                "checked {} runs{runs}: {} events, {} calls, {} snapshots, {} waiting messages",
                report.run_count(),
                report.events,
                report.calls,
                report.snapshots,
                report.messages
            ))?;
            for breach in &report.breaches {
                let text = clean(&format!(
                    "run `{}`: rule {}: {}",
                    breach.run,
                    breach.invariant.number(),
                    breach.message
                ));
                out.line(out.style.red(text))?;
            }
            if report.is_sound() { out.line(out.style.green("everything holds")) } else { Ok(()) }
        }
    }
}
