//! The run that starts what a completed run triggers. It is created in the commit that completes the run, or not at all.

use rival_core::machine::{Decision, RunStart};
use rival_core::plan::TRIGGERS_WORKFLOW;
use rival_core::{RunId, Value};
use rival_store::NewRun;
use serde_json::json;
use std::sync::Arc;

use crate::api::start::fingerprint;
use crate::registry::system::triggers_workflow;
use crate::run::actor::Actor;
use crate::run::launch::{self, RunSpec};

/// The run, and its actor if it goes on at once. What it needs of the completed run it reads itself, so that nothing is
/// recorded twice.
pub(crate) fn trigger_run(actor: &Actor, id: &RunId) -> (NewRun, Option<(Box<Actor>, Decision)>) {
    let (shared, source) = (&actor.shared, &actor.links.run);
    shared.keep_triggers_plan();
    let triggers = &actor.links.plan.plan().triggers;
    let workflows: Vec<&str> = triggers.iter().map(|trigger| trigger.workflow.as_str()).collect();
    let input = Value::from(json!({ "source": source, "workflows": workflows }));
    let fingerprint = fingerprint(TRIGGERS_WORKFLOW, &input);
    let (source, trace) = (Some(source.clone()), actor.state.trace);
    let start = RunStart { source, trace, ..RunStart::new(input) };
    let created_at = shared.clock.now();
    let spec = RunSpec { id: id.clone(), start, fingerprint, tags: Vec::new(), created_at };
    launch::child(shared, Arc::clone(triggers_workflow()), spec)
}
