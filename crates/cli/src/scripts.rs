//! Workflow files, as `dev` and `serve` offer them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use rival::Engine;
use rival_script::{Loaded, Problem, ScriptSettings, Scripts, ScriptsError, Watching};

use crate::config::Config;
use crate::exit::Failed;

/// Files that are offered for as long as this lives.
#[derive(Debug)]
pub(crate) struct Offered {
    _scripts: Scripts,
    _watching: Option<Watching>,
}

/// Registers the files and folders, and watches them if they are being worked on.
pub(crate) async fn offer(
    engine: &Engine,
    config: &Config,
    paths: &[PathBuf],
    watch: bool,
) -> Result<Option<Offered>> {
    if paths.is_empty() {
        return Ok(None);
    }
    let scripts = Scripts::new(settings(config));
    let mut loaded = Loaded::default();
    for path in paths {
        loaded = scripts.register(engine, path).await.map_err(failed)?;
    }
    say_problems(&loaded);
    let watching = match watch {
        true => Some(scripts.watch(engine, say).await.map_err(failed)?),
        false => None,
    };
    Ok(Some(Offered { _scripts: scripts, _watching: watching }))
}

/// How scripts are run.
pub(crate) fn settings(config: &Config) -> ScriptSettings {
    let allowed = config.script_env();
    let env: BTreeMap<String, String> =
        allowed.into_iter().filter_map(|name| std::env::var(&name).ok().map(|value| (name, value))).collect();
    let mut settings =
        ScriptSettings { env, memory_limit: config.script_memory(), ..ScriptSettings::default() };
    if let Some(hosts) = config.script_hosts() {
        settings.hosts = hosts;
    }
    settings
}

/// What came of a change.
fn say(loaded: Result<Loaded, ScriptsError>) {
    match loaded {
        Ok(loaded) => {
            if !loaded.changed.is_empty() {
                tracing::info!("loaded again, for new runs: {}", loaded.changed.join(", "));
            }
            say_problems(&loaded);
        }
        Err(error) => tracing::error!(%error, "the files could not be loaded again"),
    }
}

fn say_problems(loaded: &Loaded) {
    let here = std::env::current_dir().unwrap_or_default();
    for Problem { file, line, column, message, advice } in &loaded.problems {
        let file = file.strip_prefix(&here).unwrap_or(file).display();
        let advice = advice.as_ref().map(|advice| format!(" ({advice})")).unwrap_or_default();
        tracing::error!("{file}:{line}:{column}: {message}{advice}");
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn failed(error: ScriptsError) -> anyhow::Error {
    let text = error.to_string();
    match error {
        ScriptsError::Path { .. } => Failed::usage(text)
            .hint("give a folder with workflow files, or one file: `rival init` writes some")
            .into(),
        _ => Failed::error(text).into(),
    }
}
