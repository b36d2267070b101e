//! Who may do what. Every route says what it needs when it is added; one that says nothing needs everything.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use rival_engine::Clock;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::keyring::{TokenKeyring, TokenRejection};
use crate::local_secret::{self, LocalSecret};
use crate::problem::{HttpProblem, code};
use crate::token::StoredToken;

/// What a token may do. Each scope may do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Scope)]
pub enum AccessScope {
    /// Look at everything.
    Read,
    /// Start runs, send signals, cancel, pause, resume, retry and fork.
    Run,
    /// Everything else: kill, import, change many runs at once.
    Admin,
}

impl AccessScope {
    /// The scope's name in token files, documents and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Run => "run",
            Self::Admin => "admin",
        }
    }
}

/// The client that asks.
#[derive(Clone, Debug)]
pub(crate) enum ApiCaller {
    /// A client without a token, where none is needed, and the scope that it has.
    Anyone(AccessScope),
    /// A person at this machine, who has read the server's local secret.
    Local,
    /// A client without a token, where one is needed.
    Nobody,
    /// The client that holds this token.
    Holder(Arc<StoredToken>),
}

impl ApiCaller {
    /// Reads the Authorization header. One that is there must be valid, whether it is needed or not.
    pub(crate) fn identify(
        headers: &HeaderMap,
        keyring: &TokenKeyring,
        anonymous: &AnonymousRights,
    ) -> Result<Self, HttpProblem> {
        let mut values = headers.get_all(header::AUTHORIZATION).iter();
        match (values.next(), values.next()) {
            (None, _) => Ok(anonymous.caller()),
            (Some(_), Some(_)) => Err(unauthorized("there are two Authorization headers")),
            (Some(value), None) => {
                let shown = bearer(value)
                    .ok_or_else(|| unauthorized("the Authorization header is not `Bearer <token>`"))?;
                if shown.starts_with(local_secret::PREFIX) {
                    return Ok(anonymous.with_secret(shown));
                }
                keyring.find(shown, Clock::System.now()).map(Self::Holder).map_err(rejected)
            }
        }
    }

    /// Whether the caller, once let in, would still be.
    pub(crate) fn is_still_known(&self, keyring: &TokenKeyring) -> bool {
        match self {
            Self::Holder(token) => keyring.still_has(token, Clock::System.now()),
            Self::Anyone(_) | Self::Local | Self::Nobody => true,
        }
    }

    /// Whether the caller may do what needs this scope.
    pub(crate) fn may(&self, needed: Option<AccessScope>) -> Result<(), HttpProblem> {
        match (self, needed) {
            (_, None) | (Self::Local, Some(_)) => Ok(()),
            (Self::Anyone(scope), Some(needed)) if *scope >= needed => Ok(()),
            (Self::Anyone(_), Some(needed)) => Err(HttpProblem::new(
                StatusCode::FORBIDDEN,
                code::FORBIDDEN,
                format!(
                    "this needs the scope `{}`: use the command `rival` on this machine as the user that runs the \
                     server, beside its store, or send a token that `rival token create NAME --scope {0}` makes",
                    needed.as_str()
                ),
            )),
            (Self::Holder(token), Some(needed)) if token.scope >= needed => Ok(()),
            (Self::Holder(token), Some(needed)) => {
                let (needed, scope) = (needed.as_str(), token.scope.as_str());
                let error = format!(
                    "this needs a token with the scope `{needed}`, and `{}` has `{scope}`",
                    token.name
                );
                Err(HttpProblem::new(StatusCode::FORBIDDEN, code::FORBIDDEN, error))
            }
            (Self::Nobody, Some(_)) => Err(unauthorized(
                "this needs a token: send `Authorization: Bearer rvl_…`; `rival token create` makes one",
            )),
        }
    }

    /// For the log: the token's id and name, and nothing that opens a door.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Anyone(_) | Self::Nobody => "-".to_owned(),
            Self::Local => "local".to_owned(),
            Self::Holder(token) => format!("{} ({})", token.id, token.name),
        }
    }
}

/// The header in which a person at this machine says who they are. A client that holds a token is named by that.
pub const USER_HEADER: &str = "rival-user";

/// Who asks, as histories name it.
#[derive(Clone)]
pub(crate) struct CallerName(pub(crate) Arc<str>);

impl CallerName {
    /// A client without a token has no name that could be believed.
    pub(crate) fn of(caller: &ApiCaller, headers: &HeaderMap) -> Option<Self> {
        match caller {
            ApiCaller::Anyone(_) | ApiCaller::Nobody => None,
            ApiCaller::Local => {
                let user = headers.get(USER_HEADER).and_then(|user| user.to_str().ok());
                Some(Self(user.unwrap_or("local").into()))
            }
            ApiCaller::Holder(token) => Some(Self(token.name.as_str().into())),
        }
    }
}

/// What requests without a token of the token file may do.
#[derive(Debug)]
pub(crate) enum AnonymousRights {
    /// Nothing: every request needs a token.
    Refused,
    /// What this scope may; everything with the secret, if there is one.
    Allowed { scope: AccessScope, secret: Option<LocalSecret> },
}

impl AnonymousRights {
    fn caller(&self) -> ApiCaller {
        match self {
            Self::Refused => ApiCaller::Nobody,
            Self::Allowed { scope, .. } => ApiCaller::Anyone(*scope),
        }
    }

    /// A secret that is not this server's counts for nothing: it is of a server that ran here before, and the user did
    /// not choose to send it: the client reads it from a file.
    fn with_secret(&self, shown: &str) -> ApiCaller {
        match self {
            Self::Allowed { secret: Some(secret), .. } if secret.is(shown) => ApiCaller::Local,
            Self::Allowed { .. } | Self::Refused => self.caller(),
        }
    }
}

fn bearer(value: &HeaderValue) -> Option<&str> {
    let (scheme, shown) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| shown.trim_start_matches(' '))
}

fn unauthorized(error: &str) -> HttpProblem {
    HttpProblem::new(StatusCode::UNAUTHORIZED, code::UNAUTHORIZED, error)
}

/// The token that a ticket stands for was taken back since.
pub(crate) fn revoked() -> HttpProblem {
    rejected(TokenRejection::Unknown)
}

fn rejected(why: TokenRejection) -> HttpProblem {
    match why {
        TokenRejection::Malformed => {
            unauthorized("the token is not one of Rival's: they look like `rvl_…_…`")
        }
        TokenRejection::Unknown => {
            unauthorized("the token is not known: it was revoked, or made for another server")
        }
        TokenRejection::Expired => unauthorized("the token has expired"),
        TokenRejection::Unreadable => HttpProblem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            code::TOKENS_UNREADABLE,
            "the token file cannot be read, so no token is taken; the server's log says why",
        ),
    }
}
