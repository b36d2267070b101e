//! `export` and `import`.

use expect_test::expect;

use crate::lab::{Lab, is_private};

const BAD: &str = r#"{"to": "</script><script>alert(1)</script>&\"", "budget": 1}"#;

#[test]
fn a_run_goes_into_a_file_and_comes_back() {
    let lab = Lab::online();
    lab.rival(&["run", "saga", "--id", "s1", "--tag", "blue", "-i", BAD, "--wait"]);
    lab.rival(&["export", "s1", "s1.html"]).is(&expect![[r#"
        ! written to s1.html
    "#]]);
    lab.rival(&["export", "s1", "s1.json"]).is(&expect![[r#"
        ! written to s1.json
    "#]]);
    assert!(is_private(&lab.path("s1.html")));
    // Also where it came from.
    lab.rival(&["import", "s1.html", "s1.json"]).is(&expect![[r#"
        s1  failed
        s1  failed
        ! it was there already
        ! it was there already
    "#]]);
    // A file is a run, with a server or without.
    let elsewhere = Lab::offline();
    for file in ["s1.html", "s1.json"] {
        let file = lab.path(file);
        let file = file.to_str().unwrap();
        for verb in ["show", "history", "logs", "explain"] {
            let (there, here) = (lab.rival(&[verb, "s1"]), elsewhere.rival(&[verb, file]));
            let without_note = here.out.clone();
            assert_eq!((here.code, without_note), (0, there.out), "{verb} {file}: {}", here.err);
        }
    }
    assert!(!elsewhere.path("data").exists(), "looking at a file makes no store");
    let file = lab.path("s1.html");
    elsewhere.rival(&["import", file.to_str().unwrap()]).is(&expect![[r#"
        s1  failed
    "#]]);
    assert_eq!(elsewhere.rival(&["list", "--tag", "blue", "-o", "ids"]).ok(), "s1\n");
    let tagged = lab.rival(&["show", "s1"]).out.replace("tags  blue\n", "tags  blue, imported\n");
    assert_eq!(elsewhere.rival(&["show", "s1"]).out, tagged);
    elsewhere.rival(&["verify"]).is(&expect![[r#"
        checked 1 runs (1 failed): 13 events, 5 calls, 0 snapshots, 0 waiting messages
        everything holds
    "#]]);
    // Out again, it is the same but for the tag that says where it comes from.
    let (one, other) = (lab.raw(&["export", "s1"]), elsewhere.raw(&["export", "s1"]));
    let parse = |text: &str| {
        let mut json: serde_json::Value = serde_json::from_str(text).unwrap();
        json["exportedAt"].take();
        json["run"]["tags"].take();
        json
    };
    assert_eq!(parse(&one), parse(&other));
}

#[test]
fn the_page_is_whole_and_harmless() {
    let lab = Lab::online();
    lab.rival(&["run", "saga", "--id", "s1", "-i", BAD, "--wait"]);
    let page = lab.raw(&["export", "s1", "--format", "html"]);
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    // Only the data is a script element, and it is none that a browser executes.
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    assert_eq!(page.matches("</script>").count(), 1);
    for outside in ["http://", "https://", "src=", "href=", "@import", "url("] {
        let visible = page.split("<script").next().unwrap();
        assert!(!visible.contains(outside), "{outside}");
    }
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)"), "{page}");
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn what_is_no_run_is_refused() {
    let lab = Lab::online();
    lab.rival(&["run", "approval", "--id", "a1", "-i", r#"{"who": "Ann", "amount": 3}"#]).ok();
    lab.until("a1", "waits for the signal");
    // A run under way can be looked at, and not imported.
    lab.rival(&["export", "a1", "a1.html"]).ok();
    assert!(lab.rival(&["show", "a1.html"]).ok().contains("waiting"));
    lab.rival(&["import", "a1.html"]).is(&expect![[r#"
        ! error: a1.html: run `a1` was waiting when it was exported: only a run that has ended can be imported
        exit 1
    "#]]);
    lab.write("broken.json", "{}");
    lab.rival(&["import", "broken.json", "absent.json"]).is(&expect![[r#"
        ! error: broken.json: the archive cannot be read: it does not read: missing field `format` at line 1 column 2
        ! error: there is no file absent.json
        exit 1
    "#]]);
    lab.rival(&["export", "nope"]).is(&expect![[r#"
        ! error: run `nope` not found
        ! hint: an id may be cut after 6 characters or more, if no other begins so
        exit 4
    "#]]);
}

#[cfg(unix)]
#[test]
fn a_command_that_reads_a_pipe_can_be_ended() {
    let lab = Lab::offline();
    let pipe = lab.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // This test keeps the pipe open and writes nothing.
    let writer = std::fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    for args in [["import", "pipe"], ["run", "flaky"]] {
        let mut command = lab.command(&args);
        if args[0] == "run" {
            command.args(["--input", "@pipe"]);
        }
        let mut child = command.spawn().unwrap();
        while !has_open(&child, &pipe) && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        crate::lab::signal(&child, "TERM");
        let ended = child.wait().unwrap();
        // Before there is a handler, the signal itself ends it.
        assert!(matches!(ended.code(), Some(143) | None), "{args:?}: {ended:?}");
    }
    drop(writer);
}

/// Whether a process has opened a file, where the system tells.
#[cfg(unix)]
fn has_open(child: &std::process::Child, file: &std::path::Path) -> bool {
    let Ok(open) = std::fs::read_dir(format!("/proc/{}/fd", child.id())) else { return true };
    let file = file.canonicalize().unwrap();
    open.flatten().any(|handle| std::fs::read_link(handle.path()).is_ok_and(|it| it == file))
}
