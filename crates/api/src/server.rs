//! What a server says of itself.

use std::borrow::Cow;

use rival_core::Time;
use serde::{Deserialize, Serialize};

/// The server is there.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Health))]
pub struct HealthReply {
    #[allow(missing_docs, reason = "a doc would be in the OpenAPI document, and the name says it")]
    #[cfg_attr(feature = "openapi", schema(example = "ok"))]
    pub status: Cow<'static, str>,
}

/// Which server this is.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ServerVersion {
    #[allow(missing_docs, reason = "a doc would be in the OpenAPI document, and the name says it")]
    #[cfg_attr(feature = "openapi", schema(example = "rival"))]
    pub name: Cow<'static, str>,
    #[allow(missing_docs, reason = "a doc would be in the OpenAPI document, and the name says it")]
    #[cfg_attr(feature = "openapi", schema(example = "0.1.0"))]
    pub version: Cow<'static, str>,
}

/// A ticket that opens one stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = StreamTicket))]
pub struct StreamTicketReply {
    /// What to put into the address of a stream: `?ticket=…`.
    pub ticket: String,
    /// Until when it can be used.
    pub expires_at: Time,
}
