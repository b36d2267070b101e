//! A server that a proxy gives a path.

use rival_server::BasePath;
use serde_json::json;

use crate::lab::Lab;

async fn behind(path: &str) -> Lab {
    Lab::with(|settings| settings.base_path = BasePath::new(path).unwrap()).await
}

/// Proxies take the path away, or leave it in.
#[tokio::test]
async fn a_server_behind_a_path_is_found_with_it_and_without() {
    let lab = behind("/ops/rival").await;
    for path in ["/ops/rival/version", "/version", "/ops/rival/api/runs?limit=1"] {
        assert_eq!(lab.get(path).await.status.as_u16(), 200, "{path}");
    }
    assert_eq!(lab.get("/ops/version").await.status.as_u16(), 404);
}

#[tokio::test]
async fn addresses_in_answers_follow_the_path() {
    let lab = behind("/ops/rival").await;
    let order = json!({"input": {"customer": "Ada", "amount": 1}, "runId": "a"});
    let started = lab.post("/ops/rival/api/workflows/order/runs", order).await;
    assert_eq!(started.header("location"), "/ops/rival/api/runs/a");
    for path in ["/ops/rival/api/runs/nobody", "/api/nothing", "/ops/rival/api/runs?limit=0"] {
        let problem = lab.get(path).await.body;
        let code = problem["code"].as_str().unwrap();
        assert_eq!(problem["type"], format!("/ops/rival/errors/{code}"), "{path}");
        let page = lab.get(problem["type"].as_str().unwrap()).await;
        assert!(page.text.contains(&format!("<h1><code>{code}</code></h1>")), "{}", page.text);
    }
    let document = lab.get("/ops/rival/api/openapi.json").await.body;
    assert_eq!(document["servers"], json!([{"url": "/ops/rival"}]));
}

#[tokio::test]
async fn a_value_that_was_left_out_is_found_behind_the_path() {
    let lab = behind("/ops/rival").await;
    lab.gate.open();
    let run = lab.finish("held", json!("x".repeat(2 << 20))).await;
    let view = lab.get(&format!("/ops/rival/api/runs/{run}")).await.body;
    let href = view["input"]["$omitted"]["href"].as_str().unwrap();
    assert!(href.starts_with("/ops/rival/api/runs/"), "{href}");
    assert_eq!(lab.get(href).await.text.len(), (2 << 20) + 2);
}

/// They are found from where the page is, so a browser needs no setting.
#[tokio::test]
async fn pages_name_what_they_need_by_where_they_are() {
    let lab = Lab::new().await;
    let page = lab.get("/api/docs").await.text;
    let script = lab.get("/api/docs.js").await.text;
    let error = lab.get("/errors/not_found").await.text;
    assert!(
        !page.contains("=\"/") && !script.contains("fetch(\"/") && !error.contains("=\"/"),
        "{page}{error}"
    );
    assert!(page.contains("href=\"docs.css\"") && error.contains("href=\"../api/docs.css\""));
}
