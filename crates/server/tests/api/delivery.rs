//! How answers come: compressed, or not at all if the client has them.

use std::io::Read;

use futures::StreamExt;
use reqwest::Method;
use serde_json::json;

use crate::lab::{Answer, Lab};

fn unpacked(encoding: &str, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let read = match encoding {
        "gzip" => flate2::read::GzDecoder::new(bytes).read_to_end(&mut out),
        "br" => brotli::Decompressor::new(bytes, 4096).read_to_end(&mut out),
        "zstd" => zstd::Decoder::new(bytes).unwrap().read_to_end(&mut out),
        other => panic!("`{other}` is no encoding"),
    };
    read.unwrap();
    out
}

#[tokio::test]
async fn a_large_answer_is_compressed_as_the_client_likes() {
    let lab = Lab::new().await;
    let plain = lab.get("/api/openapi.json").await;
    assert_eq!(plain.header("content-encoding"), "");
    for encoding in ["gzip", "br", "zstd"] {
        let request = lab.request(Method::GET, "/api/openapi.json").header("accept-encoding", encoding);
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()["content-encoding"], encoding);
        assert!(response.headers()["vary"].to_str().unwrap().contains("accept-encoding"));
        let bytes = response.bytes().await.unwrap();
        assert!(bytes.len() < plain.text.len() / 3, "{encoding}: {} bytes", bytes.len());
        assert_eq!(unpacked(encoding, &bytes), plain.text.as_bytes());
    }
}

#[tokio::test]
async fn small_answers_and_streams_are_not_compressed() {
    let lab = Lab::new().await;
    let run = lab.start("approval", json!(null)).await;
    for path in ["/version", "/api/stream", &format!("/api/runs/{run}/stream")] {
        let request = lab.request(Method::GET, path).header("accept-encoding", "gzip, br, zstd");
        let response = request.send().await.unwrap();
        assert_eq!(response.headers().get("content-encoding"), None, "{path}");
        if path.ends_with("/stream") && path != "/api/stream" {
            let first = response.bytes_stream().next().await.unwrap().unwrap();
            assert!(first.starts_with(b"id: 1\nevent: runStarted\n"), "{first:?}");
        }
    }
}

async fn if_changed(lab: &Lab, path: &str, tag: &str) -> Answer {
    Answer::of(lab.request(Method::GET, path).header("if-none-match", tag).send().await.unwrap()).await
}

#[tokio::test]
async fn what_a_client_has_is_not_sent_again() {
    let lab = Lab::new().await;
    let run = lab.finish("order", json!({"customer": "Ada", "amount": 1})).await;
    let paths = [
        "/api/workflows".to_owned(),
        "/api/workflows/order".to_owned(),
        "/api/workflows/order/graph".to_owned(),
        "/api/workflows/order/graph/mermaid".to_owned(),
        format!("/api/runs/{run}"),
        format!("/api/runs/{run}/steps"),
        format!("/api/runs/{run}/events"),
        format!("/api/runs/{run}/graph"),
    ];
    for path in &paths {
        let first = lab.get(path).await;
        let tag = first.header("etag");
        assert!(tag.starts_with("W/\"") && tag.ends_with('"'), "{path}: `{tag}`");
        let again = if_changed(&lab, path, tag).await;
        assert_eq!(
            (again.status.as_u16(), again.text.as_str(), again.header("etag")),
            (304, "", tag),
            "{path}"
        );
        assert_eq!(if_changed(&lab, path, "W/\"other\"").await.text, first.text, "{path}");
    }
    assert_eq!(lab.get("/api/runs/nobody").await.header("etag"), "");
}

#[tokio::test]
async fn a_run_that_went_on_is_sent_again() {
    let lab = Lab::new().await;
    let run = lab.start("approval", json!(null)).await;
    lab.until(&run, "waiting").await;
    let path = format!("/api/runs/{run}");
    let tag = lab.get(&path).await.header("etag").to_owned();
    assert_eq!(if_changed(&lab, &path, &tag).await.status.as_u16(), 304);
    lab.post(&format!("{path}/signals/approval"), json!({"payload": {"approved": true}})).await;
    lab.until(&run, "completed").await;
    let now = if_changed(&lab, &path, &tag).await;
    assert_eq!((now.status.as_u16(), &now.body["status"]), (200, &json!("completed")));
}
