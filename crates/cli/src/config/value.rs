//! The value of a setting, checked.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use rival_api::duration;
use rival_script::OutgoingPolicy;
use rival_server::BasePath;
use rival_server::token::AdminToken;
use serde_json::json;

use super::keys::SettingKind;

/// A value of some kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SettingValue {
    Address(SocketAddr),
    File(PathBuf),
    Switch(bool),
    List(Vec<String>),
    Number(u64),
    Duration(Duration),
    Text(String),
    Secret(String),
}

impl SettingValue {
    /// Reads a value; `None` if it is not what is expected.
    pub(crate) fn parse(kind: SettingKind, text: &str) -> Option<Self> {
        match kind {
            SettingKind::Address => text.parse().ok().map(Self::Address),
            SettingKind::File => (!text.is_empty()).then(|| Self::File(PathBuf::from(text))),
            SettingKind::Switch => text.parse().ok().map(Self::Switch),
            SettingKind::Networks => {
                let list = Self::parse(SettingKind::List, text)?;
                let Self::List(entries) = &list else { return None };
                let all_are = entries.iter().all(|entry| OutgoingPolicy::public().allow(entry).is_ok());
                all_are.then_some(list)
            }
            SettingKind::List => {
                let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
                Some(Self::List(words.map(str::to_owned).collect()))
            }
            SettingKind::Count => text.parse().ok().filter(|count| *count > 0).map(Self::Number),
            SettingKind::Limit => text.parse().ok().map(Self::Number),
            SettingKind::Bytes => bytes(text).map(Self::Number),
            SettingKind::Duration => duration::parse(text).map(Self::Duration),
            SettingKind::Filter => {
                tracing_subscriber::EnvFilter::try_new(text).ok().map(|_| Self::Text(text.to_owned()))
            }
            SettingKind::LogFormat => matches!(text, "text" | "json").then(|| Self::Text(text.to_owned())),
            SettingKind::Url => url(text).map(Self::Text),
            SettingKind::UrlPath => BasePath::new(text).map(|_| Self::Text(text.to_owned())),
            SettingKind::Secret => (!text.is_empty()).then(|| Self::Secret(text.to_owned())),
            SettingKind::AdminSecret => AdminToken::new(text).map(|_| Self::Secret(text.to_owned())),
        }
    }

    /// For people. A secret shows only what does not help to use it.
    pub(crate) fn show(&self) -> String {
        match self {
            Self::Address(address) => address.to_string(),
            Self::File(file) => file.display().to_string(),
            Self::Switch(on) => on.to_string(),
            Self::List(words) => words.join(", "),
            Self::Number(number) => number.to_string(),
            Self::Duration(time) => duration::show(*time),
            Self::Text(text) => text.clone(),
            Self::Secret(_) => "(set, not shown)".to_owned(),
        }
    }

    /// For programs.
    pub(crate) fn json(&self) -> serde_json::Value {
        match self {
            Self::Switch(on) => json!(on),
            Self::List(words) => json!(words),
            Self::Number(number) => json!(number),
            Self::Address(_) | Self::File(_) | Self::Duration(_) | Self::Text(_) | Self::Secret(_) => {
                json!(self.show())
            }
        }
    }
}

fn bytes(text: &str) -> Option<u64> {
    let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
    let unit = units.into_iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?, size)));
    let (number, size) = unit.unwrap_or((text, 1));
    number.trim().parse::<u64>().ok()?.checked_mul(size).filter(|bytes| *bytes > 0)
}

fn url(text: &str) -> Option<String> {
    let url = reqwest::Url::parse(text).ok()?;
    let plain = matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none();
    (plain && url.has_host()).then(|| text.trim_end_matches('/').to_owned())
}
