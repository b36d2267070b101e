//! Tickets for live streams: what a browser shows in an address, because its `EventSource` sends no headers.
//!
//! A ticket stands for the client that asked for it, opens one stream, and only for a moment: an address may be logged by
//! whatever it passes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{StatusCode, Uri, uri};

use crate::auth::ApiCaller;
use crate::problem::{HttpProblem, code};
use crate::token;

/// For how long a ticket can be shown.
pub(crate) const TICKET_LIFE: Duration = Duration::from_secs(30);
/// How many there may be that were not shown yet.
const TICKETS_MAX: usize = 20_000;
const PREFIX: &str = "rvt_";
const PARAMETER: &str = "ticket";

/// The tickets that were given and not shown yet.
#[derive(Debug, Default)]
pub(crate) struct StreamTickets(Mutex<HashMap<String, IssuedTicket>>);

#[derive(Debug)]
struct IssuedTicket {
    caller: ApiCaller,
    until: Instant,
}

impl StreamTickets {
    fn issue(&self, caller: ApiCaller, now: Instant) -> Result<String, HttpProblem> {
        let mut issued = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if issued.len() >= TICKETS_MAX {
            issued.retain(|_, ticket| ticket.until > now);
        }
        if issued.len() >= TICKETS_MAX {
            let error =
                format!("{TICKETS_MAX} tickets wait to be shown; use those, or wait for {TICKET_LIFE:?}");
            return Err(HttpProblem::new(StatusCode::TOO_MANY_REQUESTS, code::TOO_MANY_STREAMS, error));
        }
        let ticket = format!("{PREFIX}{}", token::random_text());
        issued.insert(ticket.clone(), IssuedTicket { caller, until: now + TICKET_LIFE });
        Ok(ticket)
    }

    fn take(&self, ticket: &str, now: Instant) -> Option<ApiCaller> {
        let mut issued = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        issued.remove(ticket).filter(|ticket| ticket.until > now).map(|ticket| ticket.caller)
    }

    /// The client that a ticket stands for; it is worth nothing afterwards.
    pub(crate) fn redeem(&self, ticket: &str) -> Result<ApiCaller, HttpProblem> {
        self.take(ticket, Instant::now()).ok_or_else(|| {
            let error = "the ticket was used, has expired or is unknown: each opens one stream, within 30 seconds; \
                         ask for another one with `POST /api/stream/tickets`";
            HttpProblem::new(StatusCode::UNAUTHORIZED, code::UNAUTHORIZED, error)
        })
    }
}

/// Where one client gets tickets.
#[derive(Clone, Debug)]
pub(crate) struct TicketDesk {
    tickets: Arc<StreamTickets>,
    caller: ApiCaller,
}

impl TicketDesk {
    pub(crate) fn new(tickets: &Arc<StreamTickets>, caller: &ApiCaller) -> Self {
        Self { tickets: Arc::clone(tickets), caller: caller.clone() }
    }

    /// A ticket that stands for the client.
    pub(crate) fn issue(self) -> Result<String, HttpProblem> {
        self.tickets.issue(self.caller, Instant::now())
    }
}

/// The ticket in the query of an address.
pub(crate) fn shown_in(uri: &Uri) -> Option<&str> {
    uri.query()?.split('&').find_map(|pair| pair.strip_prefix(PARAMETER)?.strip_prefix('='))
}

/// The query of an address without a ticket; `None` if nothing is left of it.
pub(crate) fn query_without(query: &str) -> Option<String> {
    let is_other = |pair: &&str| pair.split('=').next() != Some(PARAMETER);
    let others: Vec<&str> = query.split('&').filter(is_other).collect();
    (!others.is_empty()).then(|| others.join("&"))
}

/// The address without its ticket, for handlers.
pub(crate) fn without(uri: &Uri) -> Uri {
    let Some(query) = uri.query() else { return uri.clone() };
    let path = match query_without(query) {
        Some(others) => format!("{}?{others}", uri.path()),
        None => uri.path().to_owned(),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = uri::PathAndQuery::try_from(path).ok();
    Uri::from_parts(parts).unwrap_or_else(|_| uri.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::AccessScope;

    #[test]
    fn a_ticket_is_good_once_and_for_a_while() {
        let (tickets, start) = (StreamTickets::default(), Instant::now());
        let issue = || tickets.issue(ApiCaller::Anyone(AccessScope::Read), start).unwrap();
        let (first, second) = (issue(), issue());
        assert_ne!(first, second);
        let in_time = start + TICKET_LIFE - Duration::from_millis(1);
        assert!(tickets.take(&first, in_time).is_some());
        assert!(tickets.take(&first, in_time).is_none(), "it was shown before");
        assert!(tickets.take(&second, start + TICKET_LIFE).is_none(), "it has expired");
        assert!(tickets.take("rvt_x", start).is_none());
    }

    #[test]
    fn tickets_that_nobody_shows_do_not_fill_the_memory() {
        let (tickets, start) = (StreamTickets::default(), Instant::now());
        for _ in 0..TICKETS_MAX {
            tickets.issue(ApiCaller::Nobody, start).unwrap();
        }
        assert_eq!(tickets.issue(ApiCaller::Nobody, start).unwrap_err().code, code::TOO_MANY_STREAMS);
        tickets.issue(ApiCaller::Nobody, start + TICKET_LIFE).unwrap();
        assert_eq!(tickets.0.lock().unwrap().len(), 1);
    }

    #[test]
    fn handlers_see_no_ticket() {
        let uri: Uri = "/api/stream?a=1&ticket=rvt_x&b=%20".parse().unwrap();
        assert_eq!(shown_in(&uri), Some("rvt_x"));
        assert_eq!(without(&uri), "/api/stream?a=1&b=%20");
        assert_eq!(without(&"/api/stream?ticket=rvt_x".parse().unwrap()), "/api/stream");
        assert_eq!(shown_in(&"/api/stream?tickets=x".parse().unwrap()), None);
    }
}
