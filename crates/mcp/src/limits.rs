//! How much and how long.

use std::time::Duration;

use rival_outgoing::OutgoingPolicy;

/// Bounds for connections.
#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    /// How long a server may take to start and to shake hands.
    pub connect_timeout: Duration,
    /// The largest message that is read of a server.
    pub answer_bytes_max: usize,
    /// Where connections may be made to.
    pub outgoing: OutgoingPolicy,
    /// How long is waited before a connection is made again that failed; it doubles each time.
    pub backoff_first: Duration,
    /// The longest that this becomes.
    pub backoff_max: Duration,
    /// How long a server that is suspected to be gone may take to give a sign of life.
    pub ping_timeout: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(60),
            answer_bytes_max: 33 << 20,
            outgoing: OutgoingPolicy::public(),
            backoff_first: Duration::from_millis(250),
            backoff_max: Duration::from_secs(30),
            ping_timeout: Duration::from_secs(5),
        }
    }
}
