//! Bugs of handlers.

use crate::server::Server;

#[tokio::test]
async fn a_handler_that_panics_is_a_problem_and_the_connection_goes_on() {
    let server = Server::start().await;
    let mut wire = server.wire().await;
    for _ in 0..3 {
        wire.send(server.head("GET", "/panic", &[]) + "\r\n").await;
        let answer = wire.answer().await.unwrap();
        answer.assert_problem(500, "internal_error");
        assert!(!answer.body.contains("own bug"), "what went wrong is for the log: {answer:?}");
        wire.send(server.head("GET", "/open", &[]) + "\r\n").await;
        assert_eq!(wire.answer().await.unwrap().status, 200);
    }
    server.assert_well().await;
}
