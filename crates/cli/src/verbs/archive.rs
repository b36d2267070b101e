//! `export` and `import`: runs as files.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, Result};
use rival::Archive;
use rival_api::{RunStatusReply, path_segment};

use super::{VerbContext, page};
use crate::args::{self, ExportFormat};
use crate::client::{ApiClient, OfflineNeed};
use crate::exit::{self, ExitError};
use crate::out::{OutputFormat, note};

/// The largest archive that is read.
const ARCHIVE_MAX_BYTES: u64 = 1 << 30;

pub(crate) async fn export(context: &VerbContext, args: &args::ExportArgs) -> Result<()> {
    let (client, run) = context.client_for(&args.run).await?;
    let text = client.get(&format!("/api/runs/{}/export", path_segment(&run))).await?.text;
    let html = args
        .file
        .as_deref()
        .is_some_and(|file| file.extension().is_some_and(|extension| extension == "html"));
    let format = args.format.unwrap_or(if html { ExportFormat::Html } else { ExportFormat::Json });
    let document = match format {
        // As it came: what was recorded stays as it is to the byte.
        ExportFormat::Json => text + "\n",
        ExportFormat::Html => {
            let archive = Archive::from_json(&text).map_err(|error| ExitError::error(error.to_string()))?;
            // Looked at through the same API as any other run, but offline.
            page::render(&ApiClient::of_archive(&archive).await?, &archive).await?
        }
    };
    match &args.file {
        Some(file) => {
            write(file, &document).with_context(|| format!("cannot write {}", file.display()))?;
            note(format_args!("written to {}", file.display()));
            Ok(())
        }
        // A pipe gets it to the byte; on a terminal nothing in it may do anything.
        None if context.out.terminal => context.out.line(document.trim_end()),
        None => Ok(std::io::stdout().lock().write_all(document.as_bytes())?),
    }
}

/// Runs carry people's data: the file is for its owner's eyes, until the owner decides otherwise.
fn write(file: &Path, text: &str) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(text.as_bytes())
}

pub(crate) async fn import(context: &VerbContext, args: &args::ImportArgs) -> Result<()> {
    let mut failed = None;
    for file in &args.files {
        if let Err(error) = import_one(context, file).await {
            if exit::broken_pipe(&error) || args.files.len() == 1 {
                return Err(error);
            }
            note(format_args!("error: {error:#}"));
            failed.get_or_insert(error.downcast_ref::<ExitError>().map_or(exit::ERROR, |failed| failed.exit));
        }
    }
    failed.map_or(Ok(()), |exit| Err(ExitError::told(exit).into()))
}

async fn import_one(context: &VerbContext, file: &Path) -> Result<()> {
    let archive = read(file).await?;
    // Only now: a file that cannot be read makes no store.
    let client = context.client(OfflineNeed::NewRun).await?;
    let answer = client.post_text("/api/runs/import", serde_json::to_string(&archive)?).await;
    let answer = answer.map_err(|error| match error.downcast::<ExitError>() {
        Ok(failed) => ExitError { message: format!("{}: {failed}", file.display()), ..failed }.into(),
        Err(other) => other,
    })?;
    let reply: RunStatusReply = answer.read()?;
    let out = &context.out;
    match out.format {
        OutputFormat::Json => out.json(&answer.text)?,
        OutputFormat::Ids => out.line(&reply.run_id)?,
        OutputFormat::Table => {
            out.line(format_args!("{}  {}", reply.run_id, out.style.status(reply.status.word())))?;
        }
    }
    if answer.status != axum::http::StatusCode::CREATED && out.format == OutputFormat::Table {
        note("it was there already");
    }
    Ok(())
}

/// Reads a file that `export` wrote, a page or only the data.
pub(crate) async fn read(file: &Path) -> Result<Archive> {
    let text = crate::read::text(file, ARCHIVE_MAX_BYTES).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => ExitError::not_found(format!("there is no file {}", file.display())),
        _ => ExitError::error(format!("cannot read {}: {error}", file.display())),
    })?;
    let archive = match page::embedded(&text) {
        Some(embedded) => Archive::from_embedded(embedded),
        None => Archive::from_json(&text),
    };
    archive
        .map_err(|error| ExitError::error(format!("{}: {error}", file.display())).code(error.code()).into())
}
