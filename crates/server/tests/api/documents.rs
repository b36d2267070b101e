//! Documents: created, changed, deleted, checked; versions and tags; what clients that do it at the same time see.

use reqwest::{Method, StatusCode};
use rival::{RunId, RunStatus};
use serde_json::{Value, json};

use crate::lab::{Answer, Lab};

/// A document that sleeps; what it says of itself tells its versions apart.
fn nap(description: &str) -> Value {
    json!({ "name": "nap", "description": description, "steps": [[{ "name": "rest", "sleep": { "ms": 1 } }]] })
}

/// A document that waits for a word.
fn waiting() -> Value {
    json!({ "name": "waiting", "steps": [[{ "name": "word", "waitForSignal": { "name": "word" } }]] })
}

async fn send(lab: &Lab, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut request = lab.request(method, path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if !body.is_empty() {
        request = request.header("content-type", "application/json").body(body.to_owned());
    }
    Answer::of(request.send().await.unwrap()).await
}

async fn put(lab: &Lab, headers: &[(&str, &str)], document: &Value) -> Answer {
    let path = format!("/api/documents/{}", document["name"].as_str().unwrap());
    send(lab, Method::PUT, &path, headers, &document.to_string()).await
}

#[tokio::test]
async fn a_document_is_created_listed_shown_and_run() {
    let lab = Lab::new().await;
    let created = lab.post("/api/documents", nap("first")).await;
    assert_eq!(created.status, StatusCode::CREATED, "{}", created.text);
    assert_eq!((created.header("etag"), created.header("location")), ("\"1\"", "/api/documents/nap"));
    assert_eq!((&created.body["version"], &created.body["etag"]), (&json!(1), &json!("\"1\"")));
    assert_eq!(created.body["warnings"], json!([]));
    assert!(created.body["_schemas"]["rest"].is_object(), "{}", created.text);

    let list = lab.get("/api/documents").await.body;
    assert_eq!(list["next"], Value::Null);
    let [nap] = &list["documents"].as_array().unwrap()[..] else { panic!("{list}") };
    assert_eq!(
        (&nap["name"], &nap["version"], &nap["description"]),
        (&json!("nap"), &json!(1), &json!("first"))
    );
    assert_eq!(
        (&nap["problems"], &nap["stale"], &nap["shadowedBy"]),
        (&json!(0), &json!(false), &Value::Null)
    );
    assert!(nap["updatedAt"].as_i64().unwrap() > 0);

    let shown = lab.get("/api/documents/nap").await;
    assert_eq!(shown.header("etag"), "\"1\"");
    assert_eq!(shown.body["document"]["description"], "first");

    let workflow = lab.get("/api/workflows/nap").await.body;
    assert_eq!((&workflow["kind"], &workflow["file"]), (&json!("document"), &Value::Null));
    assert_eq!(lab.get("/api/workflows/order").await.body["kind"], "rust");
    let run = lab.finish("nap", Value::Null).await;
    assert_eq!(lab.get(&format!("/api/runs/{run}")).await.body["status"], "completed");
}

#[tokio::test]
async fn a_text_is_kept_as_it_was_written() {
    let lab = Lab::new().await;
    let text = "{\n  \"name\": \"nap\", // no\n".replace(" // no", "")
        + "  \"steps\": [[ {\"name\": \"rest\", \"sleep\": {\"ms\": 1}} ]] }\n";
    let created = send(&lab, Method::POST, "/api/documents", &[], &text).await;
    assert_eq!(created.status, StatusCode::CREATED, "{}", created.text);
    assert_eq!(lab.get("/api/documents/nap").await.body["text"], text);
}

#[tokio::test]
async fn everything_that_is_wrong_is_said_with_its_place() {
    let lab = Lab::new().await;
    let text = "{\n  \"name\": \"bad\",\n  \"stepps\": [],\n  \"steps\": [[{ \"name\": \"a\", \"sleep\": { \"ms\": \"x\" } }]]\n}";
    let refused = send(&lab, Method::POST, "/api/documents", &[], text).await;
    refused.is_problem(400, "invalid_document");
    let errors = refused.body["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 2, "{}", refused.text);
    assert_eq!((&errors[0]["type"], &errors[0]["line"]), (&json!("unknown_field"), &json!(3)));
    assert_eq!((&errors[1]["step"], &errors[1]["line"]), (&json!("a"), &json!(4)));
    assert_eq!(errors[1]["path"], "a/sleep.ms");
    lab.get("/api/documents/bad").await.is_problem(404, "document_not_found");

    let checked = send(&lab, Method::POST, "/api/documents/validate", &[], text).await;
    assert_eq!((checked.status.as_u16(), &checked.body["valid"]), (200, &json!(false)));
    assert_eq!(checked.body["errors"], refused.body["errors"]);
    let no_json = send(&lab, Method::POST, "/api/documents/validate", &[], "{ \"name\": ").await;
    assert_eq!(no_json.status, 200);
    assert_eq!(no_json.body["errors"][0]["type"], "invalid_json");
    let good = lab.post("/api/documents/validate", nap("x")).await;
    assert_eq!((&good.body["valid"], &good.body["errors"]), (&json!(true), &json!([])));
    assert!(good.body["_schemas"].is_object());
    assert!(lab.get("/api/documents").await.body["documents"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn the_schema_of_documents_is_there() {
    let lab = Lab::new().await;
    let schema = lab.get("/api/documents/schema").await;
    assert_eq!(schema.status, 200);
    assert!(schema.body["properties"]["steps"].is_object());
}

#[tokio::test]
async fn a_name_that_is_taken_is_a_conflict() {
    let lab = Lab::new().await;
    lab.post("/api/documents", nap("first")).await;
    lab.post("/api/documents", nap("second")).await.is_problem(409, "document_exists");
    let order = json!({ "name": "order", "steps": [[{ "name": "rest", "sleep": { "ms": 1 } }]] });
    let refused = lab.post("/api/documents", order.clone()).await;
    let said = refused.is_problem(409, "duplicate_workflow").to_owned();
    assert!(said.contains("`order` comes from this program"), "{said}");
    put(&lab, &[], &order).await.is_problem(409, "duplicate_workflow");
    for name in ["schema", "validate"] {
        let taken = json!({ "name": name, "steps": [[{ "name": "rest", "sleep": { "ms": 1 } }]] });
        lab.post("/api/documents", taken).await.is_problem(400, "invalid_document");
    }
    let other = send(&lab, Method::PUT, "/api/documents/other", &[], &nap("x").to_string()).await;
    other.is_problem(400, "invalid_document");
    assert_eq!(other.body["errors"][0]["field"], "name");
}

#[tokio::test]
async fn a_change_is_made_for_a_version() {
    let lab = Lab::new().await;
    let created = put(&lab, &[("if-none-match", "*")], &nap("1")).await;
    assert_eq!(created.status, StatusCode::CREATED, "{}", created.text);
    put(&lab, &[("if-none-match", "*")], &nap("x")).await.is_problem(412, "document_exists");

    let second = put(&lab, &[("if-match", "\"1\"")], &nap("2")).await;
    assert_eq!((second.status.as_u16(), second.header("etag")), (200, "\"2\""), "{}", second.text);
    let stale = put(&lab, &[("if-match", "\"1\"")], &nap("3")).await;
    let said = stale.is_problem(412, "version_conflict").to_owned();
    assert!(said.contains("version 2 is the newest"), "{said}");
    // Its answer was lost on the way, and it is sent again.
    let again = put(&lab, &[("if-match", "\"1\"")], &nap("2")).await;
    assert_eq!((again.status.as_u16(), again.header("etag")), (200, "\"2\""), "{}", again.text);

    assert_eq!(put(&lab, &[("if-match", "W/\"2\", \"9\"")], &nap("3")).await.header("etag"), "\"3\"");
    assert_eq!(put(&lab, &[("if-match", "*")], &nap("4")).await.header("etag"), "\"4\"");
    assert_eq!(put(&lab, &[], &nap("5")).await.header("etag"), "\"5\"");
    put(&lab, &[("if-match", "5")], &nap("6")).await.is_problem(412, "version_conflict");
    put(&lab, &[("if-match", "\"5\""), ("if-none-match", "*")], &nap("6"))
        .await
        .is_problem(400, "bad_request");
    put(&lab, &[("if-none-match", "\"5\"")], &nap("6")).await.is_problem(400, "bad_request");

    assert_eq!(lab.get("/api/documents/nap?version=2").await.body["document"]["description"], "2");
    lab.get("/api/documents/nap?version=6").await.is_problem(404, "document_not_found");
    lab.get("/api/documents/nap?version=0").await.is_problem(400, "bad_request");
    let versions = lab.get("/api/documents/nap/versions?limit=2").await.body;
    assert_eq!((&versions["versions"][0]["version"], &versions["next"]), (&json!(5), &json!(4)));
    let rest = lab.get("/api/documents/nap/versions?before=4").await.body;
    assert_eq!((rest["versions"].as_array().unwrap().len(), &rest["next"]), (3, &Value::Null));
}

#[tokio::test]
async fn of_changes_for_one_version_at_the_same_time_one_is_made() {
    let lab = Lab::new().await;
    lab.post("/api/documents", nap("0")).await;
    for version in 1..=5 {
        let tag = format!("\"{version}\"");
        let headers = [("if-match", tag.as_str())];
        let texts: Vec<Value> = (0..4).map(|client| nap(&format!("{version} by {client}"))).collect();
        let (a, b, c, d) = tokio::join!(
            put(&lab, &headers, &texts[0]),
            put(&lab, &headers, &texts[1]),
            put(&lab, &headers, &texts[2]),
            put(&lab, &headers, &texts[3]),
        );
        let answers = [a, b, c, d];
        let made: Vec<usize> = (0..4).filter(|client| answers[*client].status == StatusCode::OK).collect();
        let [winner] = made[..] else { panic!("{made:?}") };
        for (client, answer) in answers.iter().enumerate() {
            assert!(client == winner || answer.status == 412, "{}", answer.text);
        }
        let shown = lab.get("/api/documents/nap").await.body;
        assert_eq!(shown["document"]["description"], texts[winner]["description"]);
        // What is registered is what is kept.
        assert_eq!(lab.get("/api/workflows/nap").await.body["description"], texts[winner]["description"]);
    }
}

#[tokio::test]
async fn runs_go_on_when_their_document_changes_and_when_it_is_deleted() {
    let lab = Lab::new().await;
    lab.post("/api/documents", waiting()).await;
    let (first, second) = (lab.start("waiting", Value::Null).await, lab.start("waiting", Value::Null).await);
    for run in [&first, &second] {
        lab.until(run, "waiting").await;
    }
    let other = json!({ "name": "waiting", "steps": [[{ "name": "rest", "sleep": { "ms": 1 } }]] });
    assert_eq!(put(&lab, &[], &other).await.status, StatusCode::OK);
    // A new run has the new plan.
    let third = lab.finish("waiting", Value::Null).await;
    assert!(lab.get(&format!("/api/runs/{third}")).await.body["steps"].to_string().contains("rest"));
    lab.post(&format!("/api/runs/{first}/signals/word"), json!({ "payload": 1 })).await;
    let outcome = lab.engine.wait(&RunId::from(first.as_str())).await.unwrap();
    assert_eq!((outcome.status, outcome.output.unwrap().to_json()), (RunStatus::Completed, json!(1)));

    let gone = send(&lab, Method::DELETE, "/api/documents/waiting", &[("if-match", "\"1\"")], "").await;
    gone.is_problem(412, "version_conflict");
    let gone = send(&lab, Method::DELETE, "/api/documents/waiting", &[("if-match", "\"2\"")], "").await;
    assert_eq!((gone.status.as_u16(), gone.text.as_str()), (204, ""));
    send(&lab, Method::DELETE, "/api/documents/waiting", &[], "").await.is_problem(404, "document_not_found");
    lab.get("/api/documents/waiting").await.is_problem(404, "document_not_found");
    lab.post("/api/workflows/waiting/runs", json!({})).await.is_problem(404, "unknown_workflow");
    lab.post(&format!("/api/runs/{second}/signals/word"), json!({ "payload": 2 })).await;
    let outcome = lab.engine.wait(&RunId::from(second.as_str())).await.unwrap();
    assert_eq!((outcome.status, outcome.output.unwrap().to_json()), (RunStatus::Completed, json!(2)));

    // Its versions are still there, and go on.
    let versions = lab.get("/api/documents/waiting/versions").await.body;
    let deleted: Vec<_> = versions["versions"].as_array().unwrap().iter().map(|it| &it["deleted"]).collect();
    assert_eq!(deleted, [&json!(true), &json!(false), &json!(false)]);
    assert_eq!(lab.get("/api/documents/waiting?version=1").await.body["document"], waiting());
    assert_eq!(lab.post("/api/documents", waiting()).await.body["version"], 4);
}

#[tokio::test]
async fn who_asked_is_recorded() {
    let lab = Lab::new().await;
    let token = lab.documents.asked_by("ann");
    token.create(&nap("by ann").to_string()).await.unwrap();
    let shown = lab.get("/api/documents/nap").await.body;
    assert_eq!(shown["updatedBy"], "ann");
    put(&lab, &[], &nap("by nobody")).await;
    let versions = lab.get("/api/documents/nap/versions").await.body;
    assert_eq!(
        (&versions["versions"][0]["by"], &versions["versions"][1]["by"]),
        (&Value::Null, &json!("ann"))
    );
}

#[tokio::test]
async fn a_list_of_documents_has_pages() {
    let lab = Lab::new().await;
    for name in ["c", "a", "b", "e", "d"] {
        let document = json!({ "name": name, "steps": [[{ "name": "rest", "sleep": { "ms": 1 } }]] });
        assert_eq!(lab.post("/api/documents", document).await.status, StatusCode::CREATED);
    }
    let (mut names, mut path) = (Vec::new(), "/api/documents?limit=2".to_owned());
    loop {
        let page = lab.get(&path).await.body;
        names.extend(page["documents"].as_array().unwrap().iter().map(|it| it["name"].clone()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/api/documents?limit=2&after={next}");
    }
    assert_eq!(names, ["a", "b", "c", "d", "e"]);
    lab.get("/api/documents?limit=0").await.is_problem(400, "bad_request");
}
