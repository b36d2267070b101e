//! Connections, as the server asks for them: what makes them is not its business.

use futures::future::BoxFuture;
use rival_api::{ConnectionBody, ConnectionReply, ToolListReply};
use rival_core::Value;
use rival_engine::Engine;

use crate::problem::HttpProblem;

/// Looks after connections.
pub trait ConnectionControl: Send + Sync + 'static {
    /// All, by name.
    fn list(&self) -> Vec<ConnectionReply>;

    /// One of them.
    fn get(&self, name: &str) -> Result<ConnectionReply, HttpProblem>;

    /// The tools that may be called.
    fn tools(&self, name: &str) -> Result<ToolListReply, HttpProblem>;

    /// Waits until it has been made or has failed to be, asks its server for a sign of life, and says how it is doing.
    fn test<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<ConnectionReply, HttpProblem>>;

    /// Calls a tool.
    fn call<'a>(
        &'a self,
        name: &'a str,
        tool: &'a str,
        input: &'a Value,
    ) -> BoxFuture<'a, Result<Value, HttpProblem>>;

    /// Defines one, or puts it in the place of the one that is called so; `engine` knows who asks. Also gives whether it is
    /// new.
    fn put<'a>(
        &'a self,
        engine: &'a Engine,
        name: &'a str,
        body: ConnectionBody,
    ) -> BoxFuture<'a, Result<(ConnectionReply, bool), HttpProblem>>;

    /// Removes one.
    fn delete<'a>(&'a self, engine: &'a Engine, name: &'a str) -> BoxFuture<'a, Result<(), HttpProblem>>;
}
