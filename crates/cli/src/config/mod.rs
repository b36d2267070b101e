//! Settings: flags, then environment variables, then `rival.toml`, then defaults.

mod connections;
mod file;
mod flags;
mod keys;
mod print;
mod suggest;
mod value;

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rival_script::{OutgoingPolicy, ScriptSettings};
use rival_server::BasePath;
use rival_server::token::AdminToken;

use crate::exit::ExitError;
use keys::{FILE_VARIABLE, KEYS, PREFIX, SettingKey};
use value::SettingValue;

pub(crate) use connections::FileConnection;
pub(crate) use flags::{GivenFlags, GlobalFlags, ServerFlags, TokenFlags};
pub(crate) use print::print;
pub(crate) use suggest::{did_you_mean, nearest};

/// The file that is read if no other is named, in this folder or in the nearest one around it that has it.
const FILE: &str = "rival.toml";

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SettingOrigin {
    Flag(String),
    Variable(String),
    File { file: PathBuf, line: usize },
    Default,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "--{flag}"),
            Self::Variable(variable) => f.write_str(variable),
            Self::File { file, line } => write!(f, "{}:{line}", file.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// One setting as it stands.
#[derive(Clone, Debug)]
struct SettingEntry {
    key: &'static SettingKey,
    /// `None`: not set, and what follows from that is decided where it is used.
    value: Option<SettingValue>,
    origin: SettingOrigin,
}

impl SettingEntry {
    /// Paths in the file of a project, and those that follow where it says nothing, are meant from the project's folder.
    fn seen_from(mut self, project: &Path) -> Self {
        let is_given = matches!(self.origin, SettingOrigin::Flag(_) | SettingOrigin::Variable(_));
        match &mut self.value {
            _ if is_given || project.as_os_str().is_empty() => {}
            Some(SettingValue::File(file)) => *file = project.join(&*file),
            Some(SettingValue::List(paths)) if self.key.has_paths() => {
                paths.iter_mut().for_each(|path| *path = project.join(&*path).display().to_string());
            }
            _ => {}
        }
        self
    }
}

/// All settings as they stand, in the order of [`KEYS`].
#[derive(Clone, Debug)]
pub(crate) struct ResolvedConfig {
    entries: Vec<SettingEntry>,
    /// The connections of the settings file.
    connections: Vec<FileConnection>,
    /// The settings file, if there is one.
    file: Option<PathBuf>,
    /// What is odd about the environment.
    pub(crate) warnings: Vec<String>,
}

impl ResolvedConfig {
    /// Puts the settings together. What is wrong is said all at once.
    pub(crate) fn load(
        named: Option<&Path>,
        given: &GivenFlags,
        environment: &[(String, String)],
    ) -> Result<Self, ExitError> {
        let variable = |name: &str| environment.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let named = named.map(Path::to_path_buf).or_else(|| variable(FILE_VARIABLE).map(PathBuf::from));
        let project = if named.is_some() { PathBuf::new() } else { find_project().unwrap_or_default() };
        let file = named.or_else(|| Some(project.join(FILE)).filter(|file| file.exists()));
        let lines = match &file {
            Some(file) => file::read(file).map_err(|errors| wrong(&errors))?,
            None => file::FileSettings::default(),
        };
        let file::FileSettings { settings: lines, connections } = lines;
        let mut errors = Vec::new();
        let mut entries = Vec::new();
        for key in &KEYS {
            let in_file = lines.iter().find(|line| line.key.name == key.name);
            let in_file = in_file.zip(file.as_ref()).map(|(line, file)| {
                (line.text.clone(), SettingOrigin::File { file: file.clone(), line: line.number })
            });
            let said = given
                .get(key)
                .map(|text| (text.to_owned(), SettingOrigin::Flag(key.flag())))
                .or_else(|| {
                    variable(&key.variable())
                        .map(|text| (text.clone(), SettingOrigin::Variable(key.variable())))
                })
                .or(in_file)
                .or_else(|| key.default.map(|text| (text.to_owned(), SettingOrigin::Default)));
            match entry(key, said) {
                Ok(entry) => entries.push(entry.seen_from(&project)),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() {
            let connections =
                connections.into_iter().map(|connection| connection.seen_from(&project)).collect();
            Ok(Self { entries, connections, file, warnings: unknown(environment) })
        } else {
            Err(wrong(&errors))
        }
    }

    fn entry(&self, name: &str) -> &SettingEntry {
        self.entries.iter().find(|entry| entry.key.name == name).expect("every key has an entry")
    }

    fn value(&self, name: &str) -> Option<&SettingValue> {
        self.entry(name).value.as_ref()
    }

    fn number(&self, name: &str) -> usize {
        match self.value(name) {
            Some(SettingValue::Number(number)) => usize::try_from(*number).unwrap_or(usize::MAX),
            other => unreachable!("`{name}` is a number with a default, not {other:?}"),
        }
    }

    fn list(&self, name: &str) -> Vec<String> {
        match self.value(name) {
            Some(SettingValue::List(words)) => words.clone(),
            other => unreachable!("`{name}` is a list with a default, not {other:?}"),
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            SettingValue::Text(text) | SettingValue::Secret(text) => Some(text),
            other => unreachable!("`{name}` is a text, not {other:?}"),
        }
    }

    pub(crate) fn listen(&self) -> SocketAddr {
        match self.value("listen") {
            Some(SettingValue::Address(address)) => *address,
            other => unreachable!("`listen` is an address with a default, not {other:?}"),
        }
    }

    pub(crate) fn store(&self) -> &Path {
        match self.value("store") {
            Some(SettingValue::File(file)) => file,
            other => unreachable!("`store` is a file with a default, not {other:?}"),
        }
    }

    pub(crate) fn tokens(&self) -> PathBuf {
        match self.value("tokens") {
            Some(SettingValue::File(file)) => file.clone(),
            _ => self.store().with_file_name("tokens.json"),
        }
    }

    /// Where a server leaves the secret for people at its machine: beside the store.
    pub(crate) fn local_secret(&self) -> PathBuf {
        self.store().with_added_extension("secret")
    }

    pub(crate) fn require_token(&self) -> Option<bool> {
        match self.value("require_token") {
            Some(SettingValue::Switch(on)) => Some(*on),
            _ => None,
        }
    }

    pub(crate) fn allowed_hosts(&self) -> Vec<String> {
        self.list("allowed_hosts")
    }

    pub(crate) fn allowed_origins(&self) -> Vec<String> {
        self.list("allowed_origins")
    }

    pub(crate) fn body_max_bytes(&self) -> usize {
        self.number("body_max_bytes")
    }

    pub(crate) fn base_path(&self) -> BasePath {
        match self.value("base_path") {
            Some(SettingValue::Text(path)) => BasePath::new(path).expect("it was read as one"),
            _ => BasePath::default(),
        }
    }

    pub(crate) fn requests_per_second(&self) -> Option<u32> {
        match self.value("requests_per_second") {
            Some(SettingValue::Number(number)) => Some(u32::try_from(*number).unwrap_or(u32::MAX)),
            _ => None,
        }
    }

    pub(crate) fn stream_clients_max(&self) -> usize {
        self.number("stream_clients_max")
    }

    pub(crate) fn connections_max(&self) -> usize {
        self.number("connections_max")
    }

    pub(crate) fn max_live_runs(&self) -> usize {
        self.number("max_live_runs")
    }

    pub(crate) fn max_payload_bytes(&self) -> usize {
        self.number("max_payload_bytes")
    }

    /// Files and folders of workflows.
    pub(crate) fn workflows(&self) -> Vec<PathBuf> {
        self.list("workflows").into_iter().map(PathBuf::from).collect()
    }

    /// The environment variables that scripts may see.
    pub(crate) fn script_env(&self) -> Vec<String> {
        self.list("script_env")
    }

    /// The connections of the settings file.
    pub(crate) fn connections(&self) -> &[FileConnection] {
        &self.connections
    }

    /// Whether admins may define connections over the API that start programs.
    pub(crate) fn connection_commands(&self) -> bool {
        matches!(self.value("connection_commands"), Some(SettingValue::Switch(true)))
    }

    /// Variables and files that connections which are defined over the API may take secrets from.
    pub(crate) fn connection_secrets(&self) -> Vec<String> {
        self.list("connection_secrets")
    }

    /// Where steps may send requests: to public addresses, and where the operator allows it.
    pub(crate) fn outgoing(&self) -> OutgoingPolicy {
        let allowed = self.list("outgoing_allow");
        allowed.iter().fold(OutgoingPolicy::public(), |policy, entry| {
            policy.allow(entry).expect("entries were checked when they were read")
        })
    }

    /// How scripts are run, and where they may send requests.
    pub(crate) fn scripts(&self, outgoing: OutgoingPolicy) -> ScriptSettings {
        let mut settings = ScriptSettings { outgoing, ..ScriptSettings::default() };
        if let Some(SettingValue::Number(hosts)) = self.value("script_hosts") {
            settings.hosts = usize::try_from(*hosts).unwrap_or(usize::MAX);
        }
        settings.memory_limit = self.number("script_memory");
        settings.import_roots = self.list("script_imports").into_iter().map(PathBuf::from).collect();
        let seen = self.script_env().into_iter();
        settings.env = seen.filter_map(|name| std::env::var(&name).ok().map(|value| (name, value))).collect();
        settings
    }

    fn duration(&self, name: &str) -> Duration {
        match self.value(name) {
            Some(SettingValue::Duration(time)) => *time,
            other => unreachable!("`{name}` is a time with a default, not {other:?}"),
        }
    }

    pub(crate) fn shutdown_grace(&self) -> Duration {
        self.duration("shutdown_grace")
    }

    pub(crate) fn shutdown_delay(&self) -> Duration {
        self.duration("shutdown_delay")
    }

    pub(crate) fn admin_token(&self) -> Option<AdminToken> {
        self.text("admin_token").and_then(AdminToken::new)
    }

    /// What is logged, and whether a setting chooses it.
    pub(crate) fn log(&self) -> (&str, bool) {
        let chosen = self.entry("log").origin != SettingOrigin::Default;
        (self.text("log").unwrap_or("info"), chosen)
    }

    pub(crate) fn log_json(&self) -> Option<bool> {
        self.text("log_format").map(|format| format == "json")
    }

    /// The server to talk to, and whether a setting names it.
    pub(crate) fn url(&self) -> (String, bool) {
        match self.text("url") {
            Some(url) => (url.to_owned(), true),
            None => (format!("http://{}", reachable(self.listen())), false),
        }
    }

    /// The settings file, if there is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    pub(crate) fn token(&self) -> Option<&str> {
        self.text("token")
    }
}

/// Whether this folder, or one above, has a settings file.
pub(crate) fn is_in_project() -> bool {
    Path::new(FILE).exists() || find_project().is_some()
}

/// The folder around this one with the settings file, as it is written from here; none if this one has it, or no other.
fn find_project() -> Option<PathBuf> {
    if Path::new(FILE).exists() {
        return None;
    }
    let here = std::env::current_dir().ok()?;
    let above = here.ancestors().skip(1).zip(1..);
    let (folder, steps) = above.into_iter().find(|(folder, _)| folder.join(FILE).is_file())?;
    // The settings say which code runs: a file that another user left in /tmp is not this user's project.
    is_trusted(&folder.join(FILE)).then(|| std::iter::repeat_n("..", steps).collect())
}

#[cfg(unix)]
fn is_trusted(file: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::geteuid().as_raw();
    file.metadata().is_ok_and(|meta| meta.uid() == user || meta.uid() == 0)
}

#[cfg(not(unix))]
fn is_trusted(_: &Path) -> bool {
    true
}

/// Where a server on this machine is reached that listens there.
pub(crate) fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

fn entry(key: &'static SettingKey, said: Option<(String, SettingOrigin)>) -> Result<SettingEntry, String> {
    let Some((text, origin)) = said else {
        return Ok(SettingEntry { key, value: None, origin: SettingOrigin::Default });
    };
    match SettingValue::parse(key.kind, &text) {
        Some(value) => Ok(SettingEntry { key, value: Some(value), origin }),
        None => {
            let shown = if key.kind.is_secret() { "(not shown)" } else { text.as_str() };
            let (name, expected) = (key.name, key.kind.expected());
            Err(format!("{origin}: `{shown}` is no value for `{name}`: expected {expected}"))
        }
    }
}

/// Variables that look like ours and are not.
fn unknown(environment: &[(String, String)]) -> Vec<String> {
    let known: Vec<String> =
        KEYS.iter().map(SettingKey::variable).chain([FILE_VARIABLE.to_owned()]).collect();
    let ours = environment.iter().map(|(name, _)| name).filter(|name| name.starts_with(PREFIX));
    let strange = ours.filter(|name| !known.contains(name));
    let mut warnings: Vec<String> = strange
        .map(|name| {
            let hint = did_you_mean(name, known.iter().map(String::as_str));
            format!("the variable {name} is not one of Rival's{hint}")
        })
        .collect();
    warnings.sort();
    warnings
}

fn wrong(errors: &[String]) -> ExitError {
    ExitError::usage(errors.join("\n")).hint("`rival serve --help` lists the settings")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_values_of_their_kind_and_names_are_in_order() {
        for key in &KEYS {
            if let Some(default) = key.default {
                assert!(SettingValue::parse(key.kind, default).is_some(), "{}", key.name);
            }
        }
        let config = ResolvedConfig::load(None, &GivenFlags::default(), &[]).unwrap();
        assert_eq!(config.url(), ("http://127.0.0.1:7878".to_owned(), false));
        assert_eq!(config.tokens(), Path::new("data/tokens.json"));
    }

    #[test]
    fn the_reference_lists_every_setting() {
        let page = include_str!("../../../../docs/cli.md");
        for key in &KEYS {
            let begin = format!("| `{}` | `{}` | ", key.name, key.variable());
            let line = page.lines().find(|line| line.starts_with(&begin));
            let line = line.unwrap_or_else(|| panic!("docs/cli.md has no line that begins with {begin}"));
            if let Some(default) = key.default {
                assert!(default.is_empty() || line.contains(&format!("`{default}`")), "{line}");
            }
        }
    }

    #[test]
    fn a_server_that_listens_everywhere_is_reached_on_this_machine() {
        assert_eq!(reachable("0.0.0.0:80".parse().unwrap()).to_string(), "127.0.0.1:80");
        assert_eq!(reachable("[::]:80".parse().unwrap()).to_string(), "[::1]:80");
        assert_eq!(reachable("10.0.0.7:80".parse().unwrap()).to_string(), "10.0.0.7:80");
    }
}
