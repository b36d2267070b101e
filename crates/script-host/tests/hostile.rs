//! Transforms that mean harm. Whatever they do, each ends within its limit: by itself, or with the process that it is in,
//! which the parent kills a little later.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that measures")]

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rival_script_host::frame::{FromHost, ToHost};
use rival_script_host::wire::{self, FrameSplitter};
use serde_json::value::RawValue;

const LIMIT: Duration = Duration::from_millis(100);
/// When the parent kills: this much after the limit.
const GRACE: Duration = Duration::from_millis(50);
/// What is promised is `LIMIT` and 100 ms. A machine that is busy with other things may be late, so only an end that is
/// off by an order of magnitude fails; the figures are printed.
const PROMISED: Duration = Duration::from_millis(100);
const TOLERATED: Duration = Duration::from_secs(10);
const MEMORY: usize = 32 * 1024 * 1024;

/// Bodies of `export default (input) => { … }`.
const BODIES: &[(&str, &str)] = &[
    // Loops.
    ("for", "for (;;) {}"),
    ("while with catch", "for (;;) { try { for (;;) {} } catch {} }"),
    ("finally", "try { for (;;) {} } finally { for (;;) {} }"),
    ("generator", "function* all() { for (;;) yield 1 } for (const one of all()) {}"),
    (
        "iterator that is never done",
        "for (const one of { [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) }) {}",
    ),
    ("spread of one", "return [...{ [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) }]"),
    ("destructuring of one", "const [...all] = { *[Symbol.iterator]() { for (;;) yield 1 } }"),
    ("labels", "outer: for (;;) { for (;;) { continue outer } }"),
    ("recursion that is caught", "const f = () => { try { f() } catch { f() } }; f()"),
    ("mutual recursion", "const a = () => { try { return b() } finally { b() } }, b = () => a(); a()"),
    // Callbacks of native functions.
    ("sort callback", "[2, 1].sort(() => { for (;;) {} })"),
    (
        "sort of many",
        "new Array(1e6).fill(0).map((_, i) => -i).sort((a, b) => { let x = 0; for (let i = 0; i < 1e4; i++) x += i; return a - b })",
    ),
    ("map callback", "[1].map(() => { for (;;) {} })"),
    (
        "reduce over a long array",
        "new Array(1e6).fill(1).reduce((a) => { for (let i = 0; i < 1e3; i++) a += i; return a })",
    ),
    (
        "replace callback",
        "'a'.repeat(1e6).replace(/a/g, () => { for (let i = 0; i < 1e4; i++) {} return 'b' })",
    ),
    ("getter", "const o = { get a() { for (;;) {} } }; return o.a"),
    ("setter", "const o = { set a(v) { for (;;) {} } }; o.a = 1"),
    ("valueOf", "return 1 + { valueOf() { for (;;) {} } }"),
    ("toString as a key", "return { [{ toString() { for (;;) {} } }]: 1 }"),
    ("toPrimitive", "return `${{ [Symbol.toPrimitive]() { for (;;) {} } }}`"),
    ("proxy get", "return new Proxy({}, { get() { for (;;) {} } }).a"),
    ("proxy has", "return 'a' in new Proxy({}, { has() { for (;;) {} } })"),
    ("hasInstance", "return 1 instanceof { [Symbol.hasInstance]() { for (;;) {} } }"),
    ("Array.from of an endless thing", "return Array.from({ length: 2 ** 32 }, () => 1)"),
    ("JSON reviver", "JSON.parse('[1]', () => { for (;;) {} })"),
    ("JSON replacer", "JSON.stringify([1], () => { for (;;) {} })"),
    ("class static block", "class A { static { for (;;) {} } }"),
    // Output that runs code, or has no end.
    ("toJSON", "return { toJSON() { for (;;) {} } }"),
    ("getter in the output", "return { get a() { for (;;) {} } }"),
    ("then getter in the output", "return { get then() { for (;;) {} } }"),
    ("proxy as output", "return new Proxy({}, { ownKeys() { for (;;) {} } })"),
    ("prototype trap in the output", "return new Proxy({}, { getPrototypeOf() { for (;;) {} } })"),
    ("toJSON for ever", "const o = { toJSON() { return { o } } }; return o"),
    ("sparse array as output", "const a = []; a.length = 2 ** 32 - 1; return a"),
    (
        "output that is much longer than its value",
        "let a = ['x'.repeat(1000)]; for (let i = 0; i < 40; i++) a = [a, a]; return a",
    ),
    ("long strings many times", "const s = 'x'.repeat(1e6); return new Array(1e5).fill(s)"),
    // Regular expressions.
    ("backtracking", "return /^(a+)+$/.test('a'.repeat(40) + 'b')"),
    ("nested quantifiers", "return /^((a|aa)+)+$/.test('a'.repeat(60) + 'b')"),
    ("backreferences", "return /^(a+)\\1*\\1*\\1*\\1*\\1*b$/.test('a'.repeat(3000))"),
    ("lookbehind", "return /(?<=(a+)+)b/.test('a'.repeat(200_000))"),
    ("split by an expensive expression", "return 'a'.repeat(5e4).split(/(a+)+b/)"),
    ("many expressions", "for (let i = 0;; i++) new RegExp('(a|b|c)*'.repeat(500) + i).test('x')"),
    // Native code that is never interrupted.
    ("join of a sparse array", "const a = []; a.length = 2 ** 32 - 1; return a.join().length"),
    ("text of a sparse array", "const a = []; a.length = 2 ** 32 - 1; return String(a).length"),
    ("reverse of a sparse array", "const a = []; a.length = 2 ** 32 - 1; a.reverse()"),
    ("sort of a sparse array", "const a = []; a.length = 2 ** 32 - 1; a.sort()"),
    ("slice of a sparse array", "const a = []; a.length = 2 ** 32 - 1; a.slice()"),
    ("shift of a sparse array", "const a = []; a.length = 2 ** 32 - 1; a.shift()"),
    ("unshift of a sparse array", "const a = []; a.length = 2 ** 32 - 2; a.unshift(1)"),
    ("splice of a sparse array", "const a = []; a.length = 2 ** 32 - 1; a.splice(0, 2 ** 31)"),
    ("flat of a sparse array", "const a = []; a.length = 2 ** 32 - 1; a.flat()"),
    ("concat of sparse arrays", "const a = []; a.length = 2 ** 32 - 2; [].concat(a)"),
    ("copyWithin of a sparse array", "const a = []; a.length = 2 ** 32 - 1; a.copyWithin(0, 1)"),
    ("indexOf in a sparse array", "const a = []; a.length = 2 ** 32 - 1; return a.indexOf(1)"),
    ("includes in a sparse array", "const a = []; a.length = 2 ** 32 - 1; return a.includes(1)"),
    ("fill of a sparse array", "const a = []; a.length = 2 ** 32 - 1; a.fill(0)"),
    ("toReversed of a sparse array", "const a = []; a.length = 2 ** 32 - 1; a.toReversed()"),
    ("JSON of a sparse array", "const a = []; a.length = 2 ** 32 - 1; return JSON.stringify(a).length"),
    ("join of something long", "return Array.prototype.join.call({ length: 2 ** 53 - 1 })"),
    ("reverse of something long", "Array.prototype.reverse.call({ length: 2 ** 53 - 1 })"),
    ("indexOf in something long", "return Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)"),
    ("quadratic search", "return ('a'.repeat(1e6) + 'b').indexOf('a'.repeat(5e5) + 'c')"),
    ("quadratic searches", "const s = 'a'.repeat(1e6); for (;;) s.includes('a'.repeat(4e5) + 'b')"),
    (
        "replaceAll in a long text",
        "return 'a'.repeat(1e6).replaceAll('', 'b').replaceAll('b', 'a').replaceAll('aa', 'b').length",
    ),
    ("text of a large number", "return (2n ** 2_000_000n).toString().length"),
    ("power of large numbers", "return String(3n ** 3_000_000n % 7n)"),
    ("product of large numbers", "let n = 3n; for (;;) n *= n"),
    ("number from a long text", "return BigInt('9'.repeat(1e6)) > 0n"),
    ("fills without an end", "const bytes = new Uint8Array(8e6); for (;;) bytes.fill(1)"),
    (
        "sorts without an end",
        "const bytes = new Float64Array(1e6).map((_, i) => -i); for (;;) bytes.toSorted()",
    ),
    ("normalizations", "const s = '\\u0344'.repeat(1e6); for (;;) s.normalize('NFD')"),
    ("case of long texts", "const s = 'ß'.repeat(3e6); for (;;) s.toUpperCase()"),
    ("localeCompare", "const s = 'a'.repeat(3e6), t = s + 'b'; for (;;) s.localeCompare(t)"),
    ("escapes", "const s = 'é'.repeat(2e6); for (;;) encodeURIComponent(s)"),
    // Memory.
    ("objects", "const all = []; for (;;) all.push({ a: 1 })"),
    ("list", "let list = null; for (;;) list = { list }"),
    (
        "caught memory",
        "for (;;) { try { const all = []; for (;;) all.push(new Array(1000).fill(all)) } catch {} }",
    ),
    ("strings", "let all = []; for (let i = 0;; i++) all.push(String(i).repeat(1000))"),
    ("doubling", "let s = 'x'; for (;;) s = s + s + s.length"),
    ("padding", "return 'x'.padEnd(2 ** 29, 'abc').length"),
    ("buffers", "const all = []; for (;;) all.push(new ArrayBuffer(1e6))"),
    ("one buffer", "return new ArrayBuffer(2 ** 40).byteLength"),
    (
        "resizable buffer",
        "const b = new ArrayBuffer(1, { maxByteLength: 2 ** 33 }); for (let n = 1;; n *= 2) b.resize(n)",
    ),
    ("map", "const map = new Map(); for (let i = 0;; i++) map.set(i, { i })"),
    ("closures", "let f = () => 1; for (;;) { const g = f; f = () => g }"),
    ("symbols", "const all = []; for (let i = 0;; i++) all.push(Symbol(String(i)))"),
    ("property names", "const o = {}; for (let i = 0;; i++) o['k' + i] = i"),
    ("promises", "const all = []; for (;;) all.push(Promise.resolve({}).then(() => {}))"),
    ("async functions", "const all = []; for (;;) all.push((async () => { await null })())"),
    ("arguments", "Math.max(...new Array(1e7).fill(1))"),
    ("apply", "return String.fromCharCode.apply(null, { length: 2 ** 31 })"),
    ("flat of what contains itself", "const a = []; a.push(a, a); return a.flat(Infinity)"),
    // Stacks.
    ("recursion", "const f = () => f(); f()"),
    ("getter that gets itself", "const o = { get a() { return o.a } }; return o.a"),
    ("chain of proxies", "let p = {}; for (let i = 0; i < 1e6; i++) p = new Proxy(p, {}); return p.a"),
    (
        "chain of bound functions",
        "let f = () => 1; for (let i = 0; i < 1e6; i++) f = f.bind(null); return f()",
    ),
    (
        "chain of prototypes",
        "let o = {}; for (let i = 0; i < 1e6; i++) o = Object.create(o); return o.missing",
    ),
    ("deep JSON", "return JSON.parse('['.repeat(1e6))"),
    ("deep output of JSON", "let a = []; for (let i = 0; i < 1e6; i++) a = [a]; return JSON.stringify(a)"),
    ("deep expression", "return new RegExp('('.repeat(1e6))"),
    ("deep text", "let s = ''; for (let i = 0; i < 3e6; i++) s = s + 'a' + i; return s.length"),
    ("toString of what contains itself", "const a = []; a[0] = [a]; return `${a}`"),
    (
        "deep structure that is let go",
        "let o = null; for (let i = 0; i < 3e5; i++) o = { o }; o = null; return 1",
    ),
    (
        "cause of a cause",
        "let e = new Error('x'); for (let i = 0; i < 1e5; i++) e = new Error('x', { cause: e }); throw e",
    ),
    // Errors that run code.
    (
        "message that runs code",
        "const e = new Error('x'); Object.defineProperty(e, 'message', { get() { for (;;) {} } }); throw e",
    ),
    (
        "stack that runs code",
        "const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { for (;;) {} } }); throw e",
    ),
    ("prepareStackTrace", "Error.prepareStackTrace = () => { for (;;) {} }; throw new Error('x')"),
    ("thrown proxy", "throw new Proxy({}, { get() { for (;;) {} }, ownKeys() { for (;;) {} } })"),
    ("thrown sparse array", "const a = []; a.length = 2 ** 32 - 1; throw a"),
    // The world that it runs in.
    ("prototypes", "Object.prototype.toJSON = () => { for (;;) {} }; return {}"),
    ("Array.prototype", "Object.defineProperty(Array.prototype, '0', { get() { for (;;) {} } }); return [,]"),
    (
        "Object.prototype.then",
        "Object.defineProperty(Object.prototype, 'then', { get() { for (;;) {} } }); return {}",
    ),
];

/// Whole modules.
fn modules() -> Vec<(&'static str, String)> {
    let export = "export default () => 1";
    vec![
        ("top level", format!("for (;;) {{}} {export}")),
        ("top-level await", format!("await new Promise(() => {{}}); {export}")),
        ("deep parentheses", format!("const a = {}1{}; {export}", "(".repeat(200_000), ")".repeat(200_000))),
        ("deep arrays", format!("const a = {}{}; {export}", "[".repeat(200_000), "]".repeat(200_000))),
        ("deep functions", format!("const a = {}1; {export}", "() => ".repeat(100_000))),
        ("deep blocks", format!("{}{} {export}", "{".repeat(200_000), "}".repeat(200_000))),
        ("long sum", format!("const a = {}1; {export}", "1 + ".repeat(500_000))),
        ("long chain", format!("const o = {{}}; o{}; {export}", "?.a".repeat(500_000))),
        (
            "many variables",
            format!("{} {export}", (0..60_000).map(|n| format!("let v{n} = {n};")).collect::<String>()),
        ),
        (
            "many strings",
            format!("const a = [{}]; {export}", (0..200_000).map(|n| format!("'s{n}',")).collect::<String>()),
        ),
        ("long template", format!("const a = `{}`; {export}", "${1}".repeat(200_000))),
        ("import of itself", format!("import * as me from 'transform'; {export}")),
        (
            "many labels",
            format!("{} {export}", (0..20_000).map(|n| format!("l{n}:")).collect::<String>() + "{}"),
        ),
    ]
}

/// A host process.
struct Host {
    child: Child,
    data: UnixStream,
    splitter: FrameSplitter,
    /// Closed with the host.
    _control: UnixStream,
}

/// What became of a transform.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Done,
    Failed(String),
    Killed,
    /// The process ended by itself.
    Gone,
}

impl Host {
    fn start() -> Self {
        let (data, theirs) = UnixStream::pair().unwrap();
        let (control, their_control) = UnixStream::pair().unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_rival-test-host"))
            .env(rival_script_host::VARIABLE, "1")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(OwnedFd::from(their_control)))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut host = Self { child, data, splitter: FrameSplitter::default(), _control: control };
        host.tell(&ToHost::Setup {
            memory_limit: MEMORY,
            env: BTreeMap::new(),
            outgoing: Default::default(),
            virtual_time: None,
        });
        let Heard::Frame(ready) = host.hear(Instant::now() + Duration::from_secs(60)) else { panic!() };
        assert!(matches!(*ready, FromHost::Ready { .. }));
        // What is measured is the transform, not the first page of the program.
        assert_eq!(host.run_harmless("export default () => 1"), End::Done);
        host
    }

    fn tell(&mut self, frame: &ToHost) {
        let mut bytes = Vec::new();
        wire::put(&mut bytes, frame).unwrap();
        self.data.write_all(&bytes).unwrap();
    }

    fn hear(&mut self, until: Instant) -> Heard {
        loop {
            if let Some(frame) = self.splitter.next_frame() {
                return Heard::Frame(serde_json::from_slice(frame).unwrap());
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Heard::Nothing;
            }
            self.data.set_read_timeout(Some(left)).unwrap();
            match self.splitter.fill(|room| self.data.read(room)) {
                Ok(0) => return Heard::End,
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Heard::End,
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
                Ok(_) => {}
            }
        }
    }

    /// Runs something harmless, however long the machine takes.
    fn run_harmless(&mut self, code: &str) -> End {
        self.run(code, Duration::from_secs(60), Duration::from_secs(60))
    }

    fn run(&mut self, code: &str, limit: Duration, patience: Duration) -> End {
        let until = Instant::now() + patience;
        self.tell(&ToHost::Transform {
            id: 1,
            code: code.to_owned(),
            input: RawValue::from_string("null".to_owned()).unwrap(),
            limit_ms: u64::try_from(limit.as_millis()).unwrap(),
            memory_limit: MEMORY,
        });
        match self.hear(until) {
            Heard::Frame(frame) => match *frame {
                FromHost::Done { .. } => End::Done,
                FromHost::Failed { error, .. } => End::Failed(error.code.unwrap_or(error.name)),
                other => panic!("{other:?}"),
            },
            Heard::Nothing => {
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                End::Killed
            }
            Heard::End => {
                self.child.wait().unwrap();
                End::Gone
            }
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

enum Heard {
    Frame(Box<FromHost>),
    Nothing,
    End,
}

#[test]
fn hostile_transforms_end() {
    let scripts: Vec<(&str, String)> = BODIES
        .iter()
        .map(|(name, body)| (*name, format!("export default (input) => {{ {body} }}")))
        .chain(modules())
        .collect();
    assert!(scripts.len() >= 60);
    let mut host = Host::start();
    let mut late = Vec::new();
    for (name, code) in &scripts {
        let start = Instant::now();
        let end = host.run(code, LIMIT, LIMIT + GRACE);
        let took = start.elapsed();
        println!("{:>5} ms  {end:?}: {name}", took.as_millis());
        if took > LIMIT + PROMISED {
            late.push(*name);
        }
        assert!(took < LIMIT + TOLERATED, "{name}: {took:?}");
        if matches!(end, End::Killed | End::Gone) {
            host = Host::start();
        }
        // Those that come after it find everything as it was.
        assert_eq!(host.run_harmless("export default () => [[], {}].length"), End::Done, "{name}");
    }
    println!("{} scripts, {} later than promised: {late:?}", scripts.len(), late.len());
}
