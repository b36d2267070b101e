//! How many bytes of answers are in memory at a time, over all clients: also those that no client has read yet.

use std::collections::HashMap;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::response::Response;
use http_body::{Body as _, Frame, SizeHint};
use tokio::sync::Notify;

use crate::limit::{ClientKey, share_of_one};
use crate::problem::{HttpProblem, code};

/// Answers up to this size are not counted.
const SMALL_BYTES: usize = 64 * 1024;

/// The bytes of answers that are under way.
#[derive(Debug)]
pub(crate) struct BytesInFlight {
    max: usize,
    per_client_max: usize,
    taken: Mutex<TakenBytes>,
    /// Told when some are given back.
    freed: Notify,
}

#[derive(Debug, Default)]
struct TakenBytes {
    all: usize,
    by_client: HashMap<ClientKey, usize>,
}

impl BytesInFlight {
    pub(crate) fn new(max: usize) -> Arc<Self> {
        let per_client_max = share_of_one(max);
        Arc::new(Self { max, per_client_max, taken: Mutex::default(), freed: Notify::new() })
    }

    /// Room for so many bytes, if there is any. What is larger than all the room of a client takes all of it.
    fn try_take(self: &Arc<Self>, client: &ClientKey, bytes: usize) -> Option<BytePermit> {
        let bytes = bytes.min(self.per_client_max);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.by_client.get(client).copied().unwrap_or(0);
        if taken.all + bytes > self.max || own + bytes > self.per_client_max {
            return None;
        }
        taken.all += bytes;
        taken.by_client.insert(client.clone(), own + bytes);
        Some(BytePermit { flight: Arc::clone(self), client: client.clone(), bytes })
    }
}

/// Room that is taken; given back when dropped.
#[derive(Debug)]
pub(crate) struct BytePermit {
    flight: Arc<BytesInFlight>,
    client: ClientKey,
    bytes: usize,
}

impl Drop for BytePermit {
    fn drop(&mut self) {
        let mut taken = self.flight.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all -= self.bytes;
        if let Some(own) = taken.by_client.get_mut(&self.client) {
            *own -= self.bytes;
            if *own == 0 {
                taken.by_client.remove(&self.client);
            }
        }
        drop(taken);
        self.flight.freed.notify_waiters();
    }
}

/// The room for answers to one client, as handlers have it.
#[derive(Clone, Debug)]
pub(crate) struct ByteQuota {
    flight: Arc<BytesInFlight>,
    client: ClientKey,
}

impl ByteQuota {
    pub(crate) fn new(flight: &Arc<BytesInFlight>, client: ClientKey) -> Self {
        Self { flight: Arc::clone(flight), client }
    }

    /// Waits until there is room for a part of a stream; small ones need none.
    pub(crate) async fn take(&self, bytes: usize) -> Option<BytePermit> {
        if bytes <= SMALL_BYTES {
            return None;
        }
        loop {
            let mut freed = pin!(self.flight.freed.notified());
            // Registered before the look: what is given back after it is not missed.
            freed.as_mut().enable();
            if let Some(permit) = self.flight.try_take(&self.client, bytes) {
                return Some(permit);
            }
            freed.await;
        }
    }

    /// The answer with its room, which it needs until its client has read it; or a refusal if there is none.
    pub(crate) fn load(&self, response: Response) -> Result<Response, HttpProblem> {
        let bytes = response.body().size_hint().exact();
        let bytes = bytes.map_or(0, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        if bytes <= SMALL_BYTES {
            return Ok(response);
        }
        let permit = self.flight.try_take(&self.client, bytes).ok_or_else(full)?;
        Ok(response.map(|body| Body::new(MeteredBody { body, rest: Bytes::new(), _permit: permit })))
    }
}

/// There is no room for another answer.
pub(crate) fn full() -> HttpProblem {
    let error =
        "answers that are not read yet take all the room that there is; read them, or ask again later";
    HttpProblem::new(StatusCode::SERVICE_UNAVAILABLE, code::TOO_MANY_ANSWERS, error)
}

/// How much is sent at a time. The HTTP connection asks for more only when it has room: if it got all at once, the
/// body would be through while its bytes still wait.
const CHUNK_BYTES: usize = 64 * 1024;

/// A body that holds its room until it is sent, or its reader is gone.
struct MeteredBody {
    body: Body,
    /// What the body gave and is not sent yet.
    rest: Bytes,
    _permit: BytePermit,
}

impl http_body::Body for MeteredBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            let frame = std::task::ready!(pin!(&mut self.body).poll_frame(context));
            match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => self.rest = data,
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        let len = self.rest.len().min(CHUNK_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(len)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = u64::try_from(self.rest.len()).unwrap_or(u64::MAX);
        match self.body.size_hint().exact() {
            Some(exact) => SizeHint::with_exact(exact + rest),
            None => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn quota(flight: &Arc<BytesInFlight>, last: u8) -> ByteQuota {
        ByteQuota::new(flight, ClientKey::at(IpAddr::from([10, 0, 0, last])))
    }

    #[test]
    fn one_client_leaves_room_for_others_and_gives_its_own_back() {
        const MIB: usize = 1 << 20;
        let flight = BytesInFlight::new(4 * MIB);
        let answer = |quota: &ByteQuota| quota.load(Response::new(Body::from(vec![0; MIB])));
        let (one, other) = (quota(&flight, 1), quota(&flight, 2));
        let mut held: Vec<Response> = (0..3).map(|_| answer(&one).unwrap()).collect();
        assert_eq!(answer(&one).unwrap_err().code, code::TOO_MANY_ANSWERS);
        held.push(answer(&other).unwrap());
        assert!(answer(&other).is_err());
        // Small answers always go.
        assert!(one.load(Response::new(Body::from(vec![0; SMALL_BYTES]))).is_ok());
        held.clear();
        assert!(flight.taken.lock().unwrap().by_client.is_empty());
        assert!(answer(&one).is_ok());
    }

    #[tokio::test]
    async fn a_part_of_a_stream_waits_for_room() {
        let flight = BytesInFlight::new(1 << 20);
        let quota = quota(&flight, 1);
        let first = quota.take(usize::MAX).await.unwrap();
        let mut second = Box::pin(quota.take(1 << 20));
        assert!(futures::poll!(second.as_mut()).is_pending());
        drop(first);
        assert!(second.await.is_some());
    }
}
