//! Progress notifications, for clients that asked for them: how a wait is going.

use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use tokio::time::Instant;

use crate::spec::ToolCall;
use crate::tools::runs;

/// How often a client hears that a run is still waited for.
const TICK: Duration = Duration::from_secs(5);

/// Tells one request's client how it is going.
#[derive(Clone)]
pub(crate) struct ProgressTeller {
    pub(crate) peer: Peer<RoleServer>,
    pub(crate) token: ProgressToken,
    /// When the request came: progress only grows.
    pub(crate) began: Instant,
}

impl ProgressTeller {
    /// How far a wait is, in seconds of its time. The client may have gone: then no one is told.
    async fn tell(&self, limit: Duration, message: String) {
        let waited = self.began.elapsed().as_secs_f64();
        let progress = ProgressNotificationParam::new(self.token.clone(), waited)
            .with_total(limit.as_secs_f64())
            .with_message(message);
        if let Err(error) = self.peer.notify_progress(progress).await {
            tracing::debug!(%error, "a client is not told of progress");
        }
    }
}

/// Waits, and tells the client meanwhile what the run waits for.
pub(crate) async fn telling<T>(
    call: &ToolCall,
    run: &str,
    limit: Duration,
    wait: impl Future<Output = T>,
) -> T {
    let Some(progress) = &call.progress else { return wait.await };
    let tell = async {
        loop {
            if let Ok(explanation) = runs::explanation(&call.api, run).await {
                progress.tell(limit, explanation).await;
            }
            tokio::time::sleep(TICK).await;
        }
    };
    tokio::select! {
        done = wait => done,
        never = tell => never,
    }
}
