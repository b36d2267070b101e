//! `verify` and `doctor`.

use expect_test::expect;

use crate::lab::Lab;

#[test]
fn a_store_is_checked() {
    let mut lab = Lab::online();
    lab.rival(&["run", "flaky", "--wait"]).ok();
    let printed = lab.rival(&["verify"]);
    assert_eq!(printed.code, 1);
    assert!(printed.err.contains("is open in process"), "{}", printed.err);
    lab.kill_server();
    lab.rival(&["verify"]).is(&expect![[r#"
        checked 1 runs (1 completed): 12 events, 5 calls, 0 snapshots, 0 waiting messages
        everything holds
    "#]]);
    assert_eq!(lab.rival(&["verify", "-o", "json"]).json()["sound"], true);
    lab.rival(&["verify", "--store", "absent.db"]).is(&expect![[r#"
        ! error: there is no store at absent.db
        exit 4
    "#]]);
    lab.write("other.db", "something else");
    lab.rival(&["verify", "--store", "other.db"]).is(&expect![[r#"
        ! error: cannot open the store: <dir>/other.db is not a SQLite database; it was left as it is, choose another file
        exit 1
    "#]]);
}

#[test]
fn a_store_that_was_tampered_with_is_found_out() {
    let mut lab = Lab::online();
    lab.rival(&["run", "flaky", "--id", "f1", "--wait"]).ok();
    lab.kill_server();
    // A status that the history does not have, written over in the file itself.
    lab.rival(&["verify"]).ok();
    let file = lab.path("data/rival.db");
    let sqlite = rusqlite::Connection::open(&file).unwrap();
    sqlite.execute("UPDATE runs SET note = 'x', ended_at = 1", []).unwrap();
    drop(sqlite);
    let printed = lab.rival(&["verify"]);
    assert_eq!(printed.code, 1);
    assert!(printed.out.contains("run `f1`: rule 2: its row is not as it was written"), "{}", printed.all());
    assert_eq!(lab.rival(&["verify", "-o", "ids"]).out, "f1\n");
}

#[test]
fn lost_commits_are_told_and_can_be_accepted() {
    let mut lab = Lab::online();
    lab.rival(&["run", "flaky", "--id", "f1", "--wait"]).ok();
    lab.kill_server();
    lab.rival(&["verify"]).ok();
    let file = lab.path("data/rival.db");
    let older = std::fs::read(&file).unwrap();
    lab.serve(&[]);
    lab.rival(&["run", "flaky", "--id", "f2", "--wait"]).ok();
    lab.kill_server();
    lab.rival(&["verify"]).ok();
    std::fs::write(&file, older).unwrap();
    let printed = lab.rival(&["list"]);
    assert_eq!(printed.code, 1);
    assert!(printed.err.contains("is behind its mark"), "{}", printed.err);
    let printed = lab.rival(&["verify"]);
    assert_eq!(printed.code, 1);
    assert!(printed.out.contains("what is there holds"), "{}", printed.out);
    assert!(printed.err.contains("rival verify --accept"), "{}", printed.err);
    let printed = lab.rival(&["verify", "--accept"]);
    assert_eq!(printed.code, 0, "{}", printed.all());
    assert!(lab.rival(&["list"]).ok().contains("f1"));
    lab.rival(&["verify"]).ok();
}

/// Without the line that tells how much room there is.
fn findings(lab: &Lab, args: &[&str]) -> String {
    let printed = lab.rival(args).all();
    // Which of these are in force is the kernel's matter.
    let scripts = printed.lines().find(|line| line.starts_with("scripts")).unwrap_or_default();
    assert!(scripts.contains("confined"), "{printed}");
    let varies = |line: &str| line.starts_with("disk") || line.starts_with("scripts");
    printed.lines().filter(|line| !varies(line)).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_doctor_says_what_is_wrong() {
    let mut lab = Lab::offline();
    expect![[r#"
        ABOUT  RESULT  WHAT
        settings  ok  they read well; `rival config print` shows them
        server  problem  none runs at <url>, so nothing goes on by itself; start one with `rival dev` or `rival serve`
        clock  ok  it says <time>
        store  ok  there is none at data/rival.db yet; a server makes it
        tokens  ok  0 in data/tokens.json; requests need none
        ! error: 1 of these must be mended
        exit 1
    "#]]
    .assert_eq(&findings(&lab, &["doctor"]));
    lab.rival(&["run", "flaky"]).ok();
    expect![[r#"
        ABOUT  RESULT  WHAT
        settings  ok  they read well; `rival config print` shows them
        server  problem  none runs at <url>, so nothing goes on by itself; start one with `rival dev` or `rival serve`
        clock  ok  it says <time>
        store  ok  data/rival.db can be read and written (<n> KiB)
        tokens  problem  a server on 0.0.0.0:1 needs one, and there is none: `rival token create NAME`
        ! error: 2 of these must be mended
        exit 1
    "#]]
    .assert_eq(&findings(&lab, &["doctor", "--listen", "0.0.0.0:1"]));
    lab.serve(&[]);
    expect![[r#"
        ABOUT  RESULT  WHAT
        settings  ok  they read well; `rival config print` shows them
        server  ok  <url> runs version 0.1.0, this command is 0.1.0
        server  ok  it takes work
        server  ok  it lets this command in
        clock  ok  the server's and this one agree
        store  ok  data/rival.db is in use by a server
        workflows  ok  no file has a problem
        tokens  ok  0 in data/tokens.json; requests need none
    "#]]
    .assert_eq(&findings(&lab, &["doctor"]));
    assert_eq!(lab.rival(&["doctor", "-o", "json"]).json()[0]["about"], "settings");
    lab.kill_server();
    expect![[r#"
        ABOUT  RESULT  WHAT
        settings  ok  they read well; `rival config print` shows them
        server  problem  cannot reach the server at <url>: Connection refused (os error 111)
        clock  ok  it says <time>
        store  ok  data/rival.db can be read and written (<n> KiB)
        tokens  ok  0 in data/tokens.json; requests need none
        ! error: 1 of these must be mended
        exit 1
    "#]]
    .assert_eq(&findings(&lab, &["doctor", "--url", "http://127.0.0.1:1"]));
}

/// Two projects have the same port: a command of the second one would act on the first.
#[test]
fn a_server_of_another_project_is_told() {
    let mut first = Lab::online();
    let address = first.server().url.trim_start_matches("http://").to_owned();
    let second = Lab::offline();
    second.write("rival.toml", &format!("listen = \"{address}\"\n"));
    let asked = |args: &[&str]| {
        let mut command = second.command(args);
        let output = command.env_remove("RIVAL_URL").env_remove("RIVAL_LISTEN").output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap().replace(&address, "<address>"))
    };
    let told = "the server at http://<address> is not this project's: its store is not data/rival.db";
    let (code, printed) = asked(&["workflows"]);
    assert!(code == Some(0) && printed.contains(told) && printed.contains("fan_out"), "{printed}");
    let (code, printed) = asked(&["run", "flaky"]);
    assert!(code == Some(0) && printed.contains(told), "{printed}");
    let (code, printed) = asked(&["doctor"]);
    assert!(code == Some(1) && printed.contains(told), "{printed}");
    // Where it is named, it is meant.
    let (_, printed) = asked(&["workflows", "--url", &first.server().url.clone()]);
    assert!(!printed.contains("not this project's"), "{printed}");
}

/// Such a server writes no local secret by which a command would know it.
#[test]
fn a_server_that_wants_tokens_is_this_project_s_too() {
    let mut lab = Lab::offline();
    let token = lab.raw(&["token", "create", "me", "--scope", "admin", "-o", "ids"]).trim().to_owned();
    lab.start(&["serve", "--examples", "--require-token"]);
    let address = lab.server().url.trim_start_matches("http://").to_owned();
    lab.write("rival.toml", &format!("listen = \"{address}\"\nrequire_token = true\n"));
    lab.show_token(&token);
    for args in [&["list"][..], &["run", "flaky"], &["doctor"]] {
        let mut command = lab.command(args);
        command.env_remove("RIVAL_URL");
        let printed = lab.execute(command);
        assert!(!printed.all().contains("not this project's"), "{}", printed.all());
        assert_eq!(printed.code, 0, "{}", printed.all());
    }
}
