//! Steps that a test replaces: called back where the test is.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use rival_core::Value;
use rival_engine::{CallContext, CallError, Function, Needs};
use rival_host::frame::{Role, ToHost};

use crate::context;
use crate::function::converse;
use crate::host::Host;
use crate::pool::Pool;
use crate::realm::Realm;
use crate::registry::Launcher;

/// A function of a test that stands in for a step.
pub(super) struct Mock {
    pub(super) pool: Arc<Pool>,
    /// The host that the test is in: what it closes over is nowhere else.
    pub(super) host: Arc<Host>,
    pub(super) realm: Arc<Realm>,
    pub(super) launcher: Launcher,
    pub(super) file: String,
    pub(super) key: String,
    pub(super) needs: Needs,
}

impl Function for Mock {
    fn needs(&self) -> &Needs {
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
            role: Role::Step,
            cx,
        };
        let talk = self.pool.begin_on(Arc::clone(&self.host), &self.realm, frame);
        let launcher = self.launcher.clone();
        async move { converse(talk, &context, &realm, &launcher).await }.boxed()
    }
}
