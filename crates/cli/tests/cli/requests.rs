//! What steps may ask, and whom: the server itself, its machine, and what a request without a token may do.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::lab::Lab;

/// The guide's own pattern: an address out of the run's input.
const FLOW: &str = "
import { createWorkflow, httpStep } from 'rival'
async function reads({ input }) {
    return (await fetch(input.callback + '/api/runs')).status
}
export const callback = createWorkflow('callback').step(httpStep({
    url: ({ input }) => input.callback + '/api/runs/bulk', method: 'POST', body: { action: 'kill', filter: {} },
}))
export const fetching = createWorkflow('fetching').step(reads)
";

fn lab(verb: &str) -> (Lab, u16) {
    let mut lab = Lab::offline();
    lab.write("flows/callback.ts", FLOW);
    let url = lab.start(&[verb, "flows"]).url.clone();
    (lab, url.rsplit(':').next().unwrap().parse().unwrap())
}

/// The code of the error that a run with this callback ends with.
fn code(lab: &Lab, workflow: &str, callback: &str) -> String {
    let input = format!(r#"{{"callback": "{callback}"}}"#);
    let printed = lab.rival(&["run", workflow, "-i", &input, "--wait", "-o", "json"]);
    printed.json()["error"]["code"].as_str().unwrap_or("none").to_owned()
}

#[test]
fn a_step_cannot_ask_the_server_that_runs_it() {
    for verb in ["serve", "dev"] {
        let (lab, port) = lab(verb);
        for host in ["127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]", "2130706433", "0x7f.0.0.1"] {
            let callback = format!("http://{host}:{port}");
            for workflow in ["callback", "fetching"] {
                assert_eq!(code(&lab, workflow, &callback), "address_not_allowed", "{verb} {callback}");
            }
        }
    }
}

#[test]
fn a_server_asks_its_machine_only_if_it_may_and_one_for_development_always() {
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let callback = format!("http://{}", other.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in other.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    let (serve, _) = lab("serve");
    assert_eq!(code(&serve, "fetching", &callback), "address_not_allowed");
    let (dev, _) = lab("dev");
    assert_eq!(code(&dev, "fetching", &callback), "none");
    let mut allowed = Lab::offline();
    allowed.write("flows/callback.ts", FLOW);
    allowed.write("rival.toml", "outgoing_allow = [\"127.0.0.0/8\"]\n");
    let own = allowed.start(&["serve", "flows"]).url.clone();
    assert_eq!(code(&allowed, "fetching", &callback), "none");
    assert_eq!(code(&allowed, "fetching", &own), "address_not_allowed");
}

/// The status of a request without a token.
fn status(port: u16, method: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let head = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n");
    let length = body.len();
    write!(stream, "{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().to_owned()
}

#[test]
fn without_a_token_a_request_looks_and_runs_and_only_the_command_is_an_admin() {
    let mut lab = Lab::online();
    let port: u16 = lab.server().url.rsplit(':').next().unwrap().parse().unwrap();
    lab.rival(&["run", "approval", "--id", "a1", "-i", r#"{"who": "Ann", "amount": 30}"#]).ok();
    assert_eq!(status(port, "GET", "/api/runs/a1", ""), "200");
    assert_eq!(status(port, "POST", "/api/runs/a1/pause", "{}"), "202");
    assert_eq!(status(port, "POST", "/api/runs/a1/kill", "{}"), "403");
    assert_eq!(status(port, "POST", "/api/runs/bulk", r#"{"action":"kill","filter":{}}"#), "403");
    assert!(crate::lab::is_private(&lab.path("data/rival.db.secret")));
    // The command finds the secret beside the store; elsewhere it has none.
    let mut elsewhere = lab.command(&["kill", "a1", "--store", "elsewhere.db"]);
    elsewhere.stdin(std::process::Stdio::null());
    let refused = lab.execute(elsewhere);
    assert_eq!(refused.code, 3, "{}", refused.all());
    assert!(refused.err.contains("rival token create"), "{}", refused.err);
    assert!(lab.rival(&["kill", "a1"]).ok().contains("cancelled"));
}
