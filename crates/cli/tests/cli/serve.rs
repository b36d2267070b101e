//! Servers: how they start, and how they stop.

use std::io::{BufRead, BufReader};

use expect_test::expect;

use crate::lab::{Lab, rest, signal};

#[test]
fn dev_greets_and_tells_what_happens() {
    let lab = Lab::offline();
    let mut command = lab.command(&["dev", "--listen", "127.0.0.1:0", "--pace", "5"]);
    command.env_remove("RIVAL_LISTEN");
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut greeting = String::new();
    while !greeting.contains("The API is at") {
        assert!(out.read_line(&mut greeting).unwrap() > 0, "{greeting}");
    }
    let url = greeting.split_whitespace().find(|word| word.starts_with("http://")).unwrap().to_owned();
    let shown = greeting.replace(&url, "<url>").replace(env!("CARGO_BIN_EXE_rival"), "rival");
    expect![[r#"
        rival dev  <url>  store data/rival.db

        In a second terminal:
          # start a run and wait for its result
            rival run flaky --wait --url <url>
          # start one and leave it
            rival run order --input '{"customer":"Ada","items":["a kettle","two cups","Assam, 250 g"]}' --url <url>
          # see what runs
            rival watch --url <url>
          # see what else there is
            rival workflows --url <url>

        The API is at <url>/api/docs. Ctrl-C stops in order; `kill -9` loses nothing either.
    "#]].assert_eq(&shown);
    lab.rival(&["run", "saga", "-i", r#"{"to": "x", "budget": 1}"#, "--id", "s1", "--wait", "--url", &url]);
    signal(&child, "INT");
    let log = rest(child.stderr.take().unwrap());
    assert_eq!(child.wait().unwrap().code(), Some(0), "{log}");
    for line in [
        "  s1  run: started, workflow saga",
        "  s1  book_hotel: | giving back room H-2",
        "  s1  run: failed, 1 is not enough",
        "stopped; runs that have not ended go on",
    ] {
        assert!(log.contains(line), "`{line}` is missing:\n{log}");
    }
    assert!(lab.path("data/rival.db").exists());
}

#[test]
fn a_server_logs_runs_that_fail() {
    let mut lab = Lab::online();
    lab.rival(&["run", "saga", "-i", r#"{"to": "x", "budget": 1}"#, "--id", "s1", "--wait"]);
    signal(&lab.server().child, "TERM");
    lab.server().child.wait().unwrap();
    let log = lab.server().log.lock().unwrap().clone();
    assert!(log.contains("failed: 1 is not enough (crates/cli/src/examples/saga.rs:"), "{log}");
}

#[test]
fn a_server_logs_attempts_that_are_made_again() {
    let mut lab = Lab::online();
    lab.rival(&["run", "flaky", "--id", "f1", "--wait"]).ok();
    signal(&lab.server().child, "TERM");
    lab.server().child.wait().unwrap();
    let log = lab.server().log.lock().unwrap().clone();
    assert!(log.contains(r#""message":"an attempt failed, tried again in "#), "{log}");
    assert!(log.contains(r#""message":"an attempt failed, the run goes on without it: "#), "{log}");
}

/// What belongs to no step belongs to the run, and fields are shown beside the message that they came with.
#[test]
fn dev_names_what_it_logs() {
    let lab = Lab::offline();
    lab.write(
        "w.ts",
        "function tell({ log }) { log.error({ code: 7 }, 'given up') }
function fails({ log }) { log.info('no fields'); throw new Error('no') }
export const onError = tell
export const steps = [fails]
",
    );
    let mut command = lab.command(&["dev", "w.ts", "--listen", "127.0.0.1:0"]);
    command.env_remove("RIVAL_LISTEN");
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut greeting = String::new();
    while !greeting.contains("The API is at") {
        assert!(out.read_line(&mut greeting).unwrap() > 0, "{greeting}");
    }
    let url = greeting.split_whitespace().find(|word| word.starts_with("http://")).unwrap().to_owned();
    lab.rival(&["run", "w", "--id", "r1", "--wait", "--url", &url]);
    let logs = lab.rival(&["logs", "r1", "--url", &url]).ok();
    assert!(logs.contains("run: given up"), "{logs}");
    signal(&child, "INT");
    let log = rest(child.stderr.take().unwrap());
    child.wait().unwrap();
    for line in ["  r1  run: | given up  {\"code\":7}\n", "  r1  fails: | no fields\n"] {
        assert!(log.contains(line), "`{line}` is missing:\n{log}");
    }
}

/// A run that waits for a signal is named at once, or else no signal can be sent to it.
#[test]
fn a_run_that_is_waited_for_is_named_while_it_waits() {
    let lab = Lab::online();
    let expense = r#"{"who": "Ann", "amount": 3}"#;
    let mut child = lab.command(&["run", "approval", "-i", expense, "--wait"]).spawn().unwrap();
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("waits at `approval` for the signal `approval`") {
        assert!(err.read_line(&mut said).unwrap() > 0, "{said}");
    }
    let run = said.lines().find_map(|line| line.strip_prefix("run ")).unwrap();
    lab.rival(&["signal", run, "approval", r#"{"by": "Bo", "granted": true}"#]).ok();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_server_stops_in_order_and_goes_on_later() {
    let mut lab = Lab::online();
    lab.rival(&["run", "approval", "--id", "a1", "-i", r#"{"who": "Ann", "amount": 3}"#]).ok();
    lab.until("a1", "waits for the signal");
    // A client that waits is let go.
    let mut follower = lab.command(&["wait", "a1"]).spawn().unwrap();
    let server = lab.server();
    signal(&server.child, "TERM");
    let code = server.child.wait().unwrap().code();
    assert_eq!(code, Some(0), "{}", server.log.lock().unwrap());
    assert_eq!(follower.wait().unwrap().code(), Some(1));
    lab.kill_server();
    lab.serve(&[]);
    lab.rival(&["signal", "a1", "approval", r#"{"by": "Bo", "granted": true}"#]).ok();
    assert_eq!(lab.rival(&["wait", "a1"]).ok(), "\"Ann is paid 3, says Bo\"\n");
}

#[test]
fn a_server_that_is_about_to_stop_is_not_ready_and_works_on() {
    let mut lab = Lab::offline();
    lab.serve(&["--shutdown-delay", "1h"]);
    let address = lab.server().url.replace("http://", "");
    let status = |path: &str| {
        let line = wire::line(&mut wire::send(&address, "GET", path, ""));
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(status("/readyz"), "200");
    signal(&lab.server().child, "TERM");
    while status("/readyz") != "503" {
        std::thread::yield_now();
    }
    assert_eq!([status("/healthz"), status("/metrics")], ["200", "200"]);
    lab.rival(&["run", "flaky", "--wait"]).ok();
    // The second one does not wait.
    let server = lab.server();
    signal(&server.child, "TERM");
    assert_eq!(server.child.wait().unwrap().code(), Some(143));
}

#[test]
fn an_admin_s_token_can_be_given_by_a_variable() {
    let mut lab = Lab::offline();
    let token = "correct-horse-battery-staple";
    lab.set_server_env("RIVAL_ADMIN_TOKEN", token.into());
    lab.serve(&["--require-token"]);
    assert!(lab.rival(&["list"]).err.contains("this needs a token"));
    lab.show_token(token);
    lab.rival(&["run", "flaky", "--id", "f1", "--wait"]).ok();
    assert!(!lab.server().log.lock().unwrap().contains(token));
    let short = Lab::offline().rival(&["serve", "--admin-token", "short"]);
    assert!(short.err.contains("24 characters or more") && !short.err.contains("`short`"), "{}", short.err);
}

#[test]
fn a_request_under_way_gets_a_whole_answer_or_none_when_the_server_stops() {
    let mut lab = Lab::online();
    lab.rival(&["run", "approval", "--id", "a1", "-i", r#"{"who": "Ann", "amount": 3}"#]).ok();
    let address = lab.server().url.replace("http://", "");
    let waiting = wire::send(&address, "GET", "/api/runs/a1/wait?timeout=1h", "");
    let mut stream = wire::send(&address, "GET", "/api/runs/a1/stream", "");
    assert!(wire::line(&mut stream).contains("200"), "a stream begins");
    let (busy, is_busy) = std::sync::mpsc::channel();
    let clients: Vec<_> = (0..8)
        .map(|client| {
            let (address, busy) = (address.clone(), busy.clone());
            std::thread::spawn(move || wire::ask_until_nobody_answers(&address, client, &busy))
        })
        .collect();
    for _ in 0..8 {
        is_busy.recv().unwrap();
    }
    let server = lab.server();
    signal(&server.child, "TERM");
    assert_eq!(server.child.wait().unwrap().code(), Some(0), "{}", server.log.lock().unwrap());
    for client in clients {
        client.join().unwrap();
    }
    let told = wire::whole(waiting).expect("whoever waits is told that the server stops");
    assert!(told.starts_with("HTTP/1.1 503") && told.contains("shutting_down"), "{told}");
    let frames = rest(stream);
    assert!(frames.ends_with("\r\n0\r\n\r\n"), "the stream was cut short: {frames}");
}

#[test]
fn a_server_whose_store_is_removed_ends_and_begins_no_empty_one() {
    let mut lab = Lab::online();
    lab.rival(&["run", "flaky", "--id", "f1", "--wait"]).ok();
    let file = lab.path("data/rival.db");
    let kept = lab.path("data/kept.db");
    std::fs::hard_link(&file, &kept).unwrap();
    std::fs::remove_file(&file).unwrap();
    // Nothing is asked of it: it notices by itself.
    let server = lab.server();
    assert_eq!(server.child.wait().unwrap().code(), Some(1), "{}", server.log.lock().unwrap());
    lab.kill_server();
    let printed = lab.rival(&["run", "flaky"]);
    assert_eq!(printed.code, 1);
    assert!(
        printed.err.contains("rival.db-wal") && printed.err.contains("bring the database file back"),
        "{}",
        printed.err
    );
    std::fs::rename(&kept, &file).unwrap();
    assert!(lab.rival(&["list"]).ok().contains("f1"), "nothing was lost");
}

/// HTTP as it is on the wire: a client of a library would not say what came of half an answer.
mod wire {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpStream;
    use std::sync::mpsc::Sender;

    pub(super) fn send(address: &str, method: &str, path: &str, body: &str) -> BufReader<TcpStream> {
        let stream = BufReader::new(TcpStream::connect(address).unwrap());
        write(&stream, method, path, body).unwrap();
        stream
    }

    fn write(stream: &BufReader<TcpStream>, method: &str, path: &str, body: &str) -> std::io::Result<()> {
        let (kind, length) = ("Content-Type: application/json", body.len());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\n{kind}\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.get_ref().write_all((head + body).as_bytes())
    }

    pub(super) fn line(stream: &mut BufReader<TcpStream>) -> String {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        line
    }

    /// Asks over one connection as long as there are answers. Says when it has got some.
    pub(super) fn ask_until_nobody_answers(address: &str, client: u32, busy: &Sender<()>) {
        let mut stream = BufReader::new(TcpStream::connect(address).unwrap());
        for number in 0.. {
            let asked = match (client + number) % 2 {
                0 => write(&stream, "GET", "/api/workflows/onboarding", ""),
                _ => write(&stream, "POST", "/api/workflows/flaky/runs?wait=20ms", "{}"),
            };
            if asked.is_err() || whole(&mut stream).is_none() {
                assert!(number > 10, "nobody answers");
                return;
            }
            if number == 10 {
                busy.send(()).unwrap();
            }
        }
    }

    /// Reads an answer. `None` if the connection is closed instead; half of one is a failure.
    pub(super) fn whole(mut stream: impl BufRead) -> Option<String> {
        let mut head = String::new();
        loop {
            match stream.read_line(&mut head) {
                Ok(0) | Err(_) => {
                    assert!(head.is_empty(), "half an answer: {head}");
                    return None;
                }
                Ok(_) if head.ends_with("\r\n\r\n") => break,
                Ok(_) => {}
            }
        }
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
        let mut body = vec![0; length.parse().unwrap()];
        stream.read_exact(&mut body).expect("a whole body");
        Some(head + &String::from_utf8(body).unwrap())
    }
}

#[test]
fn a_step_at_work_may_finish_and_a_second_signal_does_not_wait_for_it() {
    for (second, code) in [(None, 0), (Some("INT"), 130), (Some("TERM"), 143)] {
        let mut lab = Lab::offline();
        // The order's first step takes a while at this pace.
        lab.serve(&["--pace", "60"]);
        let order = r#"{"customer": "Ada", "items": ["tea"]}"#;
        lab.rival(&["run", "order", "--id", "o1", "-i", order]).ok();
        lab.until("o1", "check_stock: started");
        let server = lab.server();
        signal(&server.child, "TERM");
        if let Some(second) = second {
            // The first has been heard before the second is sent.
            while !server.log.lock().unwrap().contains("stopping: steps at work may finish") {
                std::thread::yield_now();
            }
            signal(&server.child, second);
        }
        assert_eq!(server.child.wait().unwrap().code(), Some(code), "{}", server.log.lock().unwrap());
        lab.kill_server();
        let history = lab.rival(&["history", "o1"]).ok();
        let finished = history.contains("check_stock  completed");
        assert_eq!(finished, second.is_none(), "{history}");
    }
}

#[test]
fn a_second_server_is_told_who_is_in_its_way() {
    let mut lab = Lab::online();
    let address = lab.server().url.replace("http://", "");
    let printed = lab.rival(&["serve", "--listen", &address]);
    assert_eq!(printed.code, 1);
    assert!(printed.err.contains("choose another address with --listen"), "{}", printed.err);
    let printed = lab.rival(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(printed.code, 1);
    assert!(printed.err.contains("one server per store"), "{}", printed.err);
}

#[test]
fn a_server_in_production_logs_json() {
    let mut lab = Lab::online();
    lab.rival(&["run", "flaky", "--wait"]).ok();
    let log = lab.server().log.lock().unwrap().clone();
    let lines = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    assert!(
        lines.into_iter().any(|line| line["message"] == "attempt 3" && line["node"] == "call_service"),
        "{log}"
    );
}
