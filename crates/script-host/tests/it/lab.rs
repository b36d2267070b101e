//! The engine's end of a host's sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use rival_core::event::CallRole;
use rival_script_host::OutgoingPolicy;
use rival_script_host::frame::{ControlFrame, ControlReply, FromHost, ModuleSource, ScriptError, ToHost};
use rival_script_host::wire::{self, FrameSplitter};
use serde_json::value::RawValue;
use serde_json::{Value, json};

pub const MEMORY: usize = 64 * 1024 * 1024;
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_rival-test-host");
/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where a host runs.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    Thread,
    Process,
}

pub const PLACES: [Place; 2] = [Place::Thread, Place::Process];

enum Runner {
    Thread(Option<JoinHandle<()>>),
    Process(Child),
    /// Not a child of this process.
    Elsewhere,
}

/// A host and the sockets to it.
pub struct Lab {
    data: UnixStream,
    splitter: FrameSplitter,
    control: BufReader<UnixStream>,
    runner: Runner,
    next: u64,
}

/// How a call ended.
#[derive(Debug)]
pub struct End {
    pub outcome: Result<Value, ScriptError>,
    pub state: Option<Value>,
}

impl Lab {
    pub fn new(place: Place) -> Self {
        Self::with_memory(place, MEMORY)
    }

    pub fn with_memory(place: Place, memory_limit: usize) -> Self {
        Self::with(place, memory_limit, &[])
    }

    /// A host whose scripts see these variables, too.
    pub fn with_env(place: Place, env: &[(&str, &str)]) -> Self {
        Self::with(place, MEMORY, env)
    }

    fn with(place: Place, memory_limit: usize, env: &[(&str, &str)]) -> Self {
        let (data, theirs) = UnixStream::pair().unwrap();
        let (control, their_control) = UnixStream::pair().unwrap();
        let runner = match place {
            Place::Thread => Runner::Thread(Some(std::thread::spawn(move || {
                rival_script_host::serve(theirs, their_control).unwrap();
            }))),
            Place::Process => Runner::Process(spawn(&mut Command::new(PROGRAM), theirs, their_control)),
        };
        Self::over(data, control, runner, memory_limit, env)
    }

    /// A host whose parent is the shell.
    pub fn orphan() -> (Self, Child) {
        let (data, theirs) = UnixStream::pair().unwrap();
        let (control, their_control) = UnixStream::pair().unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec 3<&0; \"$0\" <&3 & wait", PROGRAM]);
        let shell = spawn(&mut shell, theirs, their_control);
        (Self::over(data, control, Runner::Elsewhere, MEMORY, &[]), shell)
    }

    fn over(
        data: UnixStream,
        control: UnixStream,
        runner: Runner,
        memory_limit: usize,
        env: &[(&str, &str)],
    ) -> Self {
        data.set_read_timeout(Some(PATIENCE)).unwrap();
        control.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut lab = Self {
            data,
            splitter: FrameSplitter::default(),
            control: BufReader::new(control),
            runner,
            next: 1,
        };
        let env = [("GREETING", "hello")].iter().chain(env);
        let env = env.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        lab.tell(&ToHost::Setup {
            memory_limit,
            env,
            outgoing: OutgoingPolicy::public().allow_loopback(),
            virtual_time: None,
        });
        assert!(matches!(lab.hear(), FromHost::Ready { .. }));
        lab
    }

    /// A host that has a realm with one file, `/flow.js`.
    pub fn of(place: Place, code: &str) -> Self {
        let mut lab = Self::new(place);
        lab.realm(1, code);
        lab
    }

    /// Says what `/flow.js` is in a realm.
    pub fn realm(&mut self, realm: u32, code: &str) {
        self.tell(&ToHost::Realm { realm, modules: vec![module("/flow.js", code, &[])] });
    }

    pub fn tell(&mut self, frame: &ToHost) {
        let mut bytes = Vec::new();
        wire::put(&mut bytes, frame).unwrap();
        self.data.write_all(&bytes).unwrap();
    }

    /// Stack traces that a script reads are answered as they are: here, the code is that of the files.
    pub fn hear(&mut self) -> FromHost {
        loop {
            match self.hear_any() {
                FromHost::Op { id, op, kind, args } if kind == "stack" => {
                    self.answer(id, op, value_of(&args)["stack"].clone());
                }
                other => return other,
            }
        }
    }

    fn hear_any(&mut self) -> FromHost {
        self.try_hear().expect("the host ended")
    }

    /// The next frame, or none if the host ended.
    pub fn try_hear(&mut self) -> Option<FromHost> {
        loop {
            if let Some(frame) = self.splitter.next_frame() {
                let text = str::from_utf8(frame).unwrap();
                return Some(serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}")));
            }
            match self.splitter.fill(|room| self.data.read(room)) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("{error}"),
            }
        }
    }

    pub fn ask(&mut self, asked: &ControlFrame) -> ControlReply {
        let mut line = serde_json::to_vec(asked).unwrap();
        line.push(b'\n');
        self.control.get_mut().write_all(&line).unwrap();
        let mut reply = String::new();
        self.control.read_line(&mut reply).unwrap();
        serde_json::from_str(&reply).unwrap()
    }

    /// Begins a call of a function in `/flow.js` and gives its number.
    pub fn begin(&mut self, function: &str, input: Value) -> u64 {
        self.begin_in(1, function, input)
    }

    pub fn begin_in(&mut self, realm: u32, function: &str, input: Value) -> u64 {
        self.begin_at(realm, "/flow.js", "flow", function, input)
    }

    /// Begins a call of a function of any file.
    pub fn begin_at(&mut self, realm: u32, file: &str, workflow: &str, function: &str, input: Value) -> u64 {
        let run = json!({"runId": "r", "workflow": "flow", "node": function, "attempt": 1, "call": 1, "idempotencyKey": "k"});
        let cx = json!({"input": input, "steps": {}, "last": null, "run": run, "loop": null, "failure": null, "undo": null});
        self.begin_with(realm, file, workflow, function, CallRole::Step, &cx)
    }

    /// Begins any call.
    pub fn begin_with(
        &mut self,
        realm: u32,
        file: &str,
        workflow: &str,
        function: &str,
        role: CallRole,
        cx: &Value,
    ) -> u64 {
        let id = self.number();
        self.tell(&ToHost::Call {
            id,
            realm,
            file: file.to_owned(),
            workflow: workflow.to_owned(),
            function: function.to_owned(),
            role,
            cx: raw(cx),
            run: raw(&cx["run"]),
        });
        id
    }

    /// A number that was not used yet.
    pub fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Asks what a file of realm 1 defines; nothing else may be said.
    pub fn describe(&mut self, file: &str) -> Result<Value, ScriptError> {
        let id = self.number();
        self.tell(&ToHost::Describe { id, realm: 1, file: file.to_owned(), entry: false });
        let (described, end) = self.end();
        assert_eq!(described, id);
        end.outcome
    }

    /// Calls a function and waits for its end; nothing else may be said.
    pub fn call(&mut self, function: &str, input: Value) -> Result<Value, ScriptError> {
        let id = self.begin(function, input);
        let (ended, end) = self.end();
        assert_eq!(ended, id);
        end.outcome
    }

    /// Runs a transform with generous limits.
    pub fn transform(&mut self, code: &str, input: Value) -> Result<Value, ScriptError> {
        self.begin_transform(code, input, 10_000);
        self.end().1.outcome
    }

    pub fn begin_transform(&mut self, code: &str, input: Value, limit_ms: u64) {
        let id = self.next;
        self.next += 1;
        let memory_limit = 32 * 1024 * 1024;
        self.tell(&ToHost::Transform {
            id,
            code: code.to_owned(),
            input: raw(&input),
            limit_ms,
            memory_limit,
        });
    }

    /// The next frame, which is the end of a call.
    pub fn end(&mut self) -> (u64, End) {
        match self.hear() {
            FromHost::Done { id, value, state } => {
                (id, End { outcome: Ok(value_of(&value)), state: state.map(|state| value_of(&state)) })
            }
            FromHost::Failed { id, error, state } => {
                (id, End { outcome: Err(error), state: state.map(|state| value_of(&state)) })
            }
            other => panic!("{other:?}"),
        }
    }

    /// The next frame, which is a log line.
    pub fn line(&mut self) -> (u64, String) {
        match self.hear() {
            FromHost::Log { id, message, .. } => (id, message),
            other => panic!("{other:?}"),
        }
    }

    /// The next frame, which asks for something.
    pub fn op(&mut self) -> (u64, u32, String, Value) {
        match self.hear() {
            FromHost::Op { id, op, kind, args } => (id, op, kind, value_of(&args)),
            other => panic!("{other:?}"),
        }
    }

    pub fn answer(&mut self, id: u64, op: u32, value: Value) {
        self.tell(&ToHost::Answer { id, op, value: Some(raw(&value)), error: None });
    }

    /// Waits until the host is in a call.
    pub fn until_in(&mut self, call: u64) {
        while !matches!(self.ask(&ControlFrame::Ping(1)), ControlReply::Pong { current, .. } if current == Some(call))
        {
            std::thread::yield_now();
        }
    }

    /// Waits for a line of a call that may be stuck after it.
    pub fn until_said(&mut self, call: u64, said: &str) {
        self.data.set_nonblocking(true).unwrap();
        // A host that is asked writes what it has to say.
        while self.splitter.fill(|room| self.data.read(room)).is_err() {
            self.ask(&ControlFrame::Ping(1));
        }
        self.data.set_nonblocking(false).unwrap();
        assert_eq!(self.line(), (call, said.to_owned()));
    }

    pub fn interrupt(&mut self, call: u64) -> bool {
        let ControlReply::Interrupted { id, was } = self.ask(&ControlFrame::Interrupt(call)) else {
            panic!()
        };
        assert_eq!(id, call);
        was
    }

    /// Closes the sockets, as the end of this process would.
    pub fn hang_up(&mut self) {
        let _ = self.data.shutdown(std::net::Shutdown::Both);
        let _ = self.control.get_mut().shutdown(std::net::Shutdown::Both);
    }

    pub fn child(&mut self) -> &mut Child {
        match &mut self.runner {
            Runner::Process(child) => child,
            Runner::Thread(_) | Runner::Elsewhere => panic!("not a child"),
        }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.hang_up();
        let ended = match &mut self.runner {
            Runner::Thread(thread) => thread.take().is_none_or(|thread| thread.join().is_ok()),
            Runner::Process(child) => child.wait().is_ok(),
            Runner::Elsewhere => true,
        };
        assert!(ended || std::thread::panicking());
    }
}

fn spawn(command: &mut Command, data: UnixStream, control: UnixStream) -> Child {
    command.env(rival_script_host::VARIABLE, "1");
    command.stdin(Stdio::from(OwnedFd::from(data))).stdout(Stdio::from(OwnedFd::from(control)));
    command.spawn().unwrap()
}

pub fn module(name: &str, code: &str, links: &[(&str, &str)]) -> ModuleSource {
    ModuleSource {
        common_js: false,
        name: name.to_owned(),
        code: code.to_owned(),
        links: links.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect(),
        step_names: Vec::new(),
    }
}

/// A module that imports what the host brings along.
pub fn file(name: &str, code: &str) -> ModuleSource {
    module(name, code, &[("rival", "rival"), ("zod", "zod"), ("rival/test", "rival/test")])
}

/// The same with one more link.
pub fn linked(mut module: ModuleSource, from: &str, to: &str) -> ModuleSource {
    module.links.insert(from.to_owned(), to.to_owned());
    module
}

pub fn raw(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}

fn value_of(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap()
}
