//! Live streams.

use futures::{Stream, StreamExt};
use reqwest::Method;
use serde_json::{Value, json};

use crate::lab::Lab;

/// One server-sent event.
#[derive(Clone, Debug, Default, PartialEq)]
struct Frame {
    id: String,
    event: String,
    data: Value,
}

/// Opens a stream and reads its frames; comments are left out.
async fn follow(lab: &Lab, path: &str, last: Option<&str>) -> impl Stream<Item = Frame> + Unpin + use<> {
    let mut request = lab.request(Method::GET, path);
    if let Some(last) = last {
        request = request.header("Last-Event-ID", last);
    }
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let text = response.bytes_stream().map(|part| String::from_utf8(part.unwrap().to_vec()).unwrap());
    let frames = text.scan(String::new(), |rest, part| {
        rest.push_str(&part);
        let mut frames = Vec::new();
        while let Some((frame, after)) = rest.split_once("\n\n") {
            frames.push(parse(frame));
            *rest = after.to_owned();
        }
        std::future::ready(Some(futures::stream::iter(frames.into_iter().flatten())))
    });
    Box::pin(frames.flatten())
}

fn parse(text: &str) -> Option<Frame> {
    let mut frame = Frame::default();
    for line in text.lines() {
        match line.split_once(": ")? {
            ("id", id) => frame.id = id.to_owned(),
            ("event", event) => frame.event = event.to_owned(),
            ("data", data) => frame.data = serde_json::from_str(data).unwrap(),
            _ => return None,
        }
    }
    Some(frame)
}

#[tokio::test]
async fn a_run_is_followed_to_its_end() {
    let lab = Lab::new().await;
    let run = lab.start("approval", Value::Null).await;
    let mut frames = follow(&lab, &format!("/api/runs/{run}/stream"), None).await;
    let first = frames.next().await.unwrap();
    assert_eq!((first.id.as_str(), first.event.as_str(), &first.data["seq"]), ("1", "runStarted", &json!(1)));
    lab.post(&format!("/api/runs/{run}/signals/approval"), json!({"payload": {"approved": true}})).await;
    let rest: Vec<Frame> = frames.collect().await;
    assert_eq!(rest.last().unwrap().event, "runCompleted");
    let events = lab.get(&format!("/api/runs/{run}/events")).await.body["items"].clone();
    let seen: Vec<Value> = std::iter::once(first).chain(rest).map(|frame| frame.data).collect();
    assert_eq!(json!(seen), events);
}

#[tokio::test]
async fn whoever_comes_back_misses_nothing_and_sees_nothing_twice() {
    let lab = Lab::new().await;
    let run = lab.finish("order", json!({"customer": "Ada", "amount": 1})).await;
    let path = format!("/api/runs/{run}/stream");
    let all: Vec<Frame> = follow(&lab, &path, None).await.collect().await;
    for seen in 1..all.len() {
        let rest: Vec<Frame> = follow(&lab, &path, Some(&seen.to_string())).await.collect().await;
        assert_eq!(rest, all[seen..]);
        let rest: Vec<Frame> = follow(&lab, &format!("{path}?after={seen}"), None).await.collect().await;
        assert_eq!(rest, all[seen..]);
    }
}

#[tokio::test]
async fn a_follower_of_the_log_that_comes_back_sees_no_line_twice() {
    let lab = Lab::new().await;
    let run = lab.finish("order", json!({"customer": "Ada", "amount": 1})).await;
    let path = format!("/api/runs/{run}/stream?logs=true");
    let all: Vec<Frame> = follow(&lab, &path, None).await.collect().await;
    for (place, frame) in all.iter().enumerate().take(all.len() - 1) {
        let rest: Vec<Frame> = follow(&lab, &path, Some(&frame.id)).await.collect().await;
        assert_eq!(rest, all[place + 1..], "after {}", frame.id);
    }
    let request = lab.request(Method::GET, &path).header("Last-Event-ID", &all.last().unwrap().id);
    let over = request.send().await.unwrap();
    assert_eq!(over.status(), 204);
}

#[tokio::test]
async fn several_runs_are_followed_in_one_stream() {
    let lab = Lab::new().await;
    let first = lab.finish("order", json!({"customer": "Ada", "amount": 1})).await;
    let second = lab.start("approval", Value::Null).await;
    let path = format!("/api/stream/runs?run={first}&run={second}&logs=true");
    let mut frames = follow(&lab, &path, None).await;
    let mut seen = Vec::new();
    while !seen.iter().any(|frame: &Frame| frame.event == "signalAwaited")
        || !seen.iter().any(|frame: &Frame| frame.event == "runCompleted")
    {
        seen.push(frames.next().await.unwrap());
    }
    let of = |run: &str, frames: &[Frame]| frames.iter().filter(|frame| frame.data["runId"] == run).count();
    assert_eq!(of(&first, &seen) + of(&second, &seen), seen.len());
    assert_eq!(seen.iter().filter(|frame| frame.event == "log").count(), 2);
    // The connection breaks off, and the client goes on where it was.
    drop(frames);
    let last = seen.last().unwrap().id.clone();
    lab.post(&format!("/api/runs/{second}/signals/approval"), json!({"payload": {"approved": true}})).await;
    let rest: Vec<Frame> = follow(&lab, &path, Some(&last)).await.collect().await;
    assert_eq!((of(&first, &rest), rest.last().unwrap().event.as_str()), (0, "runCompleted"));
    let request = lab.request(Method::GET, &path).header("Last-Event-ID", &rest.last().unwrap().id);
    assert_eq!(request.send().await.unwrap().status(), 204);
    lab.get("/api/stream/runs?run=nobody").await.is_problem(404, "run_not_found");
    let wrong = lab.request(Method::GET, &path).header("Last-Event-ID", "7");
    assert_eq!(wrong.send().await.unwrap().status(), 400);
}

#[tokio::test]
async fn proxies_are_told_not_to_hold_frames_back() {
    let lab = Lab::new().await;
    let stream = lab.request(Method::GET, "/api/stream").send().await.unwrap();
    assert_eq!(stream.headers()["x-accel-buffering"], "no");
}

#[tokio::test]
async fn there_is_nothing_after_the_end() {
    let lab = Lab::new().await;
    let run = lab.finish("order", json!({"customer": "Ada", "amount": 1})).await;
    let last = lab.get(&format!("/api/runs/{run}")).await.body["events"].to_string();
    for after in [last.as_str(), "99999", "9223372036854775807"] {
        let request =
            lab.request(Method::GET, &format!("/api/runs/{run}/stream")).header("Last-Event-ID", after);
        assert_eq!(request.send().await.unwrap().status(), 204, "{after}");
    }
    for wrong in ["x", "", "-1", "1-", "1-2-3", "9223372036854775808"] {
        let request =
            lab.request(Method::GET, &format!("/api/runs/{run}/stream")).header("Last-Event-ID", wrong);
        assert_eq!(request.send().await.unwrap().status(), 400, "{wrong}");
    }
}

#[tokio::test]
async fn lines_come_before_the_outcome_of_their_step() {
    let lab = Lab::new().await;
    let run = lab.finish("order", json!({"customer": "Ada", "amount": 1})).await;
    let frames: Vec<Frame> =
        follow(&lab, &format!("/api/runs/{run}/stream?logs=true"), None).await.collect().await;
    let place = |wanted: &dyn Fn(&Frame) -> bool| frames.iter().position(wanted).unwrap();
    let line = place(&|frame| frame.event == "log" && frame.data["message"] == "charging");
    assert!(line < place(&|frame| frame.event == "runCompleted"));
    assert_eq!(frames[line].id, format!("{}-2", frames[line - 1].id.split('-').next().unwrap()));
    assert_eq!(frames.iter().filter(|frame| frame.event == "log").count(), 2);
}

#[tokio::test]
async fn no_line_is_left_out_however_many_there_are() {
    let lab = Lab::new().await;
    let run = lab.finish("chatty", json!(1234)).await;
    let frames: Vec<Frame> =
        follow(&lab, &format!("/api/runs/{run}/stream?logs=true"), None).await.collect().await;
    assert_eq!(frames.iter().filter(|frame| frame.event == "log").count(), 1234);
    assert_eq!(frames.last().unwrap().event, "runCompleted");
}

#[tokio::test]
async fn all_runs_are_followed() {
    let lab = Lab::new().await;
    let mut all = follow(&lab, "/api/stream", None).await;
    let mut orders = follow(&lab, "/api/stream?workflow=order", None).await;
    let run = lab.start("approval", Value::Null).await;
    let order = lab.start("order", json!({"customer": "Ada", "amount": 1})).await;
    let ended = async |frames: &mut (dyn Stream<Item = Frame> + Unpin + Send), id: &str, status: &str| loop {
        let frame = frames.next().await.unwrap();
        assert_eq!(frame.event, "run");
        if frame.data["runId"] == id && frame.data["status"] == status {
            return frame.data;
        }
    };
    assert_eq!(ended(&mut all, &order, "completed").await["workflow"], "order");
    lab.post(&format!("/api/runs/{run}/cancel"), json!({})).await;
    assert_eq!(ended(&mut all, &run, "cancelled").await["workflow"], "approval");
    let first = orders.next().await.unwrap();
    assert_eq!(first.data["runId"], order);
}

#[tokio::test]
async fn a_start_that_waits_is_answered_when_the_server_stops() {
    let lab = Lab::new().await;
    let body = json!({"runId": "r"});
    let start = lab.request(Method::POST, "/api/workflows/approval/runs?wait=50s").json(&body).send();
    let start = tokio::spawn(start);
    lab.until("r", "waiting").await;
    lab.stop().await;
    let start = start.await.unwrap().unwrap();
    assert_eq!(
        (start.status().as_u16(), &start.headers()["location"]),
        (202, &"/api/runs/r".parse().unwrap())
    );
}

#[tokio::test]
async fn streams_end_when_the_server_stops() {
    let lab = Lab::new().await;
    let run = lab.start("approval", Value::Null).await;
    let mut of_run = follow(&lab, &format!("/api/runs/{run}/stream"), None).await;
    let all = follow(&lab, "/api/stream", None).await;
    assert_eq!(of_run.next().await.unwrap().event, "runStarted");
    lab.stop().await;
    of_run.collect::<Vec<_>>().await;
    assert_eq!(all.collect::<Vec<_>>().await, []);
}
