//! `signal`: sends one, and says if nothing is known that would take it.

use std::collections::BTreeSet;

use anyhow::Result;
use rival_api::{Graph, GraphNode, RunStatusReply, RunView, SignalBody, WorkflowDetail, path_segment};

use super::{VerbContext, control};
use crate::args;
use crate::client::{ApiClient, OfflineNeed};
use crate::config::nearest;
use crate::out::{OutputFormat, clean, note};

pub(crate) async fn signal(context: &VerbContext, args: &args::SignalArgs) -> Result<()> {
    let payload = super::optional_json(args.payload.as_deref(), "payload").await?.unwrap_or_default();
    let body = SignalBody { payload, id: args.id.clone() };
    // Loads the workflows too, so that the payload is checked even if no server runs this store.
    let client = context.client(OfflineNeed::Workflows).await?;
    let path = format!("/api/runs/{}/signals/{}", path_segment(&args.run), path_segment(&args.name));
    let answer = client.post(&path, &body).await?;
    control::asked(&context.out, &client, &answer)?;
    let reply: RunStatusReply = answer.read()?;
    if context.out.format == OutputFormat::Table && !reply.status.is_terminal() {
        // The signal is sent: what cannot be found out about it is no reason to fail.
        if let Ok(known) = known_signals(&client, &args.run).await
            && !known.contains(&args.name)
        {
            note(clean(&hint(&args.name, &known)));
        }
    }
    Ok(())
}

/// Any name is taken, because a step may wait for any: a name that nothing waits for may be early, or misspelt.
fn hint(name: &str, known: &BTreeSet<String>) -> String {
    let kept = format!("nothing in this run has waited for a signal `{name}` so far; it is kept");
    match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => format!("{kept}. Did you mean `{near}`?"),
        None if known.is_empty() => kept,
        None => {
            let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            format!("{kept}. Known are {}", known.join(", "))
        }
    }
}

/// The signals that the plan waits for, that the workflow has schemas for, and that steps have waited for so far.
async fn known_signals(client: &ApiClient, run: &str) -> Result<BTreeSet<String>> {
    let id = path_segment(run);
    let graph: Graph = client.get(&format!("/api/runs/{id}/graph")).await?.read()?;
    let view: RunView = client.get(&format!("/api/runs/{id}")).await?.read()?;
    let mut known = BTreeSet::new();
    planned(&graph.nodes, &mut known);
    let operations = view.steps.iter().flat_map(|step| &step.operations);
    known.extend(operations.filter(|it| it.kind == "signal").map(|it| it.name.clone()));
    // Its workflow may be gone.
    if let Ok(answer) = client.get(&format!("/api/workflows/{}", path_segment(&view.workflow))).await {
        known.extend(answer.read::<WorkflowDetail>()?.summary.signal_schemas.into_keys());
    }
    Ok(known)
}

fn planned(nodes: &[GraphNode], known: &mut BTreeSet<String>) {
    for node in nodes {
        known.extend(node.signal.clone());
        planned(&node.children, known);
    }
}
