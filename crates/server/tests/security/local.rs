//! Loopback without a token: enough to work, not enough to destroy; and the secret of a person at the machine.

use rival_server::local_secret;

use crate::server::Server;

/// On loopback, with a file for the secret.
async fn with_secret(require_token: Option<bool>) -> (Server, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rival.db.secret");
    let server = Server::with(|settings| {
        settings.local_secret = Some(path);
        settings.require_token = require_token;
    });
    (server.await, folder)
}

#[tokio::test]
async fn without_a_token_one_may_look_and_run_and_no_more() {
    let (server, _folder) = with_secret(None).await;
    assert_eq!(server.get("/read", &[]).await.status, 200);
    assert_eq!(server.post("/run", &[], "{}").await.status, 200);
    let refused = server.post("/admin", &[], "{}").await;
    refused.assert_problem(403, "forbidden");
    assert!(refused.json()["error"].as_str().unwrap().contains("rival token create"), "{refused:?}");
    assert_eq!(server.effects(), 1);
}

#[tokio::test]
async fn whoever_can_read_the_secret_is_an_admin() {
    let (server, folder) = with_secret(None).await;
    let shown = local_secret::read(&folder.path().join("rival.db.secret")).unwrap();
    assert_eq!(shown.listen, server.address);
    let line = format!("Authorization: Bearer {}", shown.secret);
    assert_eq!(server.post("/admin", &[&line], "{}").await.status, 200);
    // That of a server that ran here before is as good as none.
    let old = format!("Authorization: Bearer rvl_local_{}", "0".repeat(64));
    server.post("/admin", &[&old], "{}").await.assert_problem(403, "forbidden");
    assert_eq!(server.get("/read", &[&old]).await.status, 200);
    server.stop().await;
    assert!(!folder.path().join("rival.db.secret").exists());
}

#[tokio::test]
async fn a_server_that_wants_tokens_takes_nothing_else() {
    let (server, folder) = with_secret(Some(true)).await;
    assert!(!folder.path().join("rival.db.secret").exists());
    let line = format!("Authorization: Bearer rvl_local_{}", "0".repeat(64));
    server.get("/read", &[&line]).await.assert_problem(401, "unauthorized");
    server.assert_well().await;
}
