//! A service of the program beside the API.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use reqwest::Method;
use rival_core::{RunId, Time};
use rival_server::auth::AccessScope;
use rival_server::mount::{ApiDoor, ServerMount};
use rival_server::routes;
use rival_server::token::TokenFile;
use serde_json::json;

use crate::lab::{Answer, Lab};

/// Sends each body that it is given to the API, as the start of a run. Its answer says whether it saw a token.
pub(crate) fn starter() -> ServerMount {
    ServerMount::new("/starter", routes::read().payload(), |request, door| {
        Box::pin(async move { start(request, door).await })
    })
}

async fn start(request: Request, door: ApiDoor) -> Response {
    let saw_token = request.headers().contains_key(header::AUTHORIZATION);
    let body = to_bytes(request.into_body(), usize::MAX).await.unwrap();
    let asked = axum::http::Request::post("/api/workflows/approval/runs");
    let asked = asked.header(header::CONTENT_TYPE, "application/json").body(Body::from(body)).unwrap();
    let mut headers = HeaderMap::new();
    headers.insert("saw-token", saw_token.to_string().parse().unwrap());
    (headers, door.ask(asked).await).into_response()
}

/// A server that wants tokens, and tokens of the scopes run and read.
async fn private() -> (Lab, [String; 2]) {
    let mut made = Vec::new();
    let lab = Lab::with(|settings| {
        settings.require_token = Some(true);
        let tokens = TokenFile::new(&settings.tokens);
        for (name, scope) in [("runner", AccessScope::Run), ("reader", AccessScope::Read)] {
            made.push(tokens.create(name, scope, Time(0), None).unwrap().secret);
        }
    })
    .await;
    (lab, made.try_into().unwrap())
}

async fn ask(lab: &Lab, token: &str) -> Answer {
    let request = lab.request(Method::POST, "/starter").bearer_auth(token).json(&json!({}));
    Answer::of(request.send().await.unwrap()).await
}

#[tokio::test]
async fn what_it_asks_is_judged_as_what_its_client_asks() {
    let (lab, [runner, reader]) = private().await;
    let started = ask(&lab, &runner).await;
    assert_eq!((started.status.as_u16(), started.header("saw-token")), (202, "false"), "{}", started.text);
    let run = RunId::from(started.body["runId"].as_str().unwrap());
    let events = lab.engine.page_of_events(&run, rival_core::Seq::ZERO, 1).await.unwrap();
    assert_eq!(events[0].by.as_deref(), Some("runner"));

    let read = ask(&lab, &reader).await;
    read.is_problem(403, "forbidden");
    assert_eq!(read.header("saw-token"), "false", "it came to the service, and not to the start");
    let wrong = ask(&lab, "rvl_x_y").await;
    wrong.is_problem(401, "unauthorized");
    assert_eq!(wrong.header("saw-token"), "", "it did not come to the service");
}

#[tokio::test]
async fn it_is_behind_the_gate() {
    let lab = Lab::new().await;
    let get = lab.get("/starter").await;
    get.is_problem(405, "method_not_allowed");
    assert_eq!(get.header("allow"), "POST");
    let rebound = lab.request(Method::POST, "/starter").header("host", "evil.example").json(&json!({}));
    Answer::of(rebound.send().await.unwrap()).await.is_problem(403, "host_not_allowed");
    let foreign =
        lab.request(Method::POST, "/starter").header("origin", "http://evil.example").json(&json!({}));
    Answer::of(foreign.send().await.unwrap()).await.is_problem(403, "origin_not_allowed");
    let form = lab.request(Method::POST, "/starter").header("content-type", "text/plain").body("{}");
    Answer::of(form.send().await.unwrap()).await.is_problem(415, "unsupported_media_type");
    assert_eq!(lab.post("/starter", json!({})).await.status.as_u16(), 202);
}

#[tokio::test]
async fn it_is_found_behind_a_path_of_a_proxy() {
    let lab = Lab::with(|settings| settings.base_path = rival_server::BasePath::new("/ops").unwrap()).await;
    let started = lab.post("/ops/starter", json!({})).await;
    assert_eq!(started.status.as_u16(), 202, "{}", started.text);
}
