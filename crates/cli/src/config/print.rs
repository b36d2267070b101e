//! `rival config print`.

use anyhow::Result;
use serde_json::json;

use super::{Config, Entry, Origin};
use crate::out::{Format, Out, Table};

/// Shows every setting, its value and where it comes from.
pub(crate) fn print(config: &Config, out: &Out) -> Result<()> {
    match out.format {
        Format::Table => {
            let mut table = Table::new(&["KEY", "VALUE", "FROM"]);
            for entry in &config.entries {
                table.row([entry.key.name.to_owned(), shown(config, entry), entry.origin.to_string()]);
            }
            out.table(&table)
        }
        Format::Json => {
            let entries = config.entries.iter().map(|entry| {
                json!({
                    "key": entry.key.name,
                    "value": entry.value.as_ref().map(super::value::Value::json),
                    "from": entry.origin.to_string(),
                    "variable": entry.key.variable(),
                    "about": entry.key.doc,
                })
            });
            out.json(&json!(entries.collect::<Vec<_>>()).to_string())
        }
        Format::Ids => config.entries.iter().try_for_each(|entry| out.line(entry.key.name)),
    }
}

/// The value; for what is not set, what follows from that.
fn shown(config: &Config, entry: &Entry) -> String {
    if let Some(value) = &entry.value {
        return value.show();
    }
    debug_assert_eq!(entry.origin, Origin::Default);
    match entry.key.name {
        "tokens" => config.tokens().display().to_string(),
        "require_token" => {
            if config.listen().ip().is_loopback() { "false (on loopback)" } else { "true (not on loopback)" }
                .to_owned()
        }
        "log_format" => "json where there is no terminal".to_owned(),
        "url" => config.url().0,
        _ => String::new(),
    }
}
