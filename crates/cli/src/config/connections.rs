//! `[connections.NAME]` in `rival.toml`: MCP servers whose tools steps call.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rival_mcp::{ConnectionDefinition, GivenValue, SecretRef, is_connection_name};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::file::{line_of, word};
use super::suggest::did_you_mean;

/// The table that holds them.
pub(super) const TABLE: &str = "connections";

const FIELDS: [&str; 9] =
    ["command", "args", "env", "cwd", "url", "headers", "tools", "concurrency", "timeout"];
const SECRET_FIELDS: [&str; 3] = ["env", "file", "prefix"];

/// A connection of the settings.
#[derive(Clone, Debug)]
pub(crate) struct FileConnection {
    pub(crate) name: String,
    pub(crate) definition: ConnectionDefinition,
    /// Where it is.
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
}

impl FileConnection {
    /// Programs run in the folder of the project, and files are meant from there.
    pub(super) fn seen_from(mut self, project: &Path) -> Self {
        let definition = &mut self.definition;
        let project = if project.as_os_str().is_empty() { Path::new(".") } else { project };
        let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
        if let Some(command) = &mut definition.command {
            definition.cwd = Some(project.join(definition.cwd.take().unwrap_or_default()));
            if command.contains('/') {
                *command = project.join(&*command).display().to_string();
            }
        }
        for value in definition.env.values_mut().chain(definition.headers.values_mut()) {
            if let GivenValue::Secret(SecretRef { file: Some(file), .. }) = value {
                *file = project.join(&*file);
            }
        }
        self
    }
}

/// What is read, and what is wrong with it.
struct TableReader<'a> {
    text: &'a str,
    file: &'a Path,
    /// With where it is.
    wrong: Vec<(usize, String)>,
}

/// Reads all connections of a file, or says everything that is wrong with them.
pub(super) fn read(
    text: &str,
    file: &Path,
    at: usize,
    tables: &DeValue<'_>,
) -> Result<Vec<FileConnection>, Vec<String>> {
    let mut reader = TableReader { text, file, wrong: Vec::new() };
    let DeValue::Table(tables) = tables else {
        return Err(vec![format!("{}:{at}: `{TABLE}` is a table: [{TABLE}.NAME]", file.display())]);
    };
    let mut tables: Vec<_> = tables.iter().collect();
    tables.sort_by_key(|(name, _)| name.span().start);
    let read = tables.into_iter().filter_map(|(name, table)| reader.connection(name, table)).collect();
    reader.wrong.sort_by_key(|(offset, _)| *offset);
    let wrong: Vec<String> = reader.wrong.into_iter().map(|(_, message)| message).collect();
    if wrong.is_empty() { Ok(read) } else { Err(wrong) }
}

impl TableReader<'_> {
    fn wrong(&mut self, offset: usize, message: &str) {
        let line = line_of(self.text, offset);
        self.wrong.push((offset, format!("{}:{line}: {message}", self.file.display())));
    }

    fn connection(
        &mut self,
        name: &Spanned<std::borrow::Cow<'_, str>>,
        table: &Spanned<DeValue<'_>>,
    ) -> Option<FileConnection> {
        let (start, name) = (name.span().start, name.get_ref().as_ref());
        let DeValue::Table(fields) = table.get_ref() else {
            self.wrong(start, &format!("`{TABLE}.{name}` is a table: [{TABLE}.{name}]"));
            return None;
        };
        if !is_connection_name(name) {
            self.wrong(
                start,
                &format!("`{name}` is no name of a connection: letters, digits, `-` and `_`, 64 at most"),
            );
            return None;
        }
        let before = self.wrong.len();
        let mut definition = ConnectionDefinition::default();
        let mut places = BTreeMap::new();
        for (field, value) in fields {
            places.insert(field.get_ref().to_string(), field.span().start);
            self.field(name, field.get_ref(), field.span().start, value, &mut definition, &mut places);
        }
        let problems = if self.wrong.len() == before { definition.problems() } else { Vec::new() };
        for problem in problems {
            let field = problem.field.as_str();
            let around = field.split('.').next().unwrap_or_default();
            let place = places.get(field).or_else(|| places.get(around)).copied().unwrap_or(start);
            self.wrong(place, &format!("`{TABLE}.{name}.{field}` {}", problem.message));
        }
        let line = line_of(self.text, start);
        Some(FileConnection { name: name.to_owned(), definition, file: self.file.to_owned(), line })
    }

    fn field(
        &mut self,
        name: &str,
        field: &str,
        start: usize,
        value: &Spanned<DeValue<'_>>,
        definition: &mut ConnectionDefinition,
        places: &mut BTreeMap<String, usize>,
    ) {
        let given = value.get_ref();
        let expected = match field {
            "command" => set(&mut definition.command, text(given), "the name of a program"),
            "url" => set(&mut definition.url, text(given), "an address such as https://mcp.example/mcp"),
            "cwd" => set(&mut definition.cwd, text(given).map(PathBuf::from), "a folder"),
            "args" => match texts(given) {
                Some(args) => {
                    definition.args = args;
                    None
                }
                None => Some("a list of texts"),
            },
            "tools" => set(&mut definition.tools, texts(given), "a list of names"),
            "concurrency" => set(&mut definition.concurrency, number(given), "a whole number from 1"),
            "timeout" => set(&mut definition.timeout_ms, milliseconds(given), rival_api::duration::EXPECTED),
            "env" => {
                definition.env = self.values(&format!("{TABLE}.{name}.env"), "env", value, places);
                None
            }
            "headers" => {
                definition.headers =
                    self.values(&format!("{TABLE}.{name}.headers"), "headers", value, places);
                None
            }
            _ => {
                let hint = did_you_mean(field, FIELDS);
                self.wrong(start, &format!("a connection has no field `{field}` (`{TABLE}.{name}`){hint}"));
                None
            }
        };
        if let Some(expected) = expected {
            self.wrong(start, &format!("`{TABLE}.{name}.{field}` must be {expected}"));
        }
    }

    /// Variables or headers.
    fn values(
        &mut self,
        path: &str,
        field: &str,
        table: &Spanned<DeValue<'_>>,
        places: &mut BTreeMap<String, usize>,
    ) -> BTreeMap<String, GivenValue> {
        let DeValue::Table(values) = table.get_ref() else {
            self.wrong(table.span().start, &format!("`{path}` must be a table"));
            return BTreeMap::new();
        };
        let mut read = BTreeMap::new();
        for (name, value) in values {
            let (start, name) = (name.span().start, name.get_ref().as_ref());
            places.insert(format!("{field}.{name}"), start);
            let given = match value.get_ref() {
                DeValue::String(text) => Some(GivenValue::Plain(text.to_string())),
                DeValue::Table(fields) => {
                    self.secret(&format!("{path}.{name}"), fields).map(GivenValue::Secret)
                }
                _ => {
                    let message = format!(
                        "`{path}.{name}` must be a text, {{ env = \"NAME\" }} or {{ file = \"/path\" }}"
                    );
                    self.wrong(start, &message);
                    None
                }
            };
            read.extend(given.map(|given| (name.to_owned(), given)));
        }
        read
    }

    fn secret(&mut self, path: &str, fields: &DeTable<'_>) -> Option<SecretRef> {
        let mut secret = SecretRef::default();
        let before = self.wrong.len();
        for (field, value) in fields {
            let (start, field) = (field.span().start, field.get_ref().as_ref());
            let given = text(value.get_ref());
            match (field, given) {
                ("env", Some(name)) => secret.env = Some(name),
                ("file", Some(file)) => secret.file = Some(file.into()),
                ("prefix", Some(prefix)) => secret.prefix = Some(prefix),
                ("env" | "file" | "prefix", None) => {
                    self.wrong(start, &format!("`{path}.{field}` must be a text"));
                }
                _ => {
                    let hint = did_you_mean(field, SECRET_FIELDS);
                    self.wrong(start, &format!("a secret has no field `{field}` (`{path}`){hint}"));
                }
            }
        }
        (self.wrong.len() == before).then_some(secret)
    }
}

/// Sets what could be read; else what was expected.
fn set<T>(to: &mut Option<T>, read: Option<T>, expected: &'static str) -> Option<&'static str> {
    if read.is_none() {
        return Some(expected);
    }
    *to = read;
    None
}

fn text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    }
}

fn texts(value: &DeValue<'_>) -> Option<Vec<String>> {
    match value {
        DeValue::Array(items) => items.iter().map(|item| text(item.get_ref())).collect(),
        _ => None,
    }
}

fn number(value: &DeValue<'_>) -> Option<usize> {
    match value {
        DeValue::Integer(number) => number.to_string().parse().ok(),
        _ => None,
    }
}

fn milliseconds(value: &DeValue<'_>) -> Option<u64> {
    let time = rival_api::duration::parse(&word(value)?)?;
    u64::try_from(time.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::super::file;

    fn read(text: &str) -> Result<file::FileSettings, Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rival.toml");
        std::fs::write(&path, text).unwrap();
        let prefix = format!("{}:", path.display());
        file::read(&path).map_err(|wrong| wrong.iter().map(|it| it.replace(&prefix, "")).collect())
    }

    #[test]
    fn connections_are_tables_with_secrets_by_reference() {
        let settings = read(
            r#"
listen = "127.0.0.1:1"

[connections.github]
command = "npx"
args = ["-y", "server-github"]
env = { GITHUB_TOKEN = { env = "GITHUB_TOKEN" }, LEVEL = "debug" }
tools = ["search"]
timeout = "30s"

[connections.billing]
url = "https://billing.example/mcp"
concurrency = 2

[connections.billing.headers]
Authorization = { file = "secrets/billing", prefix = "Bearer " }
"#,
        )
        .unwrap();
        let [github, billing] = &settings.connections[..] else { panic!("{settings:?}") };
        assert_eq!((github.name.as_str(), github.line), ("github", 4));
        assert_eq!(github.definition.timeout_ms, Some(30_000));
        assert_eq!(
            serde_json::to_value(&billing.definition).unwrap(),
            serde_json::json!({"url": "https://billing.example/mcp", "concurrency": 2,
                "headers": {"Authorization": {"file": "secrets/billing", "prefix": "Bearer "}}})
        );
        let seen = billing.clone().seen_from(std::path::Path::new("/project"));
        assert!(serde_json::to_string(&seen.definition).unwrap().contains("/project/secrets/billing"));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_field() {
        let wrong = read(
            r#"[connections.a]
comand = "npx"
args = "x"
[connections.b]
url = "ftp://x"
[connections.c]
url = "https://x"
headers = { Authorization = { enw = "T" }, X = 5 }
timeout = 5
[connections."d e"]
url = "https://x"
[connections.f]
command = "x"
env = { T = {} }
"#,
        )
        .unwrap_err();
        assert_eq!(
            wrong,
            [
                "2: a connection has no field `comand` (`connections.a`); did you mean `command`?",
                "3: `connections.a.args` must be a list of texts",
                "5: `connections.b.url` begins with neither https: nor http:",
                "8: a secret has no field `enw` (`connections.c.headers.Authorization`); did you mean `env`?",
                "8: `connections.c.headers.X` must be a text, { env = \"NAME\" } or { file = \"/path\" }",
                "9: `connections.c.timeout` must be a length of time such as 500ms, 30s, 5m, 1h",
                "10: `d e` is no name of a connection: letters, digits, `-` and `_`, 64 at most",
                "14: `connections.f.env.T` refers to no secret: write { env = \"NAME\" } or { file = \"/path\" }",
            ]
        );
        assert_eq!(
            read("connections = 5").map(|_| ()).unwrap_err(),
            ["1: `connections` is a table: [connections.NAME]"]
        );
    }
}
