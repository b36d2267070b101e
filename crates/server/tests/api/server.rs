//! The server itself: health, its document, and what is not there.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::json;

use crate::lab::{Answer, Lab};

#[tokio::test]
async fn it_is_alive_ready_and_of_a_version() {
    let lab = Lab::new().await;
    for path in ["/healthz", "/readyz"] {
        let answer = lab.get(path).await;
        assert_eq!((answer.status.as_u16(), answer.body), (200, json!({"status": "ok"})), "{path}");
    }
    assert_eq!(
        lab.get("/version").await.body,
        json!({"name": "rival", "version": env!("CARGO_PKG_VERSION")})
    );
}

#[tokio::test]
async fn it_tells_the_time_and_whether_the_clock_was_set() {
    let lab = Lab::new().await;
    let mut told = lab.get("/api/clock").await.body;
    assert!(told["now"].take().as_i64().unwrap() > 1_600_000_000_000);
    assert_eq!(told, json!({"now": null, "aheadMs": 0, "steps": 0, "lastSteps": []}));
}

#[tokio::test]
async fn it_counts() {
    let lab = Lab::new().await;
    lab.finish("order", json!({"customer": "Ada", "amount": 1})).await;
    lab.get("/api/runs/nobody").await;
    let metrics = lab.get("/metrics").await;
    assert!(metrics.header("content-type").starts_with("text/plain"));
    for line in [
        r#"rival_runs_started_total{workflow="order"} 1"#,
        r#"rival_runs_ended_total{workflow="order",status="completed"} 1"#,
        r#"route="/api/runs/{id}",method="GET",status="404"} 1"#,
    ] {
        assert!(metrics.text.contains(line), "{line} is not in\n{}", metrics.text);
    }
}

#[tokio::test]
async fn what_is_not_there_is_a_problem() {
    let lab = Lab::new().await;
    let told = lab.get("/api/nothing").await;
    assert!(told.is_problem(404, "not_found").contains("/api/docs"));
    let told = lab.post("/api/runs", json!({})).await;
    told.is_problem(405, "method_not_allowed");
    assert_eq!(told.header("allow"), "GET,HEAD");
    let request = lab.request(Method::DELETE, "/api/workflows/order");
    Answer::of(request.send().await.unwrap()).await.is_problem(405, "method_not_allowed");
}

#[tokio::test]
async fn the_document_describes_every_route() {
    let lab = Lab::new().await;
    let document = lab.get("/api/openapi.json").await.body;
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let paths = document["paths"].as_object().unwrap();
    assert_eq!(paths.len(), 46);
    let mut ids = BTreeSet::new();
    for (path, item) in paths {
        for (method, operation) in item.as_object().unwrap() {
            let at = format!("{method} {path}");
            assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{at} has the id of another");
            assert!(
                operation["summary"].as_str().is_some_and(|text| !text.is_empty()),
                "{at} has no summary"
            );
            assert!(
                operation["description"].as_str().is_some_and(|text| !text.is_empty()),
                "{at} has no description"
            );
            assert!(operation["responses"]["400"]["content"]["application/problem+json"].is_object(), "{at}");
            let open = ["/healthz", "/readyz", "/version"].contains(&path.as_str());
            // This server needs no token, and takes one.
            let security = if open { json!([]) } else { json!([{"token": []}, {}]) };
            assert_eq!(operation["security"], security, "{at}");
        }
    }
    assert_eq!(document["paths"]["/api/runs/{id}/kill"]["post"]["x-required-scope"], "admin");
    assert_eq!(document["paths"]["/api/runs/{id}/cancel"]["post"]["x-required-scope"], "run");
}

#[tokio::test]
async fn the_document_has_a_page() {
    let lab = Lab::new().await;
    let page = lab.get("/api/docs").await;
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert!(page.header("content-security-policy").contains("default-src 'self'"));
    for (name, kind) in [("docs.js", "text/javascript"), ("docs.css", "text/css")] {
        assert!(page.text.contains(&format!("\"{name}\"")));
        assert!(lab.get(&format!("/api/{name}")).await.header("content-type").starts_with(kind));
    }
    assert!(!page.text.contains("<script>"), "inline scripts are refused by the page's own policy");
}

/// The page about HTTP lists the types of events, as clients that listen for them need to know.
#[test]
fn every_type_of_events_is_in_the_docs() {
    let document = rival_server::openapi();
    let types = document["components"]["schemas"]["Event"]["discriminator"]["mapping"].as_object().unwrap();
    let given: BTreeSet<&str> = types.keys().map(String::as_str).collect();
    let docs = include_str!("../../../../docs/http.md");
    let table = docs.split("| type | what happened |").nth(1).unwrap().split("\n\n").next().unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let listed: BTreeSet<&str> = rows.filter_map(|row| row.split('`').next()).collect();
    assert_eq!(given, listed);
}

/// A browser that opens the address which `rival dev` prints finds the page; a program finds what it found before.
#[tokio::test]
async fn a_browser_is_led_to_the_docs() {
    let lab = Lab::new().await;
    let ask = |accept: &str| lab.request(Method::GET, "/").header("accept", accept).send();
    let page = ask("text/html,application/xhtml+xml;q=0.9,*/*;q=0.8").await.unwrap();
    assert_eq!((page.status().as_u16(), page.url().path()), (200, "/api/docs"));
    Answer::of(ask("application/json").await.unwrap()).await.is_problem(404, "not_found");
    lab.get("/").await.is_problem(404, "not_found");
}
