//! How the server stops.

use std::time::Duration;

use tokio::net::TcpStream;

use crate::server::Server;

#[tokio::test]
async fn requests_end_and_idle_connections_are_closed() {
    let mut server = Server::with(|settings| settings.drain_timeout = Duration::from_secs(3_600)).await;
    let mut idle = server.wire().await;
    idle.send(server.head("GET", "/open", &[]) + "\r\n").await;
    assert_eq!(idle.answer().await.unwrap().status, 200);
    let mut busy = server.wire().await;
    busy.send(server.head("GET", "/slow", &[]) + "\r\n").await;
    server.world.slow_began.notified().await;

    server.begin_to_stop();
    assert_eq!(idle.until_closed().await, b"");
    // No more connections: the port is free.
    while TcpStream::connect(server.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!server.task.is_finished());
    server.world.slow_may_end.notify_one();
    let answer = busy.answer().await.unwrap();
    assert_eq!((answer.status, &*answer.body), (200, "at last"));
    assert_eq!(answer.header("connection"), Some("close"));
    server.task.await.unwrap();
}

#[tokio::test]
async fn what_does_not_end_is_cut_short() {
    let server = Server::with(|settings| settings.drain_timeout = Duration::from_millis(10)).await;
    let mut busy = server.wire().await;
    busy.send(server.head("GET", "/slow", &[]) + "\r\n").await;
    server.world.slow_began.notified().await;
    let mut stream = server.wire().await;
    stream.send(server.head("GET", "/quiet", &[]) + "\r\n").await;
    assert_eq!(stream.head().await.unwrap().status, 200);
    let mut half = server.wire().await;
    half.send("GET /open HT").await;

    server.stop().await;
    assert!(busy.answer().await.is_none());
    assert!(!stream.until_closed().await.ends_with(b"0\r\n\r\n"));
    assert_eq!(half.until_closed().await, b"");
}

#[tokio::test]
async fn a_server_without_clients_stops_at_once() {
    let server = Server::with(|settings| settings.drain_timeout = Duration::from_secs(3_600)).await;
    server.stop().await;
}
