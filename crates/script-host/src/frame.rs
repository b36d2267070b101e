//! What the engine's process and a script host say to each other.
//!
//! A frame is its length (four bytes, little endian) and JSON. Values travel as the text that they are stored as.

use std::collections::BTreeMap;

use rival_core::LogLevel;
use rival_core::event::CallRole;
use rival_outgoing::OutgoingPolicy;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use crate::confine::HostConfinement;

/// A call, or anything else that is answered.
pub type CallId = u64;

/// What a host is told.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ToHost {
    /// The first frame.
    Setup {
        /// Bytes that JavaScript may hold.
        memory_limit: usize,
        /// What `process.env` shows.
        env: BTreeMap<String, String>,
        /// Where `fetch` may send requests.
        #[serde(default)]
        outgoing: OutgoingPolicy,
        /// The time in a test; without it the machine's clock counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        virtual_time: Option<VirtualTime>,
    },
    /// Moves a virtual clock.
    Time(VirtualTime),
    /// Sources of a realm; said again, it adds modules. Nothing is evaluated yet.
    Realm {
        /// Which.
        realm: u32,
        /// Its modules.
        modules: Vec<ModuleSource>,
    },
    /// Evaluate a file and say which workflows it defines.
    Describe {
        /// To answer with.
        id: CallId,
        /// Where.
        realm: u32,
        /// The file.
        file: String,
        /// It is the entry of a program, and may register others.
        entry: bool,
    },
    /// Call a function.
    Call {
        /// To answer with.
        id: CallId,
        /// Where.
        realm: u32,
        /// The file that defines the workflow.
        file: String,
        /// The workflow's name.
        workflow: String,
        /// The function's key in the plan.
        function: String,
        /// What it is called for.
        role: CallRole,
        /// What it is given.
        cx: Box<RawValue>,
        /// Its `context.run`. Apart from the rest, because few functions ask for it.
        run: Box<RawValue>,
    },
    /// Let zod judge an input.
    Parse {
        /// To answer with.
        id: CallId,
        /// Where.
        realm: u32,
        /// The file that defines the workflow.
        file: String,
        /// The workflow's name.
        workflow: String,
        /// What to judge.
        input: Box<RawValue>,
    },
    /// Fire a call's `AbortSignal`.
    Abort {
        /// The call.
        id: CallId,
        /// Why.
        reason: String,
        /// Whether its outcome is still wanted.
        keep: bool,
    },
    /// Let go of a call without a word.
    Forget {
        /// The call.
        id: CallId,
    },
    /// Answers an [`FromHost::Op`].
    Answer {
        /// The call.
        id: CallId,
        /// The operation.
        op: u32,
        /// What came of it; absent if it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Box<RawValue>>,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<ScriptError>,
    },
    /// A realm is not needed any more.
    Drop {
        /// Which.
        realm: u32,
    },
    /// Run a transform.
    Transform {
        /// To answer with.
        id: CallId,
        /// Its code, without types.
        code: String,
        /// What it is given.
        input: Box<RawValue>,
        /// How long it may take.
        limit_ms: u64,
        /// Bytes that it may hold.
        memory_limit: usize,
    },
}

/// What a virtual clock says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VirtualTime {
    /// Milliseconds since 1970.
    pub now_ms: i64,
    /// Timers up to this moment fire. Those of `now_ms` itself may have to wait until the engine has done what is due then:
    /// of a step that takes as long as it may, it is known that it takes too long.
    pub timers_until_ms: i64,
}

/// Before the reason why a link leads nowhere.
pub const REFUSED: &str = "rival-refused:";
/// Before the names of a module that has nothing but them, with commas between.
pub const EMPTY: &str = "rival-empty:";

/// A module of a realm.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModuleSource {
    /// Its name, as links and stack traces have it: the file's path.
    pub name: String,
    /// JavaScript.
    pub code: String,
    /// Whether the code is an expression, a function as Node.js makes it of a CommonJS module.
    #[serde(default)]
    pub common_js: bool,
    /// What its import specifiers mean; what begins with [`REFUSED`] cannot be had, and why is after that.
    pub links: BTreeMap<String, String>,
    /// The identifiers in its exported `steps`, where an element is one.
    pub step_names: Vec<Option<String>>,
}

/// What a host says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FromHost {
    /// The first frame.
    Ready {
        /// What the kernel keeps it from; nothing is known of a host that is a thread.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confinement: Option<HostConfinement>,
    },
    /// It came to an end.
    Done {
        /// Which.
        id: CallId,
        /// What it returned.
        value: Box<RawValue>,
        /// A step's state, if it put anything into it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<Box<RawValue>>,
    },
    /// It failed.
    Failed {
        /// Which.
        id: CallId,
        /// Why.
        error: ScriptError,
        /// A step's state, if it put anything into it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<Box<RawValue>>,
    },
    /// A call was told to stop.
    Aborted {
        /// The call.
        id: CallId,
    },
    /// A line for a call's log.
    Log {
        /// The call; 0 while a file is loaded.
        id: CallId,
        /// How much it matters.
        level: LogLevel,
        /// The line.
        message: String,
        /// What goes with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fields: Option<Box<RawValue>>,
    },
    /// A call asks for something that only the engine can do.
    Op {
        /// The call.
        id: CallId,
        /// To answer with; unique within the host.
        op: u32,
        /// What it asks for, such as `look` or `durable.run`.
        kind: String,
        /// With what.
        args: Box<RawValue>,
    },
    /// A call does nothing but wait for durable operations.
    Idle {
        /// The call.
        id: CallId,
        /// How many answers it had when it said so: one that is on its way makes this stale.
        answers: u32,
    },
    /// What a call has put into its state by now, while it waits for something.
    State {
        /// The call.
        id: CallId,
        /// Absent if there is nothing in it any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<Box<RawValue>>,
    },
    /// A call that waited does something else again.
    Busy {
        /// The call.
        id: CallId,
    },
    /// On a virtual clock: nothing happens any more until a frame comes.
    AtRest {
        /// How many frames have come.
        heard: u64,
        /// When the next timer of a call is due, in milliseconds since 1970.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next_timer_ms: Option<i64>,
    },
}

/// What a script threw, or why it was stopped.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScriptError {
    /// The error's class.
    pub name: String,
    /// One sentence.
    pub message: String,
    /// Where, in generated code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// A stable word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Anything else that it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<serde_json::Value>,
    /// A `StepError`'s wish: stop, continue, retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behavior: Option<String>,
    /// Total attempts wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// How the delay grows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff: Option<String>,
    /// The base delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff_ms: Option<u64>,
    /// The host has no memory left, or a module that is half evaluated, and should be replaced.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub spent: bool,
}

/// Asked over the control socket, a line of JSON each.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ControlFrame {
    /// What are you doing?
    Ping(u64),
    /// Stop this call, if it is the one that JavaScript is in.
    Interrupt(CallId),
}

/// Answered over the control socket, also while JavaScript is stuck.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ControlReply {
    /// To a ping.
    #[serde(rename_all = "camelCase")]
    Pong {
        /// Its number.
        ping: u64,
        /// The call that JavaScript is in.
        current: Option<CallId>,
        /// For how long.
        since_ms: u64,
    },
    /// To an interrupt.
    #[serde(rename_all = "camelCase")]
    Interrupted {
        /// The call.
        id: CallId,
        /// Whether it was the one.
        was: bool,
    },
}
