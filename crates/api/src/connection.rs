//! Connections: MCP servers whose tools steps call.

use std::collections::BTreeMap;

use rival_core::{Time, Value};
use serde::{Deserialize, Serialize};

/// A connection as it is to be.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ConnectionRequest))]
pub struct ConnectionBody {
    /// The program that is started; only where the setting `connection_commands` allows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Its arguments, as they are: no shell reads them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub args: Vec<String>,
    /// Variables of its environment, besides the few that every program gets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub env: BTreeMap<String, ConnectionValueBody>,
    /// The folder that it runs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The address that is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Headers of each request.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub headers: BTreeMap<String, ConnectionValueBody>,
    /// The tools that may be called; all, if it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// How many calls may be under way at a time; 8, if it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 10_000))]
    pub concurrency: Option<usize>,
    /// How long a tool may take to answer; a minute, if it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 86_400_000))]
    pub timeout_ms: Option<u64>,
}

/// The value of a variable or a header.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ConnectionValueRequest))]
pub enum ConnectionValueBody {
    /// As it is written. It is kept, and not shown again.
    Plain(String),
    /// A secret, by reference.
    Secret(SecretReference),
}

/// Where a secret is: in a variable of the server's environment, or in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SecretReference {
    /// A variable of the server's environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<String>,
    /// A file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What stands before the secret: `Bearer `.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
}

/// A connection as it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Connection))]
pub struct ConnectionReply {
    /// Its name.
    pub name: String,
    /// Who defined it.
    pub origin: ConnectionOriginReply,
    /// What was said of it.
    pub definition: ConnectionDefinitionReply,
    /// How it is doing.
    pub health: ConnectionHealthReply,
    /// What its server says of itself, while it is ready.
    pub server: Option<ConnectionServerReply>,
    /// How many tools may be called, if they are known.
    pub tools: Option<usize>,
    /// How many calls are under way.
    pub calls: usize,
    /// How many calls wait for their place.
    pub waiting: usize,
    /// What an operator should look at.
    pub problems: Vec<String>,
}

/// Who defined a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ConnectionOrigin))]
pub enum ConnectionOriginReply {
    /// The operator, in the settings: it cannot be changed over the API.
    Settings,
    /// An admin, over the API.
    Api,
}

/// What was said of a connection, without values that were written plainly.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ConnectionDefinition))]
pub struct ConnectionDefinitionReply {
    /// The program that is started.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables of its environment.
    pub env: BTreeMap<String, ConnectionValueReply>,
    /// The folder that it runs in.
    pub cwd: Option<String>,
    /// The address that is asked, without its query.
    pub url: Option<String>,
    /// Headers of each request.
    pub headers: BTreeMap<String, ConnectionValueReply>,
    /// The tools that may be called; all, if it is `null`.
    pub allowed_tools: Option<Vec<String>>,
    /// How many calls may be under way at a time.
    pub concurrency: usize,
    /// How long a tool may take to answer.
    pub timeout_ms: u64,
}

/// The value of a variable or a header, as it is shown: where a secret is, or that a value is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ConnectionValue))]
pub struct ConnectionValueReply {
    /// Where the secret is; `null` for a value that was written plainly, which is not shown.
    pub secret: Option<SecretReference>,
}

/// How a connection is doing.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ConnectionHealth))]
pub struct ConnectionHealthReply {
    /// Where it stands.
    pub status: ConnectionStatus,
    /// Why it failed.
    pub why: Option<String>,
    /// When it is tried again.
    pub next_try_at: Option<Time>,
}

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ConnectionStatus {
    /// It is being made.
    Connecting,
    /// Tools can be called.
    Ready,
    /// It could not be made, or was lost; it is tried again.
    Failed,
    /// It is not made again.
    Stopped,
}

/// What a server says of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ConnectionServer))]
pub struct ConnectionServerReply {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The version of the Model Context Protocol.
    pub protocol: String,
}

/// All connections.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ConnectionList))]
pub struct ConnectionListReply {
    #[allow(missing_docs, reason = "a doc would be in the OpenAPI document, and the name says it")]
    pub items: Vec<ConnectionReply>,
    /// Always `null`: the connections are one page.
    pub cursor: Option<String>,
}

/// The tools of a connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ToolList))]
pub struct ToolListReply {
    /// Those that may be called.
    pub items: Vec<ToolReply>,
    /// Always `null`: the tools are one page.
    pub cursor: Option<String>,
    /// A hash of the names and schemas of all tools that the server has.
    pub hash: String,
}

/// A tool of a connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Tool))]
pub struct ToolReply {
    /// Its name.
    pub name: String,
    /// What it does, in the words of the server.
    pub description: Option<String>,
    /// JSON Schema of what it takes.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub input_schema: serde_json::Value,
    /// JSON Schema of what it gives, if it says.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub output_schema: Option<serde_json::Value>,
}

/// What a tool is given.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ToolCallRequest))]
pub struct ToolCallBody {
    /// An object.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false, value_type = Option<Object>))]
    pub input: Value,
}

/// What a tool gave.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ToolCallResult))]
pub struct ToolCallReply {
    /// As a step would have it.
    pub output: Value,
}
