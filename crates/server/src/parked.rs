//! Connections whose request waits. HTTP needs buffers for what is read and written, and while a request waits nothing is:
//! so the connection is taken apart, and put together again for the answer.
//!
//! ```text
//! hyper reads a request -> service: its call is in the slot -> middleware: "this one waits"
//!      taken apart: the stream and the call are left   ... the call has an answer ...
//!      hyper anew: reads a request in place of the one that it has read before -> service: the answer
//! ```

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::http::{HeaderMap, Method, Version, header};
use axum::response::Response;

/// What becomes of a request.
pub(crate) type RequestCall = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

/// What the task of a connection, the service that hyper calls and the middleware know of its request. There is one at a
/// time.
#[derive(Default)]
pub(crate) struct CallSlot {
    /// The request that is at work.
    call: Mutex<Option<ParkedCall>>,
    /// The answer to a request that has waited: the request that hyper reads next gets it.
    pub(crate) answer: Mutex<Option<Response>>,
    /// The request is read, and what is to be answered comes later.
    waits: AtomicBool,
}

/// What of a request decides how its answer is written.
#[derive(Clone, Copy)]
pub(crate) struct RequestForm {
    is_head: bool,
    is_http_1_0: bool,
    closes: bool,
    keeps: bool,
}

impl RequestForm {
    pub(crate) fn of(request: &Request) -> Self {
        let wants = |word: &str| has_word(request.headers(), word);
        Self {
            is_head: request.method() == Method::HEAD,
            is_http_1_0: request.version() == Version::HTTP_10,
            closes: wants("close"),
            keeps: wants("keep-alive"),
        }
    }

    /// A request that is answered in the same way.
    fn head(self, is_last: bool) -> String {
        let method = if self.is_head { "HEAD" } else { "GET" };
        let version = if self.is_http_1_0 { "1.0" } else { "1.1" };
        let connection = match self {
            _ if self.closes || is_last => "connection: close\r\n",
            Self { keeps: true, .. } => "connection: keep-alive\r\n",
            _ => "",
        };
        format!("{method} / HTTP/{version}\r\n{connection}\r\n")
    }
}

fn has_word(headers: &HeaderMap, word: &str) -> bool {
    let values = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|one| one.trim().eq_ignore_ascii_case(word))
}

/// A request that is at work, without the connection that it came by.
pub(crate) struct ParkedCall {
    pub(crate) call: RequestCall,
    pub(crate) form: RequestForm,
}

impl ParkedCall {
    /// What hyper reads in place of the request, so that it asks for the answer.
    pub(crate) fn head(&self, is_last: bool) -> String {
        self.form.head(is_last)
    }
}

impl CallSlot {
    /// Whether the request waits, so that its connection can be taken apart.
    pub(crate) fn waits(&self) -> bool {
        self.waits.load(Ordering::Relaxed)
    }

    /// Takes the call that waits out of reach of hyper.
    pub(crate) fn park(&self) -> Option<ParkedCall> {
        self.waits.store(false, Ordering::Relaxed);
        lock(&self.call).take()
    }

    /// Whether the next request stands for one that was read before, and has its answer.
    pub(crate) fn is_answered(&self) -> bool {
        lock(&self.answer).is_some()
    }

    /// For the middleware of a new request.
    pub(crate) fn notice(self: &Arc<Self>) -> WaitNotice {
        self.waits.store(false, Ordering::Relaxed);
        WaitNotice(Arc::clone(self))
    }

    /// What hyper waits for: this call, or without one the answer that is there.
    pub(crate) fn begin(self: &Arc<Self>, call: Option<ParkedCall>) -> SlotCall {
        *lock(&self.call) = call;
        SlotCall(Arc::clone(self))
    }
}

/// With it the middleware says that a request, which it has read whole, is going to wait.
#[derive(Clone)]
pub(crate) struct WaitNotice(Arc<CallSlot>);

impl WaitNotice {
    pub(crate) fn give(self) {
        self.0.waits.store(true, Ordering::Relaxed);
    }
}

/// The call in a slot, as hyper sees it. When hyper lets go of it, so does the slot.
pub(crate) struct SlotCall(Arc<CallSlot>);

impl Future for SlotCall {
    type Output = Result<Response, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(answer) = lock(&self.0.answer).take() {
            return Poll::Ready(Ok(answer));
        }
        // Polled outside of the slot.
        let call = lock(&self.0.call).take();
        let Some(mut parked) = call else { return Poll::Pending };
        let polled = parked.call.as_mut().poll(context);
        if polled.is_pending() {
            *lock(&self.0.call) = Some(parked);
        }
        polled
    }
}

impl Drop for SlotCall {
    fn drop(&mut self) {
        // Dropped outside of the slot.
        let call = lock(&self.0.call).take();
        drop(call);
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn head(method: &str, version: Version, connection: Option<&str>, is_last: bool) -> String {
        let mut request = Request::builder().method(method).uri("/api/x?wait=1s").version(version);
        if let Some(connection) = connection {
            request = request.header("connection", connection);
        }
        RequestForm::of(&request.body(Body::empty()).unwrap()).head(is_last)
    }

    #[test]
    fn an_answer_is_written_as_the_request_wanted_it() {
        let (old, new) = (Version::HTTP_10, Version::HTTP_11);
        assert_eq!(head("POST", new, None, false), "GET / HTTP/1.1\r\n\r\n");
        assert_eq!(head("HEAD", new, Some("Close"), false), "HEAD / HTTP/1.1\r\nconnection: close\r\n\r\n");
        assert_eq!(head("GET", old, None, false), "GET / HTTP/1.0\r\n\r\n");
        let kept = "GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n";
        assert_eq!(head("GET", old, Some("x, Keep-Alive"), false), kept);
        assert_eq!(head("GET", new, None, true), "GET / HTTP/1.1\r\nconnection: close\r\n\r\n");
    }
}
