//! The file with the tokens: what is in it, who may touch it, and what happens when it is not as it should be.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rival_core::Time;
use rival_server::auth::AccessScope;
use rival_server::secure::SecureError;
use rival_server::token::{TokenError, TokenFile};
use serde_json::Value;

use crate::server::{Server, settings, try_secure};

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

#[test]
fn it_is_for_its_owner_alone_and_holds_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let file = TokenFile::new(folder.path().join("new/folder/tokens.json"));
    assert_eq!(file.list().unwrap(), []);
    let new = file.create("ci", AccessScope::Run, Time(7), Some(Time(9))).unwrap();

    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(file.path()), 0o600);
    assert_eq!(mode(file.path().parent().unwrap()), 0o700);

    let text = fs::read_to_string(file.path()).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["version"], 1);
    let kept = &json["tokens"][0];
    assert_eq!(kept["id"], new.token.id.as_str());
    assert_eq!(kept["name"], "ci");
    assert_eq!(kept["scope"], "run");
    assert_eq!(kept["createdAt"], 7);
    assert_eq!(kept["expiresAt"], 9);
    assert_eq!(kept["sha256"].as_str().unwrap().len(), 64);

    let secret = new.secret.strip_prefix(&format!("rvl_{}_", new.token.id)).unwrap();
    assert_eq!(secret.len(), 64);
    assert!(!text.contains(secret));
    assert!(!format!("{new:?}").contains(secret));
    let left: Vec<_> =
        fs::read_dir(file.path().parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".new")), "{left:?}");
}

#[test]
fn tokens_are_listed_in_order_and_revoked_by_id() {
    let folder = tempfile::tempdir().unwrap();
    let file = TokenFile::new(folder.path().join("tokens.json"));
    let ids: Vec<String> = ["a", "b", "c"]
        .map(|name| file.create(name, AccessScope::Read, Time(0), None).unwrap().token.id)
        .into();
    assert_eq!(file.revoke(&ids[1]).unwrap().name, "b");
    let names: Vec<String> = file.list().unwrap().into_iter().map(|token| token.name).collect();
    assert_eq!(names, ["a", "c"]);
    assert_eq!(file.revoke(&ids[1]).unwrap_err().code(), "unknown_token");
    for name in ["", "a\nb", &"x".repeat(101)] {
        assert_eq!(
            file.create(name, AccessScope::Read, Time(0), None).unwrap_err().code(),
            "invalid_token_name"
        );
    }
}

#[test]
fn those_who_write_at_the_same_time_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = TokenFile::new(folder.path().join("tokens.json"));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    file.create("x", AccessScope::Read, Time(0), None).unwrap();
                }
            });
        }
    });
    assert_eq!(file.list().unwrap().len(), 20);
}

#[test]
fn a_server_does_not_start_with_a_file_that_it_cannot_trust() {
    let folder = tempfile::tempdir().unwrap();
    let file = TokenFile::new(folder.path().join("tokens.json"));
    file.create("ci", AccessScope::Run, Time(0), None).unwrap();
    let settings = settings(([127, 0, 0, 1], 1).into(), file.path().to_owned());
    let good = fs::read_to_string(file.path()).unwrap();
    for damaged in [
        String::new(),
        "{".to_owned(),
        "[]".to_owned(),
        good[..good.len() / 2].to_owned(),
        good.replace("\"version\": 1", "\"version\": 2"),
        good.replace("\"run\"", "\"everything\""),
        good.replace("\"sha256\"", "\"sha512\""),
    ] {
        fs::write(file.path(), &damaged).unwrap();
        let error = try_secure(&settings).unwrap_err();
        assert!(matches!(&error, SecureError::Tokens(TokenError::Damaged { .. })), "{damaged}: {error}");
        // Nor is anything written over it.
        assert_eq!(
            file.create("x", AccessScope::Run, Time(0), None).unwrap_err().code(),
            "tokens_unreadable"
        );
        assert_eq!(fs::read_to_string(file.path()).unwrap(), damaged);
    }
    fs::write(file.path(), &good).unwrap();
    for mode in [0o620, 0o602, 0o666] {
        fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
        let error = try_secure(&settings).unwrap_err();
        assert!(matches!(&error, SecureError::Tokens(TokenError::Exposed { .. })), "{error}");
        assert!(error.to_string().contains("chmod 600"));
    }
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o600)).unwrap();
    try_secure(&settings).unwrap();
}

#[tokio::test]
async fn a_file_that_is_damaged_while_the_server_runs_lets_nobody_in_until_it_is_mended() {
    let server = Server::private().await;
    let line = bearer(&server.token(AccessScope::Admin));
    assert_eq!(server.get("/read", &[&line]).await.status, 200);
    let good = fs::read(server.tokens.path()).unwrap();

    fs::write(server.tokens.path(), "{").unwrap();
    server.get("/read", &[&line]).await.assert_problem(503, "tokens_unreadable");
    server.post("/run", &[&line], "{}").await.assert_problem(503, "tokens_unreadable");
    server.get("/read", &[]).await.assert_problem(401, "unauthorized");
    assert_eq!(server.get("/open", &[]).await.status, 200);
    assert_eq!(server.effects(), 0);

    fs::write(server.tokens.path(), good).unwrap();
    assert_eq!(server.get("/read", &[&line]).await.status, 200);
    server.assert_well().await;
}

#[tokio::test]
async fn a_file_that_others_may_change_while_the_server_runs_lets_nobody_in() {
    let server = Server::private().await;
    let line = bearer(&server.token(AccessScope::Admin));
    assert_eq!(server.get("/read", &[&line]).await.status, 200);
    fs::set_permissions(server.tokens.path(), fs::Permissions::from_mode(0o666)).unwrap();
    server.get("/read", &[&line]).await.assert_problem(503, "tokens_unreadable");
    fs::set_permissions(server.tokens.path(), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(server.get("/read", &[&line]).await.status, 200);
}

#[tokio::test]
async fn without_its_file_a_server_knows_no_token() {
    let server = Server::private().await;
    let line = bearer(&server.token(AccessScope::Admin));
    assert_eq!(server.get("/read", &[&line]).await.status, 200);
    fs::remove_file(server.tokens.path()).unwrap();
    server.get("/read", &[&line]).await.assert_problem(401, "unauthorized");
    server.get("/read", &[]).await.assert_problem(401, "unauthorized");
    server.assert_well().await;
}

#[tokio::test]
async fn a_folder_in_its_place_lets_nobody_in() {
    let server = Server::private().await;
    let line = bearer(&server.token(AccessScope::Admin));
    fs::remove_file(server.tokens.path()).unwrap();
    fs::create_dir(server.tokens.path()).unwrap();
    fs::set_permissions(server.tokens.path(), fs::Permissions::from_mode(0o700)).unwrap();
    server.get("/read", &[&line]).await.assert_problem(503, "tokens_unreadable");
    fs::remove_dir(server.tokens.path()).unwrap();
    server.assert_well().await;
}

/// A token made by root, as one does beside a service of another user, must not lock that service out.
#[cfg(unix)]
#[test]
fn what_root_writes_belongs_to_the_owner_of_the_folder() {
    use std::os::unix::fs::{MetadataExt, chown};
    let folder = tempfile::tempdir().unwrap();
    // Only root can do this; another user's files are its own in any case.
    if chown(folder.path(), Some(65_534), Some(65_534)).is_err() {
        return;
    }
    let file = TokenFile::new(folder.path().join("tokens.json"));
    for name in ["first", "second"] {
        file.create(name, AccessScope::Run, Time(0), None).unwrap();
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let entry = entry.unwrap();
            assert_eq!(entry.metadata().unwrap().uid(), 65_534, "{:?}", entry.path());
        }
    }
}
