//! Secrets: read when a connection is made, and not kept in any other form than the one that is needed.

use std::io::Read;
use std::path::Path;

use crate::definition::{ConnectionDefinition, GivenValue, SecretRef, is_sensitive_name};
use crate::redact::{SECRET_BYTES_MIN, SecretRedactor};

/// A larger file is no secret.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// A definition with its secrets. It has no `Debug`, so that none of them is written by accident.
pub(crate) struct ResolvedDefinition {
    pub(crate) env: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) redactor: SecretRedactor,
    /// Secrets that are too short to be found in texts, by the fields that have them.
    pub(crate) too_short: Vec<String>,
}

/// Why a secret cannot be used. It says where it should be, and nothing of what is there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}`: {message}")]
pub(crate) struct SecretError {
    field: String,
    message: String,
}

/// Reads the secrets of a definition.
pub(crate) fn resolve(definition: &ConnectionDefinition) -> Result<ResolvedDefinition, SecretError> {
    let (mut secrets, mut too_short) = (Vec::new(), Vec::new());
    let mut value = |field: String, given: &GivenValue| -> Result<String, SecretError> {
        match given {
            GivenValue::Plain(text) => {
                if is_sensitive_name(&field) {
                    secrets.push(without_scheme(text).to_owned());
                }
                Ok(text.clone())
            }
            GivenValue::Secret(reference) => {
                let secret =
                    read(reference).map_err(|message| SecretError { field: field.clone(), message })?;
                if secret.trim().len() < SECRET_BYTES_MIN {
                    too_short.push(field);
                }
                let prefix = reference.prefix.as_deref().unwrap_or_default();
                let text = format!("{prefix}{secret}");
                secrets.push(secret);
                Ok(text)
            }
        }
    };
    let mut env = Vec::new();
    for (name, given) in &definition.env {
        env.push((name.clone(), value(format!("env.{name}"), given)?));
    }
    let mut headers = Vec::new();
    for (name, given) in &definition.headers {
        headers.push((name.clone(), value(format!("headers.{name}"), given)?));
    }
    secrets.extend(query_secrets(definition));
    let redactor = SecretRedactor::new(secrets.iter().map(String::as_str));
    Ok(ResolvedDefinition { env, headers, redactor, too_short })
}

/// `Bearer abc` is written as `abc`, too.
fn without_scheme(text: &str) -> &str {
    match text.split_once(' ') {
        Some(("Bearer" | "Basic" | "Token" | "token" | "bearer" | "basic", secret)) => secret,
        _ => text,
    }
}

/// Values of a URL's query that are called as secrets are.
fn query_secrets(definition: &ConnectionDefinition) -> Vec<String> {
    let url = definition.url.as_deref().and_then(|url| reqwest::Url::parse(url).ok());
    let pairs = url.iter().flat_map(reqwest::Url::query_pairs);
    pairs.filter(|(name, _)| is_sensitive_name(name)).map(|(_, value)| value.into_owned()).collect()
}

fn read(reference: &SecretRef) -> Result<String, String> {
    match (&reference.env, &reference.file) {
        (Some(name), _) => {
            let secret = std::env::var(name).ok().filter(|secret| !secret.is_empty());
            secret.ok_or_else(|| format!("the environment has no variable `{name}`, or it is empty"))
        }
        (None, Some(file)) => read_file(file),
        (None, None) => Err("refers to no secret".to_owned()),
    }
}

fn read_file(file: &Path) -> Result<String, String> {
    let cannot = |error: std::io::Error| format!("the secret in {} cannot be read: {error}", file.display());
    let mut text = String::new();
    let opened = std::fs::File::open(file).map_err(cannot)?;
    opened.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(cannot)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("{} is larger than a secret is", file.display()));
    }
    let secret = text.trim_end_matches(['\r', '\n']);
    if secret.is_empty() {
        return Err(format!("{} is empty", file.display()));
    }
    Ok(secret.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(json: serde_json::Value) -> ConnectionDefinition {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_secret_in_a_file_is_read_each_time_and_known_to_the_redactor() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        std::fs::write(&file, "swordfish\n").unwrap();
        let given = definition(
            serde_json::json!({"url": "https://x.example/?api_key=hunter2hunter2&a=plain-plain", "headers": {
                "Authorization": {"file": file, "prefix": "Bearer "}, "X-Token": "Bearer in-the-open", "X-Plain": "of no interest",
            }}),
        );
        let resolved = resolve(&given).unwrap();
        assert_eq!(resolved.headers[0], ("Authorization".to_owned(), "Bearer swordfish".to_owned()));
        let clean = resolved
            .redactor
            .text("swordfish in-the-open of no interest hunter2hunter2 plain-plain")
            .into_owned();
        assert_eq!(clean, "[redacted] [redacted] of no interest [redacted] plain-plain");
        std::fs::write(&file, "abc").unwrap();
        assert_eq!(resolve(&given).unwrap().too_short, ["headers.Authorization"]);
        std::fs::write(&file, "\n").unwrap();
        let error = resolve(&given).err().unwrap();
        assert_eq!(error.to_string(), format!("`headers.Authorization`: {} is empty", file.display()));
    }
}
