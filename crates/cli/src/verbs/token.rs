//! `token`: the file of tokens.

use anyhow::Result;
use rival::Clock;
use rival_server::auth::AccessScope;
use rival_server::token::{StoredToken, TokenError, TokenFile};
use serde_json::json;

use super::VerbContext;
use crate::args::{TokenScope, TokenVerb};
use crate::exit::ExitError;
use crate::out::{DataOutput, OutputFormat, clean, note};
use crate::table::TextTable;
use crate::text::moment;

pub(crate) fn token(context: &VerbContext, verb: &TokenVerb) -> Result<()> {
    let file = TokenFile::new(context.config.tokens());
    let out = &context.out;
    match verb {
        TokenVerb::Create { name, scope, expires, .. } => {
            let now = Clock::System.now();
            let expires =
                expires.map(|time| now.plus_ms(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)));
            let new = file.create(name, (*scope).into(), now, expires).map_err(refused)?;
            match out.format {
                OutputFormat::Json => {
                    let token = &new.token;
                    let token = json!({
                        "id": token.id, "name": token.name, "scope": token.scope, "createdAt": token.created_at,
                        "expiresAt": token.expires_at, "token": new.secret,
                    });
                    out.json(&token.to_string())?;
                }
                OutputFormat::Table | OutputFormat::Ids => out.line(&new.secret)?,
            }
            note(format_args!(
                "this is the only time it is shown; clients give it as RIVAL_TOKEN (written to {})",
                file.path().display()
            ));
            Ok(())
        }
        TokenVerb::List { .. } => list(out, &file.list().map_err(refused)?),
        TokenVerb::Revoke { id, .. } => {
            let token = file.revoke(id).map_err(refused)?;
            note(format_args!("`{}` is no longer valid", clean(&token.name)));
            Ok(())
        }
    }
}

fn list(out: &DataOutput, tokens: &[StoredToken]) -> Result<()> {
    match out.format {
        OutputFormat::Ids => tokens.iter().try_for_each(|token| out.line(&token.id)),
        OutputFormat::Json => {
            let tokens = tokens.iter().map(|token| {
                json!({
                    "id": token.id, "name": token.name, "scope": token.scope, "createdAt": token.created_at,
                    "expiresAt": token.expires_at,
                })
            });
            out.json(&json!(tokens.collect::<Vec<_>>()).to_string())
        }
        OutputFormat::Table if tokens.is_empty() => {
            note("no tokens; `rival token create NAME` makes one");
            Ok(())
        }
        OutputFormat::Table => {
            let mut table =
                TextTable::new(&["ID", "NAME", "SCOPE", "CREATED (UTC)", "EXPIRES (UTC)"]).whole(&[0]);
            for token in tokens {
                let scope = json!(token.scope);
                let scope = scope.as_str().unwrap_or_default().to_owned();
                let expires = token.expires_at.map_or_else(|| "never".to_owned(), moment);
                table.row([token.id.clone(), clean(&token.name), scope, moment(token.created_at), expires]);
            }
            out.table(&table)
        }
    }
}

#[allow(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn refused(error: TokenError) -> ExitError {
    let failed = match &error {
        TokenError::Unknown(_) => ExitError::not_found(error.to_string()),
        TokenError::InvalidName => ExitError::usage(error.to_string()),
        _ => ExitError::error(error.to_string()),
    };
    failed.code(error.code())
}

impl From<TokenScope> for AccessScope {
    fn from(scope: TokenScope) -> Self {
        match scope {
            TokenScope::Read => Self::Read,
            TokenScope::Run => Self::Run,
            TokenScope::Admin => Self::Admin,
        }
    }
}
