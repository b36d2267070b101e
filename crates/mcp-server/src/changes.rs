//! Which workflows there are changes: clients that hold on to a connection are told.

use std::sync::Arc;
use std::time::Duration;

use http::header::IF_NONE_MATCH;
use http::{Method, StatusCode};
use rmcp::{Peer, RoleServer};
use tokio::sync::{Notify, watch};

use crate::api::Api;
use crate::caller::ApiRequest;

/// How often the server is asked whether there are other workflows than before.
const LOOK: Duration = Duration::from_secs(3);

/// Changes of the list of workflows, as one client may hear of them.
#[derive(Debug)]
pub(crate) struct WorkflowChanges {
    /// Told by a tool that has changed a workflow, so that no time is lost.
    expected: Notify,
    /// How many changes there were.
    seen: watch::Sender<u64>,
}

impl WorkflowChanges {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { expected: Notify::new(), seen: watch::Sender::new(0) })
    }

    /// A tool may have changed which workflows there are.
    pub(crate) fn expect(&self) {
        self.expected.notify_one();
    }

    /// The changes from now on.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.seen.subscribe()
    }

    /// Looks for changes, for ever. What the list was when the client began is none.
    pub(crate) async fn look(&self, api: &Api) {
        let mut known: Option<String> = None;
        loop {
            let now = etag_of_workflows(api, known.clone()).await;
            if let Some(now) = now.filter(|now| known.as_ref() != Some(now)) {
                if known.is_some() {
                    self.seen.send_modify(|changes| *changes += 1);
                }
                known = Some(now);
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = self.expected.notified() => {}
            }
        }
    }

    /// Tells a client that began as clients did before they subscribed to changes.
    pub(crate) async fn tell(&self, peer: &Peer<RoleServer>) {
        let mut changes = self.subscribe();
        while changes.changed().await.is_ok() {
            if peer.peer_info().is_some()
                && let Err(error) = peer.notify_tool_list_changed().await
            {
                tracing::debug!(%error, "the client is not told of workflows");
                return;
            }
        }
    }
}

/// What the list of workflows is called now; `None` if it is what it was, or there is no answer.
async fn etag_of_workflows(api: &Api, known: Option<String>) -> Option<String> {
    let request = ApiRequest::new(Method::GET, "/api/workflows").header(IF_NONE_MATCH, known);
    let answer = api.send(request).await.ok()?;
    answer.etag.filter(|_| answer.status == StatusCode::OK)
}
