//! Workflows: what there is, what it looks like, what it takes.

use serde_json::json;

use crate::lab::Lab;

#[tokio::test]
async fn workflows_are_listed_with_their_schemas() {
    let lab = Lab::new().await;
    let answer = lab.get("/api/workflows").await;
    assert_eq!(answer.status, 200);
    let names: Vec<_> =
        answer.body["items"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["approval", "chatty", "held", "order", "parent"]);
    let order = &answer.body["items"][3];
    assert_eq!(order["description"], "Takes an order");
    assert_eq!(order["stepCount"], 2);
    assert_eq!(order["inputSchema"]["properties"]["amount"]["minimum"], 1);
    assert!(answer.body["items"][0]["signalSchemas"]["approval"].is_object());
}

#[tokio::test]
async fn a_workflow_has_a_plan_a_graph_and_versions() {
    let lab = Lab::new().await;
    let order = lab.get("/api/workflows/order").await.body;
    assert_eq!(order["plan"]["block"]["nodes"][1]["id"], "charge");
    assert_eq!(order["graph"]["edges"], json!([{"from": "reserve", "to": "charge"}]));
    assert_eq!(order["versions"], json!([{"planHash": order["planHash"], "current": true}]));
}

#[tokio::test]
async fn a_graph_is_drawn_in_three_ways() {
    let lab = Lab::new().await;
    assert_eq!(lab.get("/api/workflows/order/graph").await.body["workflow"], "order");
    let mermaid = lab.get("/api/workflows/order/graph/mermaid").await;
    assert_eq!(mermaid.header("content-type"), "text/plain; charset=utf-8");
    assert!(mermaid.text.starts_with("flowchart"), "{}", mermaid.text);
    assert!(lab.get("/api/workflows/order/graph/dot").await.text.starts_with("digraph"));
    lab.get("/api/workflows/order/graph/png").await.is_problem(400, "bad_request");
}

#[tokio::test]
async fn an_unknown_workflow_is_named_with_those_that_are_known() {
    let lab = Lab::new().await;
    let told = "no workflow is called `ordr`; registered are: approval, chatty, held, order, parent; did you mean `order`?";
    for path in ["/api/workflows/ordr", "/api/workflows/ordr/graph"] {
        assert_eq!(lab.get(path).await.is_problem(404, "unknown_workflow"), told);
    }
    lab.post("/api/workflows/ordr/runs", json!({})).await.is_problem(404, "unknown_workflow");
    lab.post("/api/workflows/ordr/validate", json!({})).await.is_problem(404, "unknown_workflow");
}

#[tokio::test]
async fn an_input_is_checked_without_a_run() {
    let lab = Lab::new().await;
    let good =
        lab.post("/api/workflows/order/validate", json!({"input": {"customer": "Ada", "amount": 1}})).await;
    assert_eq!(good.body, json!({"valid": true, "errors": []}));
    let bad = lab.post("/api/workflows/order/validate", json!({"input": {"amount": 0}})).await;
    assert_eq!((bad.status.as_u16(), &bad.body["valid"]), (200, &json!(false)));
    assert_eq!(bad.body["errors"].as_array().unwrap().len(), 2);
    assert_eq!(lab.get("/api/runs").await.body["items"], json!([]));
}
