//! `verify`: everything in the store against what must always hold.

use std::collections::BTreeSet;

use anyhow::Result;
use rival::{SqliteStore, StoreError};
use rival_engine::verify::{self, VerifyReport};
use serde_json::json;

use super::VerbContext;
use crate::exit::ExitError;
use crate::out::{DataOutput, OutputFormat, clean, note};

pub(crate) async fn verify(context: &VerbContext, accept: bool) -> Result<()> {
    let (out, file) = (&context.out, context.config.store());
    if !file.exists() {
        return Err(ExitError::not_found(format!("there is no store at {}", file.display())).into());
    }
    let store = SqliteStore::examine(file).map_err(|error| match error {
        StoreError::Locked(who) => ExitError::error(who).hint(
            "verify looks at a store that nobody uses; or copy it with the files beside it, and name the copy with --store",
        ),
        other => ExitError::error(other.to_string()).code(other.code()),
    })?;
    let report = verify::check_store(&store).await?;
    let distrust = store.distrust();
    show(out, &report, distrust)?;
    if !report.is_sound() {
        let count = report.breaches.len() + report.damage.len();
        return Err(ExitError::error(format!(
            "{count} things are not as they must be in {}",
            file.display()
        ))
        .hint("keep a copy of the file as it is, and report this: it is a bug of Rival or of the disk")
        .into());
    }
    match distrust {
        None => Ok(()),
        Some(_) if accept => {
            store.accept().await?;
            note(format_args!("the store is taken as it is, and has a new mark"));
            Ok(())
        }
        Some(distrust) => Err(ExitError::error(distrust.to_string()).code(distrust.code()).into()),
    }
}

fn show(out: &DataOutput, report: &VerifyReport, distrust: Option<&StoreError>) -> Result<()> {
    let holds = report.is_sound() && distrust.is_none();
    match out.format {
        OutputFormat::Json => {
            let breaches = report.breaches.iter().map(|breach| {
                json!({ "runId": breach.run, "invariant": breach.invariant.number(), "message": breach.message })
            });
            let runs: serde_json::Map<_, _> =
                report.runs.iter().map(|(status, count)| (status.to_string(), json!(count))).collect();
            let report = json!({
                "sound": holds, "runs": runs, "events": report.events, "calls": report.calls,
                "messages": report.messages, "snapshots": report.snapshots,
                "breaches": breaches.collect::<Vec<_>>(), "damage": report.damage,
                "distrust": distrust.map(ToString::to_string),
            });
            out.json(&report.to_string())
        }
        OutputFormat::Ids => {
            let runs: BTreeSet<_> = report.breaches.iter().map(|breach| &breach.run).collect();
            runs.into_iter().try_for_each(|run| out.line(run))
        }
        OutputFormat::Table => {
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
            for damage in &report.damage {
                out.line(out.style.red(clean(damage)))?;
            }
            for breach in &report.breaches {
                let text = clean(&format!(
                    "run `{}`: rule {}: {}",
                    breach.run,
                    breach.invariant.number(),
                    breach.message
                ));
                out.line(out.style.red(text))?;
            }
            match (holds, report.is_sound()) {
                (true, _) => out.line(out.style.green("everything holds")),
                (false, true) => {
                    out.line(out.style.yellow("what is there holds, but all of it may not be there"))
                }
                (false, false) => Ok(()),
            }
        }
    }
}
