//! Requests to a run: cancel, kill, pause, resume.
//!
//! A request is a message. It is durable before it is acted on, and answered after the run has acted on
//! it, so that whoever is told "yes" finds it in the history.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rival_core::machine::Input;
use rival_core::{RunId, RunStatus, Value};
use rival_store::NewMessage;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::error::RunError;
use crate::load;
use crate::mail::Mail;
use crate::shared::Shared;

/// What a message can ask for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Command {
    Cancel { reason: Option<String> },
    Kill { reason: Option<String> },
    Pause {},
    Resume {},
}

impl Command {
    pub(crate) fn into_input(self) -> Input {
        match self {
            Self::Cancel { reason } => Input::Cancel { reason },
            Self::Kill { reason } => Input::Kill { reason },
            Self::Pause {} => Input::Pause,
            Self::Resume {} => Input::Resume,
        }
    }
}

/// What the sender of a command is told: where the run stands once it has acted, or why it cannot be loaded.
pub(crate) type Answer = oneshot::Sender<Result<RunStatus, String>>;

/// How long a command waits for a run that somebody else owns.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends a command and waits until the run has acted on it. Gives the run's status then.
///
/// In a task of its own: a caller that goes away half-way leaves no claimed run without an actor.
pub(crate) async fn command(
    shared: &Arc<Shared>,
    run: &RunId,
    command: Command,
) -> Result<RunStatus, RunError> {
    let (shared, run) = (Arc::clone(shared), run.clone());
    let acted = tokio::spawn(async move { send_and_deliver(&shared, &run, &command).await });
    acted.await.unwrap_or(Err(RunError::ShuttingDown))
}

async fn send_and_deliver(
    shared: &Arc<Shared>,
    run: &RunId,
    command: &Command,
) -> Result<RunStatus, RunError> {
    // Counted first, looked second: an engine that stops waits for this request, or the request sees that it stops.
    let _busy = shared.gauge.busy();
    if shared.is_stopping() {
        return Err(RunError::ShuttingDown);
    }
    let body = Value::encode(command).expect("a command has only string keys");
    let sent = shared.store.send(run, NewMessage { id: None, body }, shared.clock.now()).await?;
    if sent.is_none() {
        return finished(shared, run).await;
    }
    let (started, mut pause) = (Instant::now(), Duration::from_millis(1));
    loop {
        if let Some(status) = deliver(shared, run).await? {
            return Ok(status);
        }
        let row = shared.store.run(run).await?.ok_or_else(|| RunError::NotFound(run.clone()))?;
        if row.status.is_terminal() {
            return finished(shared, run).await;
        }
        if shared.is_stopping() {
            return Err(RunError::ShuttingDown);
        }
        if started.elapsed() > PATIENCE {
            let reason = "another engine owns it and has not acted yet".to_owned();
            return Err(RunError::Unreachable { run: run.clone(), reason });
        }
        // It slipped away between two looks, or somebody else has it.
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(100));
    }
}

/// Has the run's actor look at its messages; makes the run live if it is not. `None`: it slipped away.
async fn deliver(shared: &Arc<Shared>, run: &RunId) -> Result<Option<RunStatus>, RunError> {
    let (answer, answered) = oneshot::channel();
    if let Some(mailbox) = shared.mailbox(run) {
        mailbox.send(Mail::Messages(answer));
    } else {
        let Some(claim) = shared.store.claim(run, shared.id).await? else { return Ok(None) };
        load::activate(shared, claim, shared.admit(), Some(answer));
    }
    match answered.await {
        Ok(Ok(status)) => Ok(Some(status)),
        Ok(Err(reason)) => Err(RunError::Unreachable { run: run.clone(), reason }),
        Err(_) => Ok(None),
    }
}

async fn finished(shared: &Shared, run: &RunId) -> Result<RunStatus, RunError> {
    let row = shared.store.run(run).await?.ok_or_else(|| RunError::NotFound(run.clone()))?;
    Err(RunError::Finished { run: run.clone(), status: row.status })
}
