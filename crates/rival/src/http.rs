//! The predefined HTTP step.

use std::sync::Arc;

use rival_core::failure::code;
use rival_core::{FailureRecord, StepError, Value};
use rival_engine::{HttpExchange, SentRequest};
use rival_http::{Http, HttpResponse, OutgoingPolicy, RequestAddress};

use crate::extract::{Call, FromStep, Run, State, TypeAsk, decode};
use crate::function::PendingCall;
use crate::step::{StepFn, TypedStep};

/// What such steps are called that have no name.
const KIND: &str = "http";

/// Sends a request and records the answer. Its id is `http` unless it is named.
///
/// ```
/// use std::time::Duration;
/// use rival::prelude::*;
///
/// # fn main() -> Result<(), rival::BuildErrors> {
/// let workflow: Workflow<(), HttpResponse> = Workflow::new("weather")
///     .step(http_step(Http::get("https://example.com/weather").timeout(Duration::from_secs(5))).retry(3))
///     .build()?;
/// # Ok(())
/// # }
/// ```
///
/// Any status but 2xx is a failure with the code `http_status`, tried again while attempts remain if it may pass
/// (5xx, 408, 425, 429, and when no answer came at all); [`Http::any_status`] takes every answer as a result. Requests
/// that may change something carry the header `Idempotency-Key`, the same in every attempt. Where the run is part of a
/// trace, the request is too, by the header `traceparent`. The step's description reads `GET /weather -> 200 (12 ms)`.
///
/// Requests go to public addresses only, because URLs often come from what a caller sent: anything else fails with
/// `address_not_allowed`. An engine that is provided with an [`OutgoingPolicy`] allows more:
///
/// ```
/// # use rival::prelude::*;
/// # async fn engine() -> Result<(), Box<dyn std::error::Error>> {
/// let policy = OutgoingPolicy::public().allow("10.1.0.0/16")?.allow("billing.internal")?;
/// let engine = Engine::builder().provide(policy).build().await?;
/// # Ok(())
/// # }
/// ```
pub fn http_step(http: Http) -> TypedStep<HttpResponse> {
    let holds = http.clone();
    http_by(move || std::future::ready(Ok::<_, StepError>(http.clone()))).default_name(KIND, &holds)
}

/// Sends the request that a function makes from the workflow's input and the results before it.
///
/// ```
/// use rival::prelude::*;
///
/// #[step]
/// async fn city() -> Result<String, StepError> {
///     Ok("Lisbon".into())
/// }
///
/// async fn weather(city: Output<city>) -> Result<Http, StepError> {
///     Ok(Http::get("https://example.com/weather").query("city", &*city))
/// }
///
/// #[step]
/// async fn pack(last: LastStep) -> Result<String, StepError> {
///     let weather: HttpResponse = last.get()?;
///     Ok(if weather.body["rain"] == true { "umbrella".into() } else { "hat".into() })
/// }
///
/// # fn main() -> Result<(), rival::BuildErrors> {
/// let workflow = Workflow::new("packing").step(city).step(http_by(weather).retry(3)).step(pack).build()?;
/// # Ok(())
/// # }
/// ```
///
/// The function is called again in every attempt; what it returns is not recorded, the answer is. A closure needs a name:
/// `http_by(closure).named("..")`.
pub fn http_by<M>(request: impl StepFn<M, Out = Http>) -> TypedStep<HttpResponse> {
    let step = request.into_step().set(|draft| {
        draft.function = draft.function.clone().around(exchange);
        draft.out = TypeAsk::of::<HttpResponse>();
    });
    step.retyped().set(|draft| draft.default_name = Some(KIND))
}

fn exchange(call: &Call, request: PendingCall) -> PendingCall {
    let taken = State::from_step(call).and_then(|state| Ok((state, Run::from_step(call)?)));
    let policy = call.context.resources.get::<OutgoingPolicy>().unwrap_or_default();
    let info = Arc::clone(&call.context.run);
    Box::pin(async move {
        let (state, run) = taken?;
        let http: Http = decode(&request.await?, || "the request".to_owned())?;
        let (key, trace) = (run.idempotency_key(), run.traceparent());
        if info.trace.is_some() {
            note_request(&info.http, &http);
        }
        match rival_http::send(&http, &policy, &key, trace.as_deref()).await {
            Ok(answer) => {
                info.http.is_answered(answer.response.status);
                state.describe(answer.description);
                recorded(&answer.response)
            }
            Err(failed) => {
                failed.status.into_iter().for_each(|status| info.http.is_answered(status));
                state.describe(failed.description);
                Err(failed.error)
            }
        }
    })
}

/// Says where the request goes, for the trace that the call is part of.
fn note_request(exchange: &HttpExchange, http: &Http) {
    if let Some(RequestAddress { method, url, host, port }) = RequestAddress::of(http) {
        exchange.sends(SentRequest { method, url, host, port });
    }
}

fn recorded(response: &HttpResponse) -> Result<Value, StepError> {
    rival_engine::encode(response).map_err(|error| {
        FailureRecord::new(code::NOT_JSON, format!("the answer cannot be recorded: {error}")).stop()
    })
}
