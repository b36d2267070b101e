//! What an operator says of a connection.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// How many calls a connection has under way at a time, unless it says otherwise.
pub const CONCURRENCY_DEFAULT: usize = 8;
/// How long a tool may take to answer, unless its connection says otherwise.
pub const TIMEOUT_DEFAULT: Duration = Duration::from_secs(60);

const CONCURRENCY_MAX: usize = 10_000;
const TIMEOUT_MAX: Duration = Duration::from_secs(24 * 60 * 60);
const NAME_CHARS_MAX: usize = 64;
/// A definition has at most this many arguments, variables, headers or tools, each.
const ENTRIES_MAX: usize = 1_000;

/// A connection: an MCP server that is started as a program, or asked at an address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectionDefinition {
    /// The program that is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Its arguments, as they are: no shell reads them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Variables of its environment, besides the few that every program gets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, GivenValue>,
    /// The folder that it runs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// The address that is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Headers of each request.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, GivenValue>,
    /// The tools that may be called; all, if it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// How many calls may be under way at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<usize>,
    /// How long a tool may take to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// The value of a variable or a header.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum GivenValue {
    /// As it is written.
    Plain(String),
    /// A secret, by reference.
    Secret(SecretRef),
}

impl std::fmt::Debug for GivenValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Plain(_) => f.write_str("Plain"),
            Self::Secret(secret) => secret.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for GivenValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = GivenValue;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a text, {\"env\": \"NAME\"} or {\"file\": \"/path\"}")
    }

    fn visit_str<E>(self, text: &str) -> Result<GivenValue, E> {
        Ok(GivenValue::Plain(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<GivenValue, A::Error> {
        SecretRef::deserialize(MapAccessDeserializer::new(map)).map(GivenValue::Secret)
    }
}

/// Where a secret is: in a variable of the server's environment, or in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretRef {
    /// A variable of the server's environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<String>,
    /// A file; line breaks at its end do not belong to the secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// What stands before the secret: `Bearer `.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
}

/// A definition that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {message}")]
pub struct DefinitionError {
    /// The field, as it is written: `headers.Authorization`.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
}

fn wrong(field: impl Into<String>, message: impl Into<String>) -> DefinitionError {
    DefinitionError { field: field.into(), message: message.into() }
}

/// Whether a connection may be called so.
pub fn is_connection_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !name.is_empty() && name.len() <= NAME_CHARS_MAX && name.bytes().all(fits)
}

/// Everything that is wrong with a connection of this name.
pub fn definition_problems(name: &str, definition: &ConnectionDefinition) -> Vec<DefinitionError> {
    let mut problems = definition.problems();
    if !is_connection_name(name) {
        problems
            .insert(0, wrong(name, "is no name of a connection: letters, digits, `-` and `_`, 64 at most"));
    }
    problems
}

/// Whether what is called so usually is a secret.
pub(crate) fn is_sensitive_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words = ["auth", "cookie", "token", "secret", "password", "passwd", "credential", "key"];
    words.iter().any(|word| name.contains(word))
}

impl ConnectionDefinition {
    /// How many calls may be under way at a time.
    pub fn concurrency(&self) -> usize {
        self.concurrency.unwrap_or(CONCURRENCY_DEFAULT)
    }

    /// How long a tool may take to answer.
    pub fn timeout(&self) -> Duration {
        self.timeout_ms.map_or(TIMEOUT_DEFAULT, Duration::from_millis)
    }

    /// Whether a tool may be called.
    pub fn allows(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(|allowed| allowed == tool))
    }

    /// The secrets that it refers to, with the fields that do.
    pub fn secrets(&self) -> Vec<(String, &SecretRef)> {
        self.values()
            .filter_map(|(field, value)| match value {
                GivenValue::Secret(secret) => Some((field, secret)),
                GivenValue::Plain(_) => None,
            })
            .collect()
    }

    /// Fields whose names speak of a secret, but whose values are written plainly.
    pub fn plain_secrets(&self) -> Vec<String> {
        let plain = self.values().filter(|(_, value)| matches!(value, GivenValue::Plain(_)));
        plain.map(|(field, _)| field).filter(|field| is_sensitive_name(field)).collect()
    }

    fn values(&self) -> impl Iterator<Item = (String, &GivenValue)> {
        let env = self.env.iter().map(|(name, value)| (format!("env.{name}"), value));
        env.chain(self.headers.iter().map(|(name, value)| (format!("headers.{name}"), value)))
    }

    /// Everything that is wrong with it.
    pub fn problems(&self) -> Vec<DefinitionError> {
        let mut problems = match (&self.command, &self.url) {
            (Some(command), None) => self.command_problems(command),
            (None, Some(url)) => self.url_problems(url),
            (Some(_), Some(_)) => {
                vec![wrong("url", "does not go with `command`: a connection has one of them")]
            }
            (None, None) => {
                vec![wrong("command", "is missing, and so is `url`: a connection has one of them")]
            }
        };
        let values = self.values();
        problems.extend(values.filter_map(|(field, value)| Some(wrong(field, value_problem(value)?))));
        problems.extend(self.limit_problems());
        problems
    }

    fn command_problems(&self, command: &str) -> Vec<DefinitionError> {
        let mut problems = Vec::new();
        if command.trim().is_empty() || command.contains('\0') {
            problems.push(wrong("command", "is not the name of a program"));
        }
        if !self.headers.is_empty() {
            problems.push(wrong("headers", "go with `url`, not with `command`"));
        }
        if self.args.iter().any(|arg| arg.contains('\0')) {
            problems.push(wrong("args", "have a character that no argument can have"));
        }
        let bad = self.env.keys().filter(|name| name.is_empty() || name.contains(['=', '\0']));
        problems.extend(bad.map(|name| wrong(format!("env.{name}"), "is not the name of a variable")));
        problems
    }

    fn url_problems(&self, url: &str) -> Vec<DefinitionError> {
        let mut problems = Vec::new();
        match reqwest::Url::parse(url) {
            Ok(url) if !matches!(url.scheme(), "http" | "https") => {
                problems.push(wrong("url", "begins with neither https: nor http:"));
            }
            Ok(url) if !url.username().is_empty() || url.password().is_some() => {
                problems
                    .push(wrong("url", "has a user or password in it: give them as a header, by reference"));
            }
            Ok(_) => {}
            Err(error) => problems.push(wrong("url", format!("is not an address: {error}"))),
        }
        let other =
            [("args", !self.args.is_empty()), ("env", !self.env.is_empty()), ("cwd", self.cwd.is_some())];
        let other = other.into_iter().filter(|(_, given)| *given);
        problems.extend(other.map(|(field, _)| wrong(field, "goes with `command`, not with `url`")));
        for name in self.headers.keys() {
            if let Some(message) = header_problem(name) {
                problems.push(wrong(format!("headers.{name}"), message));
            }
        }
        problems
    }

    fn limit_problems(&self) -> Vec<DefinitionError> {
        let mut problems = Vec::new();
        if self.concurrency.is_some_and(|calls| !(1..=CONCURRENCY_MAX).contains(&calls)) {
            problems.push(wrong("concurrency", format!("is not a number from 1 to {CONCURRENCY_MAX}")));
        }
        if self.timeout_ms.is_some_and(|ms| ms == 0 || Duration::from_millis(ms) > TIMEOUT_MAX) {
            problems.push(wrong("timeout", "is not between a millisecond and a day"));
        }
        let counts = [
            ("args", self.args.len()),
            ("env", self.env.len()),
            ("headers", self.headers.len()),
            ("tools", self.tools.as_ref().map_or(0, Vec::len)),
        ];
        let many = counts.into_iter().filter(|(_, count)| *count > ENTRIES_MAX);
        problems.extend(many.map(|(field, _)| wrong(field, format!("has more than {ENTRIES_MAX} entries"))));
        problems
    }
}

/// Headers that the protocol needs for itself.
const OWN_HEADERS: [&str; 9] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];

fn header_problem(name: &str) -> Option<&'static str> {
    match http::HeaderName::try_from(name) {
        Err(_) => Some("is not the name of a header"),
        Ok(name) if OWN_HEADERS.contains(&name.as_str()) => Some("is a header that the protocol sets itself"),
        Ok(_) => None,
    }
}

fn value_problem(value: &GivenValue) -> Option<&'static str> {
    match value {
        GivenValue::Plain(text) if text.contains(['\0', '\r', '\n']) => Some("has a line break in it"),
        GivenValue::Plain(_) => None,
        GivenValue::Secret(secret) => match (&secret.env, &secret.file) {
            (Some(name), None) if name.is_empty() || name.contains(['=', '\0']) => {
                Some("refers to no variable: `env` is its name")
            }
            (Some(_), None) => None,
            (None, Some(file)) if file.as_os_str().is_empty() => Some("refers to no file"),
            (None, Some(_)) => None,
            _ => Some("refers to no secret: write { env = \"NAME\" } or { file = \"/path\" }"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(json: serde_json::Value) -> ConnectionDefinition {
        serde_json::from_value(json).unwrap()
    }

    fn problems(json: serde_json::Value) -> Vec<String> {
        definition(json).problems().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_connection_is_a_program_or_an_address() {
        assert_eq!(
            problems(serde_json::json!({"command": "npx", "args": ["-y", "x"], "env": {"T": {"env": "T"}}})),
            [""; 0]
        );
        assert_eq!(
            problems(
                serde_json::json!({"url": "https://x.example/mcp", "headers": {"Authorization": {"file": "/t", "prefix": "Bearer "}}})
            ),
            [""; 0]
        );
        assert_eq!(
            problems(serde_json::json!({})),
            ["`command` is missing, and so is `url`: a connection has one of them"]
        );
        assert_eq!(
            problems(
                serde_json::json!({"url": "https://u:p@x.example", "args": ["a"], "headers": {"Host": "x"}, "concurrency": 0})
            ),
            [
                "`url` has a user or password in it: give them as a header, by reference",
                "`args` goes with `command`, not with `url`",
                "`headers.Host` is a header that the protocol sets itself",
                "`concurrency` is not a number from 1 to 10000",
            ]
        );
        assert_eq!(
            problems(serde_json::json!({"command": "x", "env": {"A": {}, "B": {"env": "B", "file": "/b"}}})),
            ["A", "B"].map(|name| format!(
                "`env.{name}` refers to no secret: write {{ env = \"NAME\" }} or {{ file = \"/path\" }}"
            ))
        );
    }

    #[test]
    fn names_of_connections_are_plain() {
        assert!(is_connection_name("git-hub_2"));
        assert!(["", "a b", "a/b", "ü", &"x".repeat(65)].iter().all(|name| !is_connection_name(name)));
    }

    #[test]
    fn values_are_not_shown_by_accident() {
        let definition =
            definition(serde_json::json!({"url": "https://x", "headers": {"X-Api-Key": "swordfish"}}));
        assert!(!format!("{definition:?}").contains("swordfish"));
        assert_eq!(definition.plain_secrets(), ["headers.X-Api-Key"]);
    }
}
