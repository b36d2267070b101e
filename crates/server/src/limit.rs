//! How much one client may ask for: requests per second, live streams, bytes.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use http_body::{Body as _, Frame, SizeHint};

use crate::auth::ApiCaller;
use crate::problem::{HttpProblem, code};
use crate::settings::Settings;

/// Whose requests are counted together: those with one token, or else those from one address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ClientKey {
    Token(String),
    Address(IpAddr),
}

impl ClientKey {
    pub(crate) fn of(caller: &ApiCaller, peer: IpAddr) -> Self {
        match caller {
            ApiCaller::Holder(token) => Self::Token(token.id.clone()),
            ApiCaller::Anyone(_) | ApiCaller::Local | ApiCaller::Nobody => Self::at(peer),
        }
    }

    /// A client that has one IPv6 address has 2^64 of them.
    pub(crate) fn at(peer: IpAddr) -> Self {
        Self::Address(match peer.to_canonical() {
            IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX)).into(),
            v4 @ IpAddr::V4(_) => v4,
        })
    }
}

/// A client must wait this long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RateExceeded {
    pub(crate) time: Duration,
    /// Whether it is the first time in this second that the client is told, which is worth a line in the log.
    pub(crate) is_news: bool,
}

impl RateExceeded {
    pub(crate) fn response(self, problem: HttpProblem) -> Response {
        let seconds = self.time.as_millis().div_ceil(1_000).max(1);
        ([("retry-after", seconds.to_string())], problem).into_response()
    }
}

const SHARDS: usize = 16;
const CLIENTS_PER_SHARD_MAX: usize = 4_096;
const SECOND: u64 = 1_000_000_000;

/// How often clients ask. A client has a bucket with one second's requests that fills up again evenly; what is kept of
/// it is the moment when it will be full.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    /// Nanoseconds that one request costs; 0 if requests are not limited.
    cost: u64,
    began: Instant,
    hasher: RandomState,
    shards: [Mutex<Shard>; SHARDS],
}

/// A part of the clients, so that two requests seldom wait for each other.
#[derive(Debug, Default)]
struct Shard {
    buckets: HashMap<ClientKey, Bucket>,
    /// When the next sweep may be, so that a crowd of clients cannot make each request pay for one.
    sweep_at: u64,
}

/// In nanoseconds since the server began.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    full_at: u64,
    told_at: Option<u64>,
}

impl RateLimiter {
    pub(crate) fn new(per_second: u32) -> Self {
        let cost = SECOND.checked_div(u64::from(per_second)).unwrap_or(0);
        Self {
            cost,
            began: Instant::now(),
            hasher: RandomState::new(),
            shards: std::array::from_fn(|_| Mutex::default()),
        }
    }

    /// Counts a request, or says how long its client must wait.
    pub(crate) fn take(&self, client: ClientKey) -> Result<(), RateExceeded> {
        if self.cost == 0 {
            return Ok(());
        }
        let now = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.take_at(client, now)
    }

    fn take_at(&self, client: ClientKey, now: u64) -> Result<(), RateExceeded> {
        let mut shard = self.shard(&client);
        if shard.has_room_for(&client, now) {
            shard.buckets.entry(client).or_default().take(self.cost, now)
        } else {
            Err(RateExceeded { time: Duration::from_secs(1), is_news: false })
        }
    }

    fn shard(&self, client: &ClientKey) -> MutexGuard<'_, Shard> {
        let place = self.hasher.hash_one(client) % SHARDS as u64;
        let place = usize::try_from(place).expect("less than the number of shards");
        self.shards[place].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    fn has_room_for(&mut self, client: &ClientKey, now: u64) -> bool {
        if self.buckets.len() < CLIENTS_PER_SHARD_MAX || self.buckets.contains_key(client) {
            return true;
        }
        if now >= self.sweep_at {
            // A full bucket says nothing that a missing one does not.
            self.buckets.retain(|_, bucket| bucket.full_at > now);
            self.sweep_at = now + SECOND / 10;
        }
        self.buckets.len() < CLIENTS_PER_SHARD_MAX
    }
}

impl Bucket {
    fn take(&mut self, cost: u64, now: u64) -> Result<(), RateExceeded> {
        let full_at = self.full_at.max(now) + cost;
        let too_far = full_at.saturating_sub(now + SECOND.max(cost));
        if too_far == 0 {
            self.full_at = full_at;
            return Ok(());
        }
        let is_news = self.told_at.is_none_or(|told| now - told >= SECOND);
        if is_news {
            self.told_at = Some(now);
        }
        Err(RateExceeded { time: Duration::from_nanos(too_far), is_news })
    }
}

pub(crate) fn rate_limited(per_second: u32) -> HttpProblem {
    let error = format!("more than {per_second} requests in a second; wait as Retry-After says");
    HttpProblem::new(StatusCode::TOO_MANY_REQUESTS, code::RATE_LIMITED, error)
}

/// How many places of a kind are taken: of live streams, of requests that wait.
#[derive(Debug)]
pub(crate) struct PermitPool {
    /// What takes a place, for messages.
    what: &'static str,
    code: &'static str,
    max: usize,
    per_client_max: usize,
    taken: Mutex<TakenPermits>,
}

#[derive(Debug, Default)]
struct TakenPermits {
    all: usize,
    by_client: HashMap<ClientKey, usize>,
}

/// One place; given back when dropped.
#[derive(Debug)]
pub(crate) struct RequestPermit {
    places: Arc<PermitPool>,
    client: ClientKey,
}

impl PermitPool {
    pub(crate) fn of_streams(max: usize) -> Self {
        Self::new("live streams", code::TOO_MANY_STREAMS, max)
    }

    pub(crate) fn of_waits(max: usize) -> Self {
        Self::new("requests that wait", code::TOO_MANY_WAITS, max)
    }

    pub(crate) fn of_connections(max: usize) -> Self {
        Self::new("connections", code::TOO_MANY_CONNECTIONS, max)
    }

    fn new(what: &'static str, code: &'static str, max: usize) -> Self {
        Self { what, code, max, per_client_max: share_of_one(max), taken: Mutex::default() }
    }

    pub(crate) fn take(self: &Arc<Self>, client: ClientKey) -> Result<RequestPermit, HttpProblem> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, own) = (taken.all, taken.by_client.get(&client).copied().unwrap_or(0));
        if all >= self.max || own >= self.per_client_max {
            let what = self.what;
            let error = format!("{own} {what} are open to this client and {all} in all; close some");
            return Err(HttpProblem::new(StatusCode::TOO_MANY_REQUESTS, self.code, error));
        }
        taken.all += 1;
        taken.by_client.insert(client.clone(), own + 1);
        Ok(RequestPermit { places: Arc::clone(self), client })
    }
}

impl Drop for RequestPermit {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all -= 1;
        if let Some(own) = taken.by_client.get_mut(&self.client) {
            *own -= 1;
            if *own == 0 {
                taken.by_client.remove(&self.client);
            }
        }
    }
}

/// How many of so many places one client may take: enough for all that it does, and some are left for others.
pub(crate) fn share_of_one(max: usize) -> usize {
    (max - max / 4).max(1)
}

/// A body that holds its place until it is through, or its reader is gone.
pub(crate) struct PermitBody {
    body: Body,
    _place: RequestPermit,
    /// Whether the client that reads it may go on. Asked before each part: the heartbeat is one.
    allowed: Box<dyn Fn() -> bool + Send>,
}

impl PermitBody {
    pub(crate) fn new(body: Body, place: RequestPermit, allowed: impl Fn() -> bool + Send + 'static) -> Self {
        Self { body, _place: place, allowed: Box::new(allowed) }
    }
}

impl http_body::Body for PermitBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = std::task::ready!(pin!(&mut self.body).poll_frame(context));
        Poll::Ready(frame.filter(|_| (self.allowed)()))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// What bodies of requests may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyLimits {
    max_bytes: usize,
    payload_max_bytes: usize,
    timeout: Duration,
}

impl BodyLimits {
    pub(crate) fn new(settings: &Settings) -> Self {
        let (max_bytes, payload_max_bytes) = (settings.body_max_bytes, settings.payload_max_bytes);
        Self { max_bytes, payload_max_bytes, timeout: settings.body_timeout }
    }

    /// The whole body, if it comes in time and is not too large.
    pub(crate) async fn read(&self, body: Body, is_payload: bool) -> Result<Bytes, HttpProblem> {
        if body.is_end_stream() {
            return Ok(Bytes::new());
        }
        let max_bytes = if is_payload { self.payload_max_bytes } else { self.max_bytes };
        let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        if announced > max_bytes.saturating_add(EXCESS_MAX_BYTES) {
            return Err(too_large(max_bytes));
        }
        let collected = async {
            let mut chunks = body.into_data_stream();
            let (mut all, mut seen) = (Vec::new(), 0_usize);
            while let Some(chunk) = chunks.next().await {
                let chunk = chunk.map_err(|error| broken(&error))?;
                if seen == 0 && chunk.len() == announced && announced <= max_bytes {
                    return Ok(chunk);
                }
                seen += chunk.len();
                if seen <= max_bytes {
                    all.extend_from_slice(&chunk);
                } else if seen > max_bytes.saturating_add(EXCESS_MAX_BYTES) {
                    break;
                } else {
                    all = Vec::new();
                }
            }
            if seen > max_bytes { Err(too_large(max_bytes)) } else { Ok(all.into()) }
        };
        let in_time = tokio::time::timeout(self.timeout, collected).await;
        in_time.unwrap_or_else(|_| Err(too_slow(self.timeout)))
    }
}

/// How much of a body that is too large is read and thrown away, so that the client comes to read the answer instead
/// of finding its connection closed while it still writes.
const EXCESS_MAX_BYTES: usize = 64 * 1024 * 1024;

fn too_large(max_bytes: usize) -> HttpProblem {
    let error = format!("the body is larger than the {max_bytes} bytes that are taken here");
    HttpProblem::new(StatusCode::PAYLOAD_TOO_LARGE, code::TOO_LARGE, error)
}

fn too_slow(timeout: Duration) -> HttpProblem {
    let error = format!("the body did not come within {timeout:?}");
    HttpProblem::new(StatusCode::REQUEST_TIMEOUT, code::REQUEST_TIMEOUT, error)
}

fn broken(error: &axum::Error) -> HttpProblem {
    HttpProblem::new(StatusCode::BAD_REQUEST, code::BAD_REQUEST, format!("the body cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client() -> ClientKey {
        ClientKey::at(IpAddr::from([10, 0, 0, 1]))
    }

    #[test]
    fn a_second_of_requests_may_come_at_once_and_no_more() {
        let rates = RateLimiter::new(10);
        for _ in 0..10 {
            rates.take_at(client(), 0).unwrap();
        }
        let wait = rates.take_at(client(), 0).unwrap_err();
        assert_eq!(wait, RateExceeded { time: Duration::from_millis(100), is_news: true });
    }

    #[test]
    fn a_bucket_fills_up_evenly() {
        let rates = RateLimiter::new(10);
        for _ in 0..10 {
            rates.take_at(client(), 0).unwrap();
        }
        rates.take_at(client(), SECOND / 10).unwrap();
        assert!(rates.take_at(client(), SECOND / 10).is_err());
        for _ in 0..10 {
            rates.take_at(client(), 2 * SECOND).unwrap();
        }
        assert!(rates.take_at(client(), 2 * SECOND).is_err());
    }

    #[test]
    fn a_client_is_told_at_every_request_but_logged_once_a_second() {
        let rates = RateLimiter::new(1);
        rates.take_at(client(), 0).unwrap();
        assert!(rates.take_at(client(), 1).unwrap_err().is_news);
        assert!(!rates.take_at(client(), 2).unwrap_err().is_news);
    }

    #[test]
    fn clients_do_not_pay_for_each_other() {
        let rates = RateLimiter::new(1);
        rates.take_at(client(), 0).unwrap();
        rates.take_at(ClientKey::at(IpAddr::from([10, 0, 0, 2])), 0).unwrap();
        rates.take_at(ClientKey::Token("abcdefgh".to_owned()), 0).unwrap();
        assert!(rates.take_at(client(), 0).is_err());
    }

    #[test]
    fn a_network_of_ipv6_addresses_is_one_client() {
        let one: IpAddr = "2001:db8::1".parse().unwrap();
        let other: IpAddr = "2001:db8::ffff:0:0:1".parse().unwrap();
        let elsewhere: IpAddr = "2001:db8:0:1::1".parse().unwrap();
        assert_eq!(ClientKey::at(one), ClientKey::at(other));
        assert_ne!(ClientKey::at(one), ClientKey::at(elsewhere));
        assert_eq!(ClientKey::at("::ffff:10.0.0.1".parse().unwrap()), client());
    }

    #[test]
    fn many_clients_do_not_fill_the_memory() {
        let rates = RateLimiter::new(1_000);
        for n in 0..200_000_u32 {
            let _ = rates.take_at(ClientKey::at(IpAddr::from(n.to_be_bytes())), u64::from(n));
        }
        let kept: usize = rates.shards.iter().map(|shard| shard.lock().unwrap().buckets.len()).sum();
        assert!(kept <= SHARDS * CLIENTS_PER_SHARD_MAX, "{kept}");
        rates.take_at(ClientKey::at(IpAddr::from([255, 0, 0, 1])), SECOND).unwrap();
    }

    #[test]
    fn places_for_streams_are_given_back_and_shared() {
        let streams = Arc::new(PermitPool::of_streams(4));
        let mut own: Vec<RequestPermit> = (0..3).map(|_| streams.take(client()).unwrap()).collect();
        assert_eq!(streams.take(client()).unwrap_err().code, code::TOO_MANY_STREAMS);
        let other = streams.take(ClientKey::Token("abcdefgh".to_owned())).unwrap();
        assert_eq!(
            streams.take(ClientKey::Token("zzzzzzzz".to_owned())).unwrap_err().code,
            code::TOO_MANY_STREAMS
        );
        own.pop();
        drop(other);
        own.push(streams.take(client()).unwrap());
        own.clear();
        assert!(streams.taken.lock().unwrap().by_client.is_empty());
    }
}
