//! Every setting, once: its name, what it takes, its default and what it is for.

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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
    /// A secret: its value is never shown.
    Secret,
}

impl Kind {
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
            Self::Duration => crate::duration::EXPECTED,
            Self::Filter => "a log filter, such as info or warn,rival_engine=debug",
            Self::LogFormat => "text or json",
            Self::Url => "an address such as http://127.0.0.1:7878",
            Self::Secret => "a token, as `rival token create` shows it",
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
            Self::Secret => "TOKEN",
        }
    }
}

/// Which commands have a flag for a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
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
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// As it would be written in the file; `None` if it depends on something else.
    pub(crate) default: Option<&'static str>,
    pub(crate) place: Place,
    /// One line, also the help of its flag.
    pub(crate) doc: &'static str,
}

impl Key {
    /// Its environment variable: `RIVAL_LISTEN`.
    pub(crate) fn variable(&self) -> String {
        format!("{PREFIX}{}", self.name.to_ascii_uppercase())
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
    kind: Kind,
    default: Option<&'static str>,
    place: Place,
    doc: &'static str,
) -> Key {
    Key { name, kind, default, place, doc }
}

/// All settings, in the order in which they are shown.
#[rustfmt::skip]
pub(crate) const KEYS: [Key; 23] = [
    key("listen", Kind::Address, Some("127.0.0.1:7878"), Place::Server, "Where the server listens"),
    key("store", Kind::File, Some("data/rival.db"), Place::Everywhere, "The store: one SQLite file"),
    key("tokens", Kind::File, None, Place::Tokens, "The file of tokens; tokens.json beside the store unless told otherwise"),
    key("require_token", Kind::Switch, None, Place::Server, "Whether requests need a token; unless told otherwise only where others can connect"),
    key("allowed_hosts", Kind::List, Some(""), Place::Server, "Further names under which the server may be called"),
    key("allowed_origins", Kind::List, Some(""), Place::Server, "Web pages of other origins that may call the server"),
    key("body_max_bytes", Kind::Bytes, Some("1MiB"), Place::Server, "The largest request, but for inputs, signals and imports"),
    key("requests_per_second", Kind::Limit, Some("1000"), Place::Server, "How many requests a client may make; 0 for any number"),
    key("stream_clients_max", Kind::Count, Some("1000"), Place::Server, "How many clients may follow live events at a time"),
    key("connections_max", Kind::Count, Some("16384"), Place::Server, "How many connections may be open; fewer where the system has fewer file handles"),
    key("max_live_runs", Kind::Count, Some("1000"), Place::Server, "How many runs may be in memory at a time; others are queued"),
    key("max_payload_bytes", Kind::Bytes, Some("16MiB"), Place::Server, "The largest input, result or signal"),
    key("workflows", Kind::List, Some(""), Place::Arguments, "Files and folders of workflows, where a command names none"),
    key("script_env", Kind::List, Some(""), Place::Server, "Environment variables that scripts may see in process.env"),
    key("script_hosts", Kind::Count, None, Place::Server, "How many processes run scripts; one for each core, and two at least, unless told otherwise"),
    key("script_imports", Kind::List, Some(""), Place::Server, "Folders that workflow files may import from, besides their own and node_modules"),
    key("script_memory", Kind::Bytes, Some("512MiB"), Place::Server, "How much the scripts of one such process may hold"),
    key("outgoing_allow", Kind::Networks, Some(""), Place::Server, "Addresses besides public ones that steps may send requests to"),
    key("shutdown_grace", Kind::Duration, Some("30s"), Place::Server, "How long steps at work may take to finish when the server stops"),
    key("log", Kind::Filter, Some("info"), Place::Server, "What the server logs"),
    key("log_format", Kind::LogFormat, None, Place::Server, "text or json; unless told otherwise json where there is no terminal"),
    key("url", Kind::Url, None, Place::Everywhere, "The server to talk to; the one at `listen` unless told otherwise"),
    key("token", Kind::Secret, None, Place::Everywhere, "The token to show it; better given as RIVAL_TOKEN, which others cannot see"),
];

/// The key of a name.
pub(crate) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}
