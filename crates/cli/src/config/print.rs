//! `rival config print`.

use anyhow::Result;
use serde_json::json;

use super::{FileConnection, ResolvedConfig, SettingEntry, SettingOrigin};
use crate::out::{DataOutput, OutputFormat};
use crate::table::TextTable;

/// Shows every setting, its value and where it comes from.
pub(crate) fn print(config: &ResolvedConfig, out: &DataOutput) -> Result<()> {
    match out.format {
        OutputFormat::Table => {
            let mut table = TextTable::new(&["KEY", "VALUE", "FROM"]).whole(&[0, 1]);
            for entry in &config.entries {
                table.row([entry.key.name.to_owned(), shown(config, entry), entry.origin.to_string()]);
            }
            for connection in &config.connections {
                let from = format!("{}:{}", connection.file.display(), connection.line);
                table.row([format!("connections.{}", connection.name), target(connection), from]);
            }
            out.table(&table)
        }
        OutputFormat::Json => {
            let entries = config.entries.iter().map(|entry| {
                json!({
                    "key": entry.key.name,
                    "value": entry.value.as_ref().map(super::value::SettingValue::json),
                    "from": entry.origin.to_string(),
                    "variable": entry.key.variable(),
                    "about": entry.key.doc,
                })
            });
            let connections = config.connections.iter().map(|connection| {
                json!({
                    "key": format!("connections.{}", connection.name),
                    "value": target(connection),
                    "from": format!("{}:{}", connection.file.display(), connection.line),
                    "about": "An MCP server whose tools steps call",
                })
            });
            out.json(&json!(entries.chain(connections).collect::<Vec<_>>()).to_string())
        }
        OutputFormat::Ids => config.entries.iter().try_for_each(|entry| out.line(entry.key.name)),
    }
}

/// The program or the address of a connection; no secret is in it.
fn target(connection: &FileConnection) -> String {
    let definition = &connection.definition;
    let address = definition.url.as_deref().map(|url| url.split('?').next().unwrap_or_default());
    definition.command.as_deref().or(address).unwrap_or_default().to_owned()
}

/// The value; for what is not set, what follows from that.
fn shown(config: &ResolvedConfig, entry: &SettingEntry) -> String {
    if let Some(value) = &entry.value {
        return value.show();
    }
    debug_assert_eq!(entry.origin, SettingOrigin::Default);
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
