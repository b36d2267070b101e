//! Connections that are only said to be there.

use std::collections::BTreeSet;
use std::sync::Mutex;

use axum::http::StatusCode;
use futures::future::BoxFuture;
use rival::{Engine, Value};
use rival_api::{
    ConnectionBody, ConnectionDefinitionReply, ConnectionHealthReply, ConnectionOriginReply, ConnectionReply,
    ConnectionServerReply, ConnectionStatus, ToolListReply, ToolReply,
};
use rival_server::ConnectionControl;
use rival_server::problem::{HttpProblem, code};

/// Knows the names that it was told, and `kept`, which stays.
pub(crate) struct SaidConnections(Mutex<BTreeSet<String>>);

impl SaidConnections {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(BTreeSet::from(["kept".to_owned()])))
    }

    fn find(&self, name: &str) -> Result<ConnectionReply, HttpProblem> {
        let is_there = self.0.lock().unwrap().contains(name);
        is_there.then(|| reply(name)).ok_or_else(|| {
            HttpProblem::new(
                StatusCode::NOT_FOUND,
                "unknown_connection",
                format!("there is no connection `{name}`"),
            )
        })
    }
}

fn fixed(name: &str) -> Result<(), HttpProblem> {
    let refused =
        || HttpProblem::new(StatusCode::CONFLICT, code::CONNECTION_FIXED, "it is defined in the settings");
    if name == "kept" { Err(refused()) } else { Ok(()) }
}

fn wrong(why: &str) -> HttpProblem {
    HttpProblem::new(StatusCode::BAD_REQUEST, code::INVALID_CONNECTION, why)
}

fn reply(name: &str) -> ConnectionReply {
    ConnectionReply {
        name: name.to_owned(),
        origin: ConnectionOriginReply::Settings,
        definition: ConnectionDefinitionReply {
            command: None,
            args: Vec::new(),
            env: [].into(),
            cwd: None,
            url: Some("https://tools.example/mcp".to_owned()),
            headers: [].into(),
            allowed_tools: None,
            concurrency: 8,
            timeout_ms: 60_000,
        },
        health: ConnectionHealthReply { status: ConnectionStatus::Ready, why: None, next_try_at: None },
        server: Some(ConnectionServerReply {
            name: "said".into(),
            version: "1".into(),
            protocol: "2025-11-25".into(),
        }),
        tools: Some(1),
        calls: 0,
        waiting: 0,
        problems: Vec::new(),
    }
}

impl ConnectionControl for SaidConnections {
    fn list(&self) -> Vec<ConnectionReply> {
        self.0.lock().unwrap().iter().map(|name| reply(name)).collect()
    }

    fn get(&self, name: &str) -> Result<ConnectionReply, HttpProblem> {
        self.find(name)
    }

    fn tools(&self, name: &str) -> Result<ToolListReply, HttpProblem> {
        self.find(name)?;
        let input_schema = serde_json::json!({ "type": "object" });
        let tool = ToolReply { name: "echo".into(), description: None, input_schema, output_schema: None };
        Ok(ToolListReply { items: vec![tool], cursor: None, hash: "0".repeat(64) })
    }

    fn test<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<ConnectionReply, HttpProblem>> {
        Box::pin(std::future::ready(self.find(name)))
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        _tool: &'a str,
        input: &'a Value,
    ) -> BoxFuture<'a, Result<Value, HttpProblem>> {
        let is_object = input.is_null() || input.as_json().starts_with('{');
        let called = self
            .find(name)
            .and_then(|_| if is_object { Ok(input.clone()) } else { Err(wrong("it is no object")) });
        Box::pin(std::future::ready(called))
    }

    fn put<'a>(
        &'a self,
        _engine: &'a Engine,
        name: &'a str,
        body: ConnectionBody,
    ) -> BoxFuture<'a, Result<(ConnectionReply, bool), HttpProblem>> {
        let is_one = body.command.is_some() != body.url.is_some();
        let checked =
            if is_one { fixed(name) } else { Err(wrong("it is neither a program nor an address, or both")) };
        let defined = checked.map(|()| (reply(name), self.0.lock().unwrap().insert(name.to_owned())));
        Box::pin(std::future::ready(defined))
    }

    fn delete<'a>(&'a self, _engine: &'a Engine, name: &'a str) -> BoxFuture<'a, Result<(), HttpProblem>> {
        let removed = self.find(name).and_then(|_| fixed(name));
        self.0.lock().unwrap().retain(|kept| kept != name || removed.is_err());
        Box::pin(std::future::ready(removed))
    }
}
