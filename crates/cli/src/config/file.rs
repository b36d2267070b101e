//! `rival.toml`: one flat table of settings, and tables of connections.

use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::connections::{self, FileConnection};
use super::keys::{self, KEYS, SettingKey};
use super::suggest;

/// What the file says about one setting.
#[derive(Debug)]
pub(super) struct FileSetting {
    pub(super) key: &'static SettingKey,
    pub(super) number: usize,
    /// As a flag would say it.
    pub(super) text: String,
}

/// What the file says.
#[derive(Debug, Default)]
pub(super) struct FileSettings {
    pub(super) settings: Vec<FileSetting>,
    pub(super) connections: Vec<FileConnection>,
}

/// Reads the whole file, or says everything that is wrong with it.
pub(super) fn read(path: &Path) -> Result<FileSettings, Vec<String>> {
    let file = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| vec![format!("cannot read the settings in {file}: {error}")])?;
    let table = DeTable::parse(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(&text, span.start));
        vec![format!("{file}:{line}: {}", error.message())]
    })?;
    let mut entries: Vec<_> = table.get_ref().iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let (mut read, mut wrong) = (FileSettings::default(), Vec::new());
    for (key, value) in entries {
        let number = line_of(&text, key.span().start);
        let name: &str = key.get_ref();
        match keys::find(name) {
            None if name == connections::TABLE => {
                match connections::read(&text, path, number, value.get_ref()) {
                    Ok(connections) => read.connections = connections,
                    Err(errors) => wrong.extend(errors),
                }
            }
            Some(key) => match plain(value.get_ref()) {
                Some(text) => read.settings.push(FileSetting { key, number, text }),
                None => {
                    wrong.push(format!("{file}:{number}: `{name}` must be {}", key.kind.expected()));
                }
            },
            None => {
                let known = KEYS.iter().map(|key| key.name).chain([connections::TABLE]);
                let hint = suggest::did_you_mean(name, known);
                wrong.push(format!("{file}:{number}: there is no setting `{name}`{hint}"));
            }
        }
    }
    if wrong.is_empty() { Ok(read) } else { Err(wrong) }
}

/// The value as a flag would say it; a table has no such form.
fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(on) => Some(on.to_string()),
        DeValue::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(|item| word(item.get_ref())).collect();
            Some(items?.join(","))
        }
        DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}

pub(super) fn word(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) if !text.contains(',') => Some(text.to_string()),
        _ => None,
    }
}

pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}
