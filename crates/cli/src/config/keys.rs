//! Every setting, once: its name, what it takes, its default and what it is for.

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingKind {
    /// An address with a port.
    Address,
    /// A file.
    File,
    /// `true` or `false`.
    Switch,
    /// Words with commas between them.
    List,
    /// Networks, addresses and host names.
    Networks,
    /// A whole number from 1.
    Count,
    /// A whole number; 0 means that there is no limit.
    Limit,
    /// A number of bytes.
    Bytes,
    /// A length of time.
    Duration,
    /// Which lines the log has.
    Filter,
    /// How lines of the log are written.
    LogFormat,
    /// The address of a server.
    Url,
    /// The path of a server behind a proxy.
    UrlPath,
    /// A secret: its value is never shown.
    Secret,
    /// A secret that the operator makes up.
    AdminSecret,
}

impl SettingKind {
    /// Whether its value is never shown.
    pub(crate) fn is_secret(self) -> bool {
        matches!(self, Self::Secret | Self::AdminSecret)
    }

    /// What is expected, for messages.
    pub(crate) fn expected(self) -> &'static str {
        match self {
            Self::Address => "an address with a port, such as 127.0.0.1:7878",
            Self::File => "the name of a file",
            Self::Switch => "true or false",
            Self::List => "words with commas between them, or a list of words",
            Self::Networks => "networks, addresses or host names, such as 10.0.0.0/8,db.internal",
            Self::Count => "a whole number from 1",
            Self::Limit => "a whole number, or 0 for no limit",
            Self::Bytes => "a number of bytes, such as 1048576, 512KiB or 16MiB",
            Self::Duration => rival_api::duration::EXPECTED,
            Self::Filter => "a log filter, such as info or warn,rival_engine=debug",
            Self::LogFormat => "text or json",
            Self::Url => "an address such as http://127.0.0.1:7878",
            Self::UrlPath => "a path such as /rival",
            Self::Secret => "a token, as `rival token create` shows it",
            Self::AdminSecret => "24 characters or more that cannot be guessed",
        }
    }

    /// What stands for the value in help texts.
    pub(crate) fn placeholder(self) -> &'static str {
        match self {
            Self::Address => "ADDRESS",
            Self::File => "FILE",
            Self::Switch => "BOOL",
            Self::List | Self::Networks => "LIST",
            Self::Count | Self::Limit => "N",
            Self::Bytes => "BYTES",
            Self::Duration => "TIME",
            Self::Filter => "FILTER",
            Self::LogFormat => "FORMAT",
            Self::Url => "URL",
            Self::UrlPath => "PATH",
            Self::Secret | Self::AdminSecret => "TOKEN",
        }
    }
}

/// Which commands have a flag for a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlagScope {
    /// All.
    Everywhere,
    /// Those that start a server, and those that look at how it would start.
    Server,
    /// The same, and those that deal with tokens.
    Tokens,
    /// None: those that start a server take it as arguments.
    Arguments,
}

/// One setting.
#[derive(Debug)]
pub(crate) struct SettingKey {
    pub(crate) name: &'static str,
    pub(crate) kind: SettingKind,
    /// As it would be written in the file; `None` if it depends on something else.
    pub(crate) default: Option<&'static str>,
    pub(crate) place: FlagScope,
    /// One line, also the help of its flag.
    pub(crate) doc: &'static str,
}

impl SettingKey {
    /// Its environment variable: `RIVAL_LISTEN`.
    pub(crate) fn variable(&self) -> String {
        format!("{PREFIX}{}", self.name.to_ascii_uppercase())
    }

    /// Whether its words are files and folders.
    pub(crate) fn has_paths(&self) -> bool {
        matches!(self.name, "workflows" | "script_imports")
    }

    /// Its flag, without the dashes: `allowed-hosts`.
    pub(crate) fn flag(&self) -> String {
        self.name.replace('_', "-")
    }
}

/// What all our environment variables begin with.
pub(crate) const PREFIX: &str = "RIVAL_";
/// Names the settings file; not a setting itself.
pub(crate) const FILE_VARIABLE: &str = "RIVAL_CONFIG";

const fn key(
    name: &'static str,
    kind: SettingKind,
    default: Option<&'static str>,
    place: FlagScope,
    doc: &'static str,
) -> SettingKey {
    SettingKey { name, kind, default, place, doc }
}

/// All settings, in the order in which they are shown.
#[rustfmt::skip]
pub(crate) const KEYS: [SettingKey; 28] = [
    key("listen", SettingKind::Address, Some("127.0.0.1:7878"), FlagScope::Server, "Where the server listens"),
    key("base_path", SettingKind::UrlPath, Some("/"), FlagScope::Server, "The path that a proxy gives the server, such as /rival: addresses in answers begin with it"),
    key("store", SettingKind::File, Some("data/rival.db"), FlagScope::Everywhere, "The store: one SQLite file"),
    key("tokens", SettingKind::File, None, FlagScope::Tokens, "The file of tokens; tokens.json beside the store by default"),
    key("require_token", SettingKind::Switch, None, FlagScope::Server, "Whether requests need a token; by default only where others can connect"),
    key("admin_token", SettingKind::AdminSecret, None, FlagScope::Server, "A token that may do everything, besides those in the file; better given as RIVAL_ADMIN_TOKEN"),
    key("allowed_hosts", SettingKind::List, Some(""), FlagScope::Server, "Further names under which the server may be called"),
    key("allowed_origins", SettingKind::List, Some(""), FlagScope::Server, "Web pages of other origins that may call the server"),
    key("body_max_bytes", SettingKind::Bytes, Some("1MiB"), FlagScope::Server, "The largest request, but for inputs, signals and imports"),
    key("requests_per_second", SettingKind::Limit, None, FlagScope::Server, "How many requests a client may make; unless told otherwise 20000 where only this machine can connect, 1000 elsewhere; 0 for any number"),
    key("stream_clients_max", SettingKind::Count, Some("1000"), FlagScope::Server, "How many clients may follow live events at a time"),
    key("connections_max", SettingKind::Count, Some("16384"), FlagScope::Server, "How many connections may be open; fewer where the system has fewer file handles"),
    key("max_live_runs", SettingKind::Count, Some("1000"), FlagScope::Server, "How many runs may be in memory at a time; others are queued"),
    key("max_payload_bytes", SettingKind::Bytes, Some("16MiB"), FlagScope::Server, "The largest input, result or signal"),
    key("workflows", SettingKind::List, Some(""), FlagScope::Arguments, "Files and folders of workflows, where a command names none"),
    key("script_env", SettingKind::List, Some(""), FlagScope::Server, "Environment variables that scripts may see in process.env"),
    key("script_hosts", SettingKind::Count, None, FlagScope::Server, "How many processes run scripts; one for each core, and two at least by default"),
    key("script_imports", SettingKind::List, Some(""), FlagScope::Server, "Folders that workflow files may import from, besides their own and node_modules"),
    key("script_memory", SettingKind::Bytes, Some("512MiB"), FlagScope::Server, "How much the scripts of one such process may hold"),
    key("outgoing_allow", SettingKind::Networks, Some(""), FlagScope::Server, "Addresses besides public ones that steps may send requests to"),
    key("connection_commands", SettingKind::Switch, Some("false"), FlagScope::Server, "Whether admins may define connections over the API that start programs on this machine"),
    key("connection_secrets", SettingKind::List, Some(""), FlagScope::Server, "Variables, files and folders that connections which are defined over the API may take secrets from"),
    key("shutdown_grace", SettingKind::Duration, Some("30s"), FlagScope::Server, "How long steps at work may take to finish when the server stops"),
    key("shutdown_delay", SettingKind::Duration, Some("0s"), FlagScope::Server, "How long the server works on, not ready any more, before it stops: balancers need some seconds"),
    key("log", SettingKind::Filter, Some("info"), FlagScope::Server, "What the server logs"),
    key("log_format", SettingKind::LogFormat, None, FlagScope::Server, "text or json; by default json where there is no terminal"),
    key("url", SettingKind::Url, None, FlagScope::Everywhere, "The server to talk to; the one at `listen` by default"),
    key("token", SettingKind::Secret, None, FlagScope::Everywhere, "The token to show it; better given as RIVAL_TOKEN, which others cannot see"),
];

/// The key of a name.
pub(crate) fn find(name: &str) -> Option<&'static SettingKey> {
    KEYS.iter().find(|key| key.name == name)
}
