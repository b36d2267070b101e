//! Tickets for streams, on a server that needs tokens.

use reqwest::Method;
use rival_server::token::AdminToken;

use crate::lab::{Answer, Lab};

const TOKEN: &str = "a token that cannot be guessed";

async fn guarded() -> Lab {
    Lab::with(|settings| {
        settings.require_token = Some(true);
        settings.admin_token = AdminToken::new(TOKEN);
    })
    .await
}

async fn ticket(lab: &Lab) -> String {
    let request = lab.request(Method::POST, "/api/stream/tickets").bearer_auth(TOKEN);
    let answer = Answer::of(request.send().await.unwrap()).await;
    assert_eq!(answer.status.as_u16(), 201, "{}", answer.text);
    assert!(answer.body["expiresAt"].as_i64().unwrap() > 1_600_000_000_000);
    answer.body["ticket"].as_str().unwrap().to_owned()
}

async fn status(lab: &Lab, path: &str) -> u16 {
    lab.request(Method::GET, path).send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn a_ticket_opens_one_stream() {
    let lab = guarded().await;
    assert_eq!(status(&lab, "/api/stream").await, 401);
    let ticket = ticket(&lab).await;
    assert_eq!(status(&lab, &format!("/api/stream?workflow=order&ticket={ticket}")).await, 200);
    let again = lab.get(&format!("/api/stream?ticket={ticket}")).await;
    assert!(again.is_problem(401, "unauthorized").contains("/api/stream/tickets"));
}

#[tokio::test]
async fn a_ticket_opens_nothing_but_streams() {
    let lab = guarded().await;
    let ticket = ticket(&lab).await;
    assert_eq!(status(&lab, &format!("/api/runs?ticket={ticket}")).await, 401);
    assert_eq!(status(&lab, &format!("/metrics?ticket={ticket}")).await, 401);
    // It was not used up.
    assert_eq!(status(&lab, &format!("/api/stream?ticket={ticket}")).await, 200);
}

#[tokio::test]
async fn a_ticket_needs_a_token() {
    let lab = guarded().await;
    let request = lab.request(Method::POST, "/api/stream/tickets");
    Answer::of(request.send().await.unwrap()).await.is_problem(401, "unauthorized");
    lab.get("/api/stream?ticket=rvt_0").await.is_problem(401, "unauthorized");
}

/// A browser that opens a stream again cannot send `Last-Event-ID` by itself.
#[tokio::test]
async fn a_stream_goes_on_where_a_parameter_says() {
    let lab = guarded().await;
    let run = lab.engine.run("chatty", 1_u32).await.unwrap();
    run.wait().await.unwrap();
    let path = format!("/api/runs/{}/stream?logs=true", run.id());
    let all = lab.get(&format!("{path}&ticket={}", ticket(&lab).await)).await.text;
    let frames: Vec<&str> = all.split_terminator("\n\n").collect();
    let id = frames[1].lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
    let rest = lab.get(&format!("{path}&lastEventId={id}&ticket={}", ticket(&lab).await)).await.text;
    assert_eq!(rest.split_terminator("\n\n").collect::<Vec<_>>(), frames[2..]);
    let both = format!("/api/stream/runs?run={}&lastEventId=1&ticket={}", run.id(), ticket(&lab).await);
    assert!(lab.get(&both).await.text.starts_with("id: 2\n"));
}
