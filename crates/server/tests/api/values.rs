//! Large values: answers of bounded size, and each value by itself.

use rival::prelude::*;
use rival::{Archive, RunId};
use serde_json::{Value, json};

use crate::lab::Lab;

const MIB: usize = 1 << 20;

#[step]
async fn numbers(Input(count): Input<u32>) -> Result<Vec<u32>, StepError> {
    Ok((0..count).collect())
}

#[step]
async fn fill(Item(n): Item<u32>, state: State) -> Result<String, StepError> {
    state.set("large", "s".repeat(MIB + MIB / 2))?;
    Ok(n.to_string().repeat(MIB + MIB / 2))
}

#[step]
async fn read_all(last: LastStep) -> Result<usize, StepError> {
    Ok(last.get::<Vec<String>>()?.len())
}

#[step]
async fn small() -> Result<u32, StepError> {
    Ok(1)
}

/// A list of results, each larger than an answer shows, and what comes after it.
async fn lab() -> Lab {
    let lab = Lab::new().await;
    let heavy = |name: &str| {
        Workflow::new(name).input::<u32>().for_each("all", numbers, |each| each.body(|body| body.step(fill)))
    };
    lab.engine.register(heavy("heavy").build().unwrap()).await.unwrap();
    lab.engine.register(heavy("heavy_then_small").step(small).build().unwrap()).await.unwrap();
    lab.engine.register(heavy("heavy_then_read").step(read_all).build().unwrap()).await.unwrap();
    lab
}

/// The links of all values that were left out.
fn links(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(href) = fields.get("$omitted").and_then(|omitted| omitted["href"].as_str()) {
                found.push(href.to_owned());
            }
            fields.values().for_each(|value| links(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| links(value, found)),
        _ => {}
    }
}

#[tokio::test]
async fn a_run_is_shown_without_what_is_too_large_and_each_value_can_be_read() {
    let lab = lab().await;
    let id = lab.finish("heavy_then_small", json!(6)).await;
    for (path, steps) in [("", "steps"), ("/steps", "items")] {
        let shown = lab.get(&format!("/api/runs/{id}{path}")).await;
        assert_eq!(shown.status, 200);
        assert!(shown.text.len() < 64 * 1024, "{} bytes", shown.text.len());
        let mut found = Vec::new();
        links(&shown.body[steps], &mut found);
        // Six results and six states, and the six results again in the list that they make.
        assert_eq!(found.len(), 18, "{found:?}");
        for link in found {
            let value = lab.get(&link).await;
            assert_eq!(value.status, 200);
            let text = value.body.as_str().unwrap_or_else(|| value.body["large"].as_str().unwrap());
            assert_eq!(text.len(), MIB + MIB / 2, "{link}");
        }
    }
    assert_eq!(lab.get(&format!("/api/runs/{id}/graph")).await.status, 200);
    let outcome = lab.get(&format!("/api/runs/{id}/wait")).await;
    assert_eq!((&outcome.body["status"], &outcome.body["output"]), (&json!("completed"), &json!(1)));
    assert!(outcome.text.len() < 64 * 1024, "{} bytes", outcome.text.len());
    lab.get(&format!("/api/runs/{id}/values/100000")).await.is_problem(404, "no_value");
    lab.get("/api/runs/nobody/values/1").await.is_problem(404, "run_not_found");
}

#[tokio::test]
async fn an_output_is_whole_where_one_waits_for_it() {
    let lab = lab().await;
    let outcome = lab.post("/api/workflows/heavy/runs?wait=5m", json!({"input": 2})).await;
    assert_eq!(outcome.status, 200);
    let output = outcome.body["output"].as_array().unwrap();
    assert!(output.iter().all(|part| part.as_str().unwrap().len() == MIB + MIB / 2));
}

/// Twelve parts of 1.5 MiB are more than the 16 MiB that a value may have.
#[tokio::test]
async fn a_list_that_is_larger_than_a_value_may_be_is_kept_in_parts() {
    let lab = lab().await;
    let outcome = lab.post("/api/workflows/heavy/runs?wait=5m", json!({"input": 12})).await;
    assert_eq!(outcome.body["status"], "completed", "{}", outcome.text.len());
    let omitted = &outcome.body["output"]["$omitted"];
    assert!(omitted["error"].as_str().unwrap().contains("bytes"), "{omitted}");
    let whole = lab.get(omitted["href"].as_str().unwrap()).await;
    assert_eq!(whole.body.as_array().unwrap().len(), 12);
    let run = RunId::from(outcome.body["runId"].as_str().unwrap());
    let error = lab.engine.handle(run).await.unwrap().output().await.unwrap_err();
    assert_eq!(error.code(), "payload_too_large");
    // A step that asks for all of it at once fails, and says so.
    let outcome = lab.post("/api/workflows/heavy_then_read/runs?wait=5m", json!({"input": 12})).await;
    assert_eq!(outcome.body["error"]["code"], "payload_too_large");
    assert_eq!(outcome.body["failedStep"]["stepName"], "read_all");
    let message = outcome.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("the result of `all`"), "{message}");
    // One that fits is read.
    let outcome = lab.post("/api/workflows/heavy_then_read/runs?wait=5m", json!({"input": 3})).await;
    assert_eq!(outcome.body["output"], json!(3));
}

#[tokio::test]
async fn pages_of_large_events_are_short_and_give_every_event_once() {
    let lab = lab().await;
    let id = lab.finish("heavy", json!(6)).await;
    let (mut after, mut seen, mut pages) = (Some("0".to_owned()), Vec::new(), 0);
    while let Some(cursor) = after {
        let page = lab.get(&format!("/api/runs/{id}/events?limit=10000&cursor={cursor}")).await;
        assert!(page.text.len() < 9 * MIB, "{} bytes", page.text.len());
        seen.extend(
            page.body["items"].as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()),
        );
        after = page.body["cursor"].as_str().map(str::to_owned);
        pages += 1;
    }
    let all = lab.engine.history(&RunId::from(id.as_str())).await.unwrap();
    assert_eq!(seen, all.iter().map(|event| event.seq.0).collect::<Vec<_>>());
    assert!(pages > 2, "{pages}");
}

#[tokio::test]
async fn a_large_run_is_exported_as_it_is_read() {
    let lab = lab().await;
    let id = lab.finish("heavy", json!(6)).await;
    let chatty = lab.finish("chatty", json!(3)).await;
    for id in [id, chatty] {
        let exported = lab.get(&format!("/api/runs/{id}/export")).await;
        let mut archive = Archive::from_json(&exported.text).unwrap();
        let expected = lab.engine.export(&RunId::from(id.as_str())).await.unwrap();
        archive.exported_at = expected.exported_at;
        assert!(archive == expected, "the exported run is another");
    }
}
