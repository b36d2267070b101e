//! What calls and transforms cost. `cargo test --release -p rival-host --test speed -- --ignored --nocapture`

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use std::collections::BTreeMap;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rival_host::frame::{FromHost, ModuleSource, Role, ToHost};
use rival_host::wire::{self, Splitter};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

struct Host {
    child: Child,
    data: UnixStream,
    splitter: Splitter,
    _control: UnixStream,
}

impl Host {
    fn start() -> Self {
        let (data, theirs) = UnixStream::pair().unwrap();
        let (control, their_control) = UnixStream::pair().unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_rival-test-host"))
            .env(rival_host::VARIABLE, "1")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(OwnedFd::from(their_control)))
            .spawn()
            .unwrap();
        let mut host = Self { child, data, splitter: Splitter::default(), _control: control };
        host.tell(&[ToHost::Setup { memory_limit: 256 << 20, env: BTreeMap::new() }]);
        assert!(matches!(host.hear(), FromHost::Ready {}));
        host
    }

    fn tell(&mut self, frames: &[ToHost]) {
        let mut bytes = Vec::new();
        for frame in frames {
            wire::put(&mut bytes, frame).unwrap();
        }
        self.data.write_all(&bytes).unwrap();
    }

    fn hear(&mut self) -> FromHost {
        loop {
            if let Some(frame) = self.splitter.next_frame() {
                return serde_json::from_slice(&frame).unwrap();
            }
            assert!(self.splitter.fill(&mut self.data).unwrap() > 0, "the host ended");
        }
    }

    fn done(&mut self) {
        let end = self.hear();
        assert!(matches!(end, FromHost::Done { .. }), "{end:?}");
    }

    /// CPU time of the host and of this thread.
    fn cpu(&self) -> [Duration; 2] {
        [self.child.id().to_string(), "thread-self".to_owned()].map(|who| {
            let stat = std::fs::read_to_string(format!("/proc/{who}/schedstat")).unwrap();
            Duration::from_nanos(stat.split(' ').next().unwrap().parse().unwrap())
        })
    }

    /// Runs something `rounds` times, a few for nothing first, and prints what each of `per` costs.
    fn measure(&mut self, what: &str, rounds: usize, per: usize, mut round: impl FnMut(&mut Self)) {
        (0..rounds / 10).for_each(|_| round(self));
        let mut times = Vec::with_capacity(rounds);
        let before = self.cpu();
        for _ in 0..rounds {
            let start = Instant::now();
            round(self);
            times.push(start.elapsed());
        }
        let after = self.cpu();
        times.sort();
        let us = |duration: Duration, by: usize| {
            duration.as_secs_f64() * 1e6 / f64::from(u32::try_from(by).unwrap())
        };
        println!(
            "{what}: p50 {:.1} us, p99 {:.1} us; CPU of the host {:.1} us, of the parent {:.1} us",
            us(times[rounds / 2], per),
            us(times[rounds * 99 / 100], per),
            us(after[0] - before[0], rounds * per),
            us(after[1] - before[1], rounds * per),
        );
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn call(id: u64) -> ToHost {
    let run = json!({"runId": "r", "workflow": "flow", "node": "noop", "attempt": 1, "call": 1, "idempotencyKey": "k"});
    let cx = json!({"input": {"n": 1}, "steps": {}, "last": null, "run": run, "loop": null, "failure": null, "undo": null});
    ToHost::Call {
        id,
        realm: 1,
        file: "/flow.js".to_owned(),
        workflow: "flow".to_owned(),
        function: "noop".to_owned(),
        role: Role::Step,
        cx: to_raw_value(&cx).unwrap(),
    }
}

#[test]
#[ignore = "a benchmark"]
fn calls() {
    let mut host = Host::start();
    let code =
        "export const name = 'flow'; export function noop() {}; export const steps = [noop]".to_owned();
    let module =
        ModuleSource { name: "/flow.js".to_owned(), code, links: BTreeMap::new(), step_names: Vec::new() };
    host.tell(&[ToHost::Realm { realm: 1, modules: vec![module] }]);
    host.measure("a call, one at a time", 20_000, 1, |host| {
        host.tell(&[call(1)]);
        host.done();
    });
    host.measure("a call, 64 at a time", 1000, 64, |host| {
        host.tell(&(1..=64).map(call).collect::<Vec<_>>());
        (0..64).for_each(|_| host.done());
    });
}

#[test]
#[ignore = "a benchmark"]
fn transforms() {
    let mut host = Host::start();
    let rows: Vec<_> = (0..10)
        .map(|n| json!({"id": n, "name": format!("person {n}"), "email": format!("p{n}@example.com"), "age": 20 + n, "tags": ["a", "b"]}))
        .collect();
    let input = to_raw_value(&json!({ "rows": rows })).unwrap();
    let code = "export default function (input) {
        return { people: input.rows.filter((row) => row.age > 21).map((row) => ({ ...row, label: `${row.name} <${row.email}>` })) }
    }";
    println!("{} bytes of input", input.get().len());
    let transform = |input: &RawValue| ToHost::Transform {
        id: 1,
        code: code.to_owned(),
        input: input.to_owned(),
        limit_ms: 1000,
        memory_limit: 64 << 20,
    };
    host.measure("a transform", 5000, 1, |host| {
        host.tell(&[transform(&input)]);
        host.done();
    });
}
