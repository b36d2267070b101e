//! What engines of this command have besides the workflows of their users: the built-in functions of documents, and the
//! documents themselves.

use std::sync::Arc;

use rival::{Engine, EngineBuilder};
use rival_authoring::{Documents, NoTools};
use rival_script::{OutgoingPolicy, Sandbox, TransformBuiltins, TransformLimits};

use crate::config::ResolvedConfig;

/// Brings the built-in functions of documents along. None of them starts anything before it is called.
pub(crate) fn builtins(builder: EngineBuilder, config: &ResolvedConfig) -> EngineBuilder {
    // A transform sends nothing, whatever the policy is.
    let sandbox = Sandbox::new(config.scripts(OutgoingPolicy::default()));
    builder.builtins(Arc::new(TransformBuiltins::new(sandbox, TransformLimits::default())))
}

/// The documents of an engine.
pub(crate) fn documents(engine: &Engine) -> Documents {
    Documents::new(engine.clone(), Arc::new(NoTools))
}
