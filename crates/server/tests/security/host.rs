//! Under which names the server answers.

use rival_server::guard::GuardError;
use rival_server::secure::SecureError;

use crate::http::Answer;
use crate::server::{Server, settings, try_secure};

async fn with_host(server: &Server, path: &str, host: &str) -> Answer {
    server.raw(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")).await.unwrap()
}

#[tokio::test]
async fn a_server_on_loopback_answers_to_the_names_of_loopback() {
    let server = Server::start().await;
    let port = server.address.port();
    for name in ["localhost", "LOCALHOST", "127.0.0.1", "[::1]"] {
        assert_eq!(with_host(&server, "/open", name).await.status, 200, "{name}");
        assert_eq!(with_host(&server, "/open", &format!("{name}:{port}")).await.status, 200, "{name}:{port}");
    }
}

#[tokio::test]
async fn no_other_name_is_answered_to_whatever_is_asked_for() {
    let server = Server::start().await;
    let port = server.address.port();
    let other_port = port.wrapping_add(1);
    let names = [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("localhost:{other_port}"),
        format!("localhost.evil.example:{port}"),
        format!("localhost.:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("127.0.0.2:{port}"),
        format!("[::2]:{port}"),
        format!("[::1]:{port}:{port}"),
        format!("[::1]x:{port}"),
        format!("user@localhost:{port}"),
        format!("localhost:{port}@evil.example"),
        format!("localhost:{port},evil.example"),
        "localhost:".to_owned(),
        "localhost:+80".to_owned(),
        "localhost:99999".to_owned(),
        "[::1".to_owned(),
        String::new(),
    ];
    for name in &names {
        for path in ["/open", "/read", "/page", "/quiet", "/nothing"] {
            with_host(&server, path, name).await.assert_problem(403, "host_not_allowed");
        }
    }
    server.assert_well().await;
}

#[tokio::test]
async fn the_refusal_names_the_host_and_the_setting() {
    let server = Server::start().await;
    let error = with_host(&server, "/open", "evil.example").await.json()["error"].to_string();
    assert!(error.contains("`evil.example`") && error.contains("allowed_hosts"), "{error}");
}

#[tokio::test]
async fn there_must_be_exactly_one_host() {
    let server = Server::start().await;
    let address = server.address;
    for request in [
        "GET /open HTTP/1.1\r\n\r\n".to_owned(),
        "GET /open HTTP/1.0\r\n\r\n".to_owned(),
        format!("GET /open HTTP/1.1\r\nHost: {address}\r\nHost: {address}\r\n\r\n"),
        format!("GET /open HTTP/1.1\r\nHost: evil.example\r\nHost: {address}\r\n\r\n"),
        format!("GET /open HTTP/1.1\r\nHost: {address}\r\nHost: evil.example\r\n\r\n"),
    ] {
        server.raw(&request).await.unwrap().assert_problem(400, "bad_request");
    }
    server.assert_well().await;
}

#[tokio::test]
async fn a_host_in_the_request_line_must_be_the_same() {
    let server = Server::start().await;
    let address = server.address;
    let absolute = |target: &str, host: &str| format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let good = absolute(&format!("http://{address}/open"), &address.to_string());
    assert_eq!(server.raw(good).await.unwrap().status, 200);
    let other = absolute("http://evil.example/open", &address.to_string());
    server.raw(other).await.unwrap().assert_problem(400, "bad_request");
    let both = absolute("http://evil.example/open", "evil.example");
    server.raw(both).await.unwrap().assert_problem(403, "host_not_allowed");
    server.assert_well().await;
}

#[tokio::test]
async fn forwarded_hosts_are_not_believed() {
    let server = Server::start().await;
    let lines = "X-Forwarded-Host: localhost\r\nForwarded: host=localhost\r\n";
    let request = format!("GET /open HTTP/1.1\r\nHost: evil.example\r\n{lines}\r\n");
    server.raw(request).await.unwrap().assert_problem(403, "host_not_allowed");
}

#[tokio::test]
async fn names_can_be_added_with_a_port_or_for_all_ports() {
    let server = Server::with(|settings| {
        settings.allowed_hosts = vec!["rival.example".to_owned(), "ops.example:8443".to_owned()];
    })
    .await;
    for name in ["rival.example", "Rival.Example:9", "ops.example:8443"] {
        assert_eq!(with_host(&server, "/open", name).await.status, 200, "{name}");
    }
    for name in ["ops.example", "ops.example:8444", "x.rival.example", "rival.example.com"] {
        with_host(&server, "/open", name).await.assert_problem(403, "host_not_allowed");
    }
}

#[tokio::test]
async fn on_all_addresses_every_address_is_a_name_but_no_name_is() {
    let server = Server::with(|settings| {
        settings.listen.set_ip("0.0.0.0".parse().unwrap());
    })
    .await;
    let port = server.address.port();
    for name in ["192.0.2.7", "[2001:db8::7]", "localhost"] {
        assert_eq!(with_host(&server, "/open", &format!("{name}:{port}")).await.status, 200, "{name}");
    }
    for name in ["evil.example", "192.0.2.7.evil.example", "1.2.3"] {
        with_host(&server, "/open", &format!("{name}:{port}")).await.assert_problem(403, "host_not_allowed");
    }
}

#[test]
fn what_is_no_host_cannot_be_allowed() {
    for entry in ["*", "https://rival.example", "rival.example/", "", "a b", "rival.example:x"] {
        let mut settings = settings(([127, 0, 0, 1], 1).into(), "missing/tokens.json".into());
        settings.allowed_hosts = vec![entry.to_owned()];
        let error = try_secure(&settings).unwrap_err();
        assert!(matches!(error, SecureError::Guard(GuardError::Host(_))), "{entry}: {error}");
    }
}
