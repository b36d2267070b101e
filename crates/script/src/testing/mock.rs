//! Steps that a test replaces: called back where the test is.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use rival_core::Value;
use rival_core::event::CallRole;
use rival_engine::{CallContext, CallError, FunctionNeeds, UserFunction};
use rival_script_host::frame::ToHost;

use crate::context;
use crate::function::HostSession;
use crate::host::HostHandle;
use crate::pool::HostPool;
use crate::realm::ScriptRealm;
use crate::registry::RunLauncher;

/// A function of a test that stands in for a step.
pub(super) struct ScriptMock {
    pub(super) pool: Arc<HostPool>,
    /// The host that the test is in: what it closes over is nowhere else.
    pub(super) host: Arc<HostHandle>,
    pub(super) realm: Arc<ScriptRealm>,
    pub(super) launcher: RunLauncher,
    pub(super) file: String,
    pub(super) key: String,
    pub(super) needs: FunctionNeeds,
}

impl UserFunction for ScriptMock {
    fn needs(&self) -> &FunctionNeeds {
        &self.needs
    }

    fn call(&self, context: CallContext) -> BoxFuture<'static, Result<Value, CallError>> {
        let cx = context::encode(&context, &self.needs.steps);
        let (realm, file, function) = (Arc::clone(&self.realm), self.file.clone(), self.key.clone());
        let frame = |id| ToHost::Call {
            id,
            realm: realm.id(),
            file,
            workflow: String::new(),
            function,
            role: CallRole::Step,
            cx,
        };
        let call = self.pool.begin_on(Arc::clone(&self.host), &self.realm, frame);
        let launcher = self.launcher.clone();
        async move { HostSession::hold(call, &context, &realm, &launcher).await }.boxed()
    }
}
