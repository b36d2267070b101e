//! What engines of this command have besides the workflows of their users: the built-in functions of documents, and the
//! documents themselves.

use std::sync::Arc;

use rival::{Engine, EngineBuilder};
use rival_authoring::{Documents, Tools};
use rival_mcp::ToolBuiltins;
use rival_script::{OutgoingPolicy, Sandbox, TransformBuiltins, TransformLimits};

use crate::config::ResolvedConfig;
use crate::connections::{ConnectionDesk, SharedDesk};

/// Brings the built-in functions of documents along. None of them starts anything before it is called.
pub(crate) fn builtins(
    builder: EngineBuilder,
    config: &ResolvedConfig,
    desk: &ConnectionDesk,
) -> EngineBuilder {
    // A transform sends nothing, whatever the policy is.
    let sandbox = Sandbox::new(config.scripts(OutgoingPolicy::default()));
    builder
        .builtins(Arc::new(TransformBuiltins::new(sandbox, TransformLimits::default())))
        .builtins(Arc::new(ToolBuiltins::new(desk.connections())))
}

/// The documents of an engine, checked against the tools of its connections, and again when these change.
pub(crate) fn documents(engine: &Engine, desk: &SharedDesk) -> Documents {
    let documents = Documents::new(engine.clone(), Arc::clone(desk) as Tools);
    let told = documents.clone();
    desk.connections().on_change(move |connection, _| {
        let (documents, connection) = (told.clone(), connection.to_owned());
        tokio::spawn(async move { documents.tools_changed(&connection).await });
    });
    documents
}
