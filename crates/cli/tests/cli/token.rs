//! `token`, and what a server does with tokens.

use expect_test::expect;

use crate::lab::{Lab, is_private};

#[test]
fn tokens_are_made_listed_and_revoked() {
    let lab = Lab::offline();
    lab.rival(&["token", "list"]).is(&expect![[r#"
        ! no tokens; `rival token create NAME` makes one
    "#]]);
    let secret = lab.raw(&["token", "create", "ci", "--scope", "run", "--expires", "30d"]);
    assert!(secret.starts_with("rvl_"), "{secret}");
    assert!(is_private(&lab.path("data/tokens.json")));
    let listed = lab.rival(&["token", "list", "-o", "json"]).json();
    assert_eq!((&listed[0]["name"], &listed[0]["scope"]), (&"ci".into(), &"run".into()));
    assert!(!listed.to_string().contains(secret.trim()));
    let id = listed[0]["id"].as_str().unwrap();
    let table = lab.rival(&["token", "list"]).ok().replace(id, "<token>");
    expect![[r#"
        ID  NAME  SCOPE  CREATED (UTC)  EXPIRES (UTC)
        <token>  ci  run  <time>  <time>
    "#]]
    .assert_eq(&table);
    lab.rival(&["token", "revoke", id]).is(&expect![[r#"
        ! `ci` is no longer valid
    "#]]);
    lab.rival(&["token", "revoke", "nope"]).is(&expect![[r#"
        ! error: no token has the id `nope`
        exit 4
    "#]]);
    lab.rival(&["token", "create", ""]).is(&expect![[r#"
        ! error: a token's name has 1 to 100 printable characters
        exit 2
    "#]]);
}

#[test]
fn a_server_lets_in_who_shows_a_token() {
    let mut lab = Lab::offline();
    let printed = lab.rival(&["serve", "--listen", "127.0.0.1:0", "--require-token"]);
    assert_eq!(printed.code, 1);
    assert!(printed.err.contains("make one with `rival token create NAME`"), "{}", printed.err);
    let (read, run) =
        (lab.raw(&["token", "create", "r", "--scope", "read"]), lab.raw(&["token", "create", "w"]));
    lab.serve(&["--require-token"]);
    lab.rival(&["list"]).is(&expect![[r#"
        ! error: this needs a token: send `Authorization: Bearer rvl_…`; `rival token create` makes one
        ! hint: set RIVAL_TOKEN; whoever runs the server makes tokens with `rival token create`
        exit 3
    "#]]);
    lab.show_token(read.trim());
    lab.rival(&["list"]).is(&expect![[r#"
        ! no runs; --all looks for children too
    "#]]);
    lab.rival(&["run", "flaky"]).is(&expect![[r#"
        ! error: this needs a token with the scope `run`, and `r` has `read`
        exit 3
    "#]]);
    lab.show_token(run.trim());
    assert_eq!(lab.rival(&["run", "flaky", "--wait"]).code, 0);
    lab.show_token("rvl_nonsense");
    assert_eq!(lab.rival(&["list"]).code, 3);
}

#[test]
fn the_doctor_tells_a_missing_token_from_a_wrong_one() {
    let mut lab = Lab::offline();
    let token = lab.raw(&["token", "create", "ada"]);
    lab.serve(&["--require-token"]);
    let doctor = |lab: &Lab| {
        let mut command = lab.command(&["doctor"]);
        command.env("RIVAL_REQUIRE_TOKEN", "true");
        lab.execute(command).all()
    };
    let without = doctor(&lab);
    assert!(without.contains("warning  it wants a token, and this command was given none"), "{without}");
    assert!(
        without.contains("warning  not known: the server lets only those in who show a token"),
        "{without}"
    );
    lab.show_token("rvl_nonsense");
    let wrong = doctor(&lab);
    assert!(wrong.contains("problem  the token is not one of Rival's"), "{wrong}");
    assert!(wrong.contains("is in use by a server"), "{wrong}");
    lab.show_token(token.trim());
    assert!(doctor(&lab).contains("ok  it lets this command in"));
}

#[test]
fn the_doctor_knows_the_admin_token() {
    let lab = Lab::offline();
    let mut command = lab.command(&["doctor"]);
    command.env("RIVAL_REQUIRE_TOKEN", "true");
    let without = lab.execute(command).all();
    assert!(without.contains("tokens  problem  "), "{without}");
    let mut command = lab.command(&["doctor"]);
    command.env("RIVAL_REQUIRE_TOKEN", "true").env("RIVAL_ADMIN_TOKEN", "a-token-that-is-long-enough");
    let with = lab.execute(command).all();
    assert!(with.contains(", and `admin_token`; requests need one"), "{with}");
}
