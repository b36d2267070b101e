//! The event loop: one task at a time, then all that follows from it.
//!
//! ```text
//!   frames, timers that are due, requests that ended
//!        |  each is a turn, and belongs to a call
//!        v
//!   tell JavaScript -> run all jobs -> say that they are done -> run all jobs -> what went wrong
//!        |
//!        v
//!   write all answers at once, wait
//! ```

use std::collections::HashMap;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rival_core::LogLevel;
use rquickjs::{Context, Function, Runtime};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::clock::HostClock;
use crate::confine;
use crate::control::{ControlEnd, LoopWatch};
use crate::error;
use crate::fetch::{HttpFetcher, REQUEST_TIMEOUT};
use crate::frame::{CallId, FromHost, ScriptError, ToHost};
use crate::memory::{MemoryMeter, MeteredAllocator};
use crate::modules::{ModuleLinks, ModuleSources};
use crate::ops::{HostOpOwner, HostOps};
use crate::outbox::FrameOutbox;
use crate::pipe::{
    AbortedCall, AnsweredCall, CallEnvelope, DataPipe, DroppedRealm, ForgottenCall, FrameHead, FrameTarget,
    IncomingFrame,
};
use crate::realm::{HostOpEnd, HostRealm, RealmTask};
use crate::rejections::TurnRejections;
use crate::sandbox::{TransformJob, TransformRunner};
use crate::shared::{CutReason, HostShared};

/// How deep JavaScript may call: well within the two megabytes that a thread has.
const STACK_BYTES: usize = 1024 * 1024;

/// How many realms may be dropped before their garbage is collected, where memory is not short.
const DROPPED_MAX: usize = 8;

/// How much may be allocated while a realm is made, beyond half of what there is, before garbage is collected.
const NEW_REALM: usize = 8 * 1024 * 1024;

/// A script host.
pub(crate) struct HostLoop {
    // In this order: values of JavaScript go before the runtime.
    realms: HashMap<u32, HostRealm>,
    rejections: TurnRejections,
    runtime: Runtime,
    modules: Rc<ModuleSources>,
    sandbox: TransformRunner,
    shared: Rc<HostShared>,
    /// How many turns there were.
    turns: u64,
    /// How many realms were dropped since their garbage was last collected.
    dropped: usize,
}

impl HostLoop {
    /// Waits for the first frame; `None` if the parent is gone before it comes.
    pub(crate) fn begin(
        data: UnixStream,
        out: Arc<FrameOutbox>,
        watch: Arc<LoopWatch>,
        life: ControlEnd,
    ) -> io::Result<Option<Self>> {
        let mut pipe = DataPipe::new(data);
        let setup = loop {
            if let Some(frame) = pipe.next_frame()? {
                break serde_json::from_slice(&frame.bytes)?;
            }
            if !pipe.fill()? {
                return Ok(None);
            }
        };
        let ToHost::Setup { memory_limit, env, outgoing, virtual_time } = setup else {
            return Err(io::Error::other("the first frame is not `setup`"));
        };
        let confinement = match life {
            ControlEnd::Process { confinement, .. } => {
                confine::limit_memory(memory_limit);
                Some(confinement)
            }
            ControlEnd::Thread => None,
        };
        out.put(&FromHost::Ready { confinement })?;
        let meter = Arc::new(MemoryMeter::default());
        meter.set_limit(memory_limit);
        let fetcher = HttpFetcher::new(outgoing, Arc::clone(&meter), REQUEST_TIMEOUT)?;
        let ops = HostOps::new(fetcher, HostClock::new(virtual_time));
        let shared = Rc::new(HostShared::new(pipe, out, watch, meter, ops, env));
        Self::new(shared).map(Some)
    }

    fn new(shared: Rc<HostShared>) -> io::Result<Self> {
        let allocator = MeteredAllocator(Arc::clone(&shared.meter));
        let runtime = Runtime::new_with_alloc(allocator).map_err(io::Error::other)?;
        runtime.set_max_stack_size(STACK_BYTES);
        anchor(&runtime).map_err(io::Error::other)?;
        let modules = Rc::new(ModuleSources::default());
        runtime.set_loader(ModuleLinks(Rc::clone(&modules)), ModuleLinks(Rc::clone(&modules)));
        let host = Rc::clone(&shared);
        runtime.set_interrupt_handler(Some(Box::new(move || host.interrupts())));
        let rejections = TurnRejections::default();
        runtime.set_host_promise_rejection_tracker(Some(rejections.tracker(Arc::clone(&shared.watch))));
        let sandbox = TransformRunner::new(Arc::clone(&shared.watch));
        Ok(Self {
            realms: HashMap::new(),
            rejections,
            runtime,
            modules,
            sandbox,
            shared,
            turns: 0,
            dropped: 0,
        })
    }

    /// Works until the parent is gone.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        while !self.shared.watch.closing() {
            loop {
                let frame = self.shared.pipe.borrow_mut().next_frame()?;
                let Some(frame) = frame else { break };
                self.deliver(frame)?;
            }
            self.timers();
            self.requests();
            self.shared.out.lock().flush()?;
            self.sandbox.tidy();
            if !self.wait()? {
                return Ok(());
            }
        }
        Ok(())
    }

    fn timers(&mut self) {
        let until = self.shared.ops.borrow().timers_until();
        loop {
            let due = self.shared.ops.borrow_mut().due(until);
            let Some((op, owner)) = due else { return };
            self.complete(op, owner, HostOpEnd::Timer);
        }
    }

    fn requests(&mut self) {
        loop {
            let finished = self.shared.ops.borrow_mut().finished();
            let Some((finished, owner)) = finished else { return };
            self.complete(finished.op, owner, HostOpEnd::Fetch(finished.outcome));
        }
    }

    /// Waits until there is something to do. False when the parent is gone.
    fn wait(&self) -> io::Result<bool> {
        let mut pipe = self.shared.pipe.borrow_mut();
        if pipe.has_queued() {
            return Ok(true);
        }
        let ops = self.shared.ops.borrow();
        if ops.idle() {
            if ops.virtual_time().is_some() {
                if ops.next_timer_in().is_some() {
                    return Ok(true);
                }
                self.say_rest(pipe.heard(), ops.next_virtual_timer())?;
            }
            return pipe.fill();
        }
        let left = ops.next_timer_in();
        let [told, ended] = readable([pipe.as_fd(), ops.fetcher().as_fd()], left)?;
        if ended {
            ops.fetcher().hear();
        }
        if told { pipe.fill() } else { Ok(true) }
    }

    /// Tells a parent that moves time that nothing happens before the next frame.
    fn say_rest(&self, heard: u64, next_timer_ms: Option<i64>) -> io::Result<()> {
        self.shared.out.put(&FromHost::AtRest { heard, next_timer_ms })?;
        self.shared.out.lock().flush()
    }

    fn deliver(&mut self, frame: IncomingFrame) -> io::Result<()> {
        let IncomingFrame { head, bytes } = frame;
        match head {
            FrameHead::Setup(_) => {}
            FrameHead::Time(time) => self.shared.ops.borrow_mut().set_time(time),
            FrameHead::Realm(_) => {
                if let ToHost::Realm { realm, modules } = serde_json::from_slice(&bytes)? {
                    self.realms.entry(realm).or_default().sources.add(modules);
                }
            }
            FrameHead::Drop(DroppedRealm { realm }) => self.drop_realm(realm),
            FrameHead::Describe(FrameTarget { id, realm }) | FrameHead::Parse(FrameTarget { id, realm }) => {
                self.begin_call(HostOpOwner { realm, call: id }, RealmTask::Frame(bytes));
            }
            FrameHead::Call => {
                let CallEnvelope { call } = serde_json::from_slice(&bytes)?;
                self.begin_call(HostOpOwner { realm: call.realm, call: call.id }, RealmTask::Call(call));
            }
            FrameHead::Answer(AnsweredCall { id, op }) => {
                if let Some(realm) = self.shared.take_asked(op) {
                    self.go_on(HostOpOwner { realm, call: id }, bytes);
                }
            }
            FrameHead::Forget(ForgottenCall { id }) => self.forget(id, bytes),
            FrameHead::Abort(AbortedCall { id, keep }) => {
                if let Some(realm) = self.shared.realm_of(id) {
                    self.go_on(HostOpOwner { realm, call: id }, bytes);
                }
                if !keep {
                    self.shared.close(id);
                }
                self.shared.put(&FromHost::Aborted { id });
            }
            FrameHead::Transform(_) => {
                if let ToHost::Transform { id, code, input, limit_ms, memory_limit } =
                    serde_json::from_slice(&bytes)?
                {
                    let limit = Duration::from_millis(limit_ms);
                    self.transform(id, TransformJob { code, input, limit, memory: memory_limit });
                }
            }
        }
        Ok(())
    }

    fn transform(&mut self, call: CallId, job: TransformJob) {
        self.shared.watch.enter(call);
        let outcome = self.sandbox.run(job);
        self.shared.watch.leave();
        match outcome {
            Ok(value) => self.shared.put_done(call, &value),
            Err(error) => self.shared.put(&FromHost::Failed { id: call, error: *error, state: None }),
        }
    }

    /// The first turn of a call. What it throws is the call's failure.
    fn begin_call(&mut self, owner: HostOpOwner, task: RealmTask<'_>) {
        let HostOpOwner { realm, call } = owner;
        self.shared.open(call, realm);
        if let Some(error) = self.turn(owner, task)
            && self.shared.close(call)
        {
            self.shared.put(&FromHost::Failed { id: call, error, state: None });
        }
    }

    /// Something more about a call.
    fn go_on(&mut self, owner: HostOpOwner, frame: Vec<u8>) {
        let thrown = self.turn(owner, RealmTask::Frame(frame));
        self.report_error(owner.call, thrown);
    }

    fn forget(&mut self, call: CallId, frame: Vec<u8>) {
        if let Some(realm) = self.shared.realm_of(call) {
            self.go_on(HostOpOwner { realm, call }, frame);
            self.shared.close(call);
        }
        self.shared.forget_asked(call);
    }

    fn complete(&mut self, op: u32, owner: HostOpOwner, completion: HostOpEnd) {
        let thrown = self.turn(owner, RealmTask::Complete(op, completion));
        self.report_error(owner.call, thrown);
    }

    /// One task, and everything that follows from it at once. What the task itself threw comes back, unless it was cut
    /// short: then the call is answered already.
    fn turn(&mut self, owner: HostOpOwner, task: RealmTask<'_>) -> Option<ScriptError> {
        let HostOpOwner { realm, call } = owner;
        self.shared.watch.enter(call);
        let thrown = match self.ready(realm) {
            None => self.realms.get(&realm).and_then(|realm| realm.tell(task)),
            unready => unready,
        };
        self.jobs(owner);
        self.drain(owner);
        self.unhandled(realm);
        let cut = self.shared.take_cut(call);
        if let Some((call, cut)) = cut {
            self.cut_short(HostOpOwner { realm, call }, cut);
        }
        if self.shared.meter.is_tight() {
            self.make_room(realm);
        }
        self.shared.watch.leave();
        self.shared.end_if_failed(self.shared.out.flush_old());
        if cut.is_some() { None } else { thrown }
    }

    /// Says that the turn is over, if there can be anything to say of it: most calls are over by now.
    fn drain(&self, owner: HostOpOwner) {
        let HostOpOwner { realm, call } = owner;
        if self.shared.realm_of(call).is_none() && !self.shared.wants_drain.take() {
            return;
        }
        self.shared.wants_drain.set(false);
        let thrown = self.realms.get(&realm).and_then(|realm| realm.tell(RealmTask::Drained(call)));
        self.jobs(owner);
        self.report_error(call, thrown);
    }

    /// Collects garbage. If that is not enough, realms in which nothing happens are let go, those that were used least
    /// recently first: a file is evaluated again when it is called.
    fn make_room(&mut self, current: u32) {
        self.runtime.run_gc();
        if self.shared.meter.is_high() {
            let mut idle: Vec<_> = self
                .realms
                .iter_mut()
                .filter(|(id, realm)| realm.is_live() && **id != current && !self.shared.is_busy(**id))
                .map(|(_, realm)| realm)
                .collect();
            idle.sort_by_key(|realm| realm.used);
            let half = idle.len().div_ceil(2);
            for realm in idle.into_iter().take(half) {
                realm.rest(&self.modules);
            }
            self.runtime.run_gc();
        }
        self.shared.meter.collected();
    }

    /// Makes sure that there is a realm to talk to; otherwise says why not.
    fn ready(&mut self, id: u32) -> Option<ScriptError> {
        self.turns += 1;
        if let Some(realm) = self.realms.get_mut(&id) {
            realm.used = self.turns;
        }
        match self.realms.get_mut(&id) {
            Some(realm) if realm.is_live() => None,
            Some(realm) => {
                // A new realm is no garbage: that it grows is no reason to look for some in all others, if there is room.
                let used = self.shared.meter.used();
                let threshold = used + used / 2 + NEW_REALM;
                if threshold < self.shared.meter.limit() / 2 {
                    self.runtime.set_gc_threshold(threshold);
                }
                realm.begin(id, &self.runtime, &self.shared, &self.modules)
            }
            None => Some(error::plain(format!("there is no realm {id}"))),
        }
    }

    /// Runs all jobs. One that throws was cut short, or is a callback of `queueMicrotask`.
    fn jobs(&self, owner: HostOpOwner) {
        let mut dice = 1_u32;
        while !self.shared.watch.closing() {
            match self.runtime.execute_pending_job() {
                Ok(true) => {}
                Ok(false) => return,
                Err(job) => {
                    let thrown = job.0.with(|ctx| {
                        let thrown = ctx.catch();
                        (!thrown.is_uncatchable_error()).then(|| error::of_value(&ctx, &thrown))
                    });
                    self.report_error(owner.call, thrown);
                }
            }
            if self.shared.is_cutting() {
                dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                self.shift(owner.realm, dice >> 27);
            }
        }
    }

    /// Jobs of which each begins the next are all alike, so that an interrupt may always come after the next was begun.
    /// Something between them, without a rhythm of its own, moves the place where it comes.
    fn shift(&self, realm: u32, ticks: u32) {
        if let Some(realm) = self.realms.get(&realm) {
            realm.tick(ticks);
        }
    }

    /// Answers a call that was cut short: its promises never settle, so its own code never answers.
    fn cut_short(&mut self, owner: HostOpOwner, cut: CutReason) {
        let HostOpOwner { realm, call } = owner;
        let open = self.shared.close(call);
        let forget = format!(r#"{{"forget":{{"id":{call}}}}}"#);
        let forget = RealmTask::Frame(forget.into_bytes());
        let thrown = self.realms.get(&realm).and_then(|realm| realm.tell(forget));
        self.report_error(call, thrown);
        self.jobs(owner);
        self.shared.forget_asked(call);
        // An interrupt during this cleanup is about the same call again, and is dropped.
        self.shared.take_cut(call);
        let error = match cut {
            CutReason::Wanted => {
                ScriptError { spent: self.shared.is_evaluating(realm), ..error::interrupted() }
            }
            CutReason::Memory => ScriptError { spent: true, ..error::out_of_memory() },
        };
        // Without a call to blame, the parent must still know that the host is spent.
        if open || error.spent {
            self.shared.put(&FromHost::Failed { id: if open { call } else { 0 }, error, state: None });
        }
    }

    fn unhandled(&self, realm: u32) {
        if self.rejections.is_empty() {
            return;
        }
        let told = self.realms.get(&realm).and_then(|realm| realm.with(|ctx| self.rejections.take(ctx)));
        for (call, error) in told.unwrap_or_default() {
            self.report_error(call, Some(error));
        }
    }

    /// Logs an error that no JavaScript code has caught.
    fn report_error(&self, call: CallId, thrown: Option<ScriptError>) {
        if let Some(error) = thrown {
            let stack = error.stack.map(|stack| format!("\n{}", stack.trim_end())).unwrap_or_default();
            let message = format!("uncaught {}: {}{stack}", error.name, error.message);
            self.shared.put(&FromHost::Log { id: call, level: LogLevel::Error, message, fields: None });
        }
    }

    fn drop_realm(&mut self, id: u32) {
        if let Some(realm) = self.realms.remove(&id) {
            self.shared.forget_realm(id);
            realm.end(&self.modules);
            self.dropped += 1;
        }
        // Garbage is looked for in all realms, which takes long where there are many.
        if self.dropped >= DROPPED_MAX {
            self.dropped = 0;
            self.runtime.run_gc();
        }
    }
}

impl Drop for HostLoop {
    fn drop(&mut self) {
        self.rejections.clear();
        for (_, realm) in self.realms.drain() {
            realm.end(&self.modules);
        }
    }
}

/// Makes a function of Rust in a context of its own. rquickjs keeps the prototype of the first such function for all
/// others, and with it the context that it was made in: that must be none that is ever to be let go.
fn anchor(runtime: &Runtime) -> rquickjs::Result<()> {
    Context::base(runtime)?.with(|ctx| Function::new(ctx, || ()).map(drop))
}

/// Waits until one of them can be read, or the time is up; says which can.
fn readable(fds: [BorrowedFd<'_>; 2], left: Option<Duration>) -> io::Result<[bool; 2]> {
    let mut polled = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
    match poll(&mut polled, left.map(timespec).as_ref()) {
        Ok(_) => Ok(polled.map(|fd| !fd.revents().is_empty())),
        Err(rustix::io::Errno::INTR) => Ok([false; 2]),
        Err(error) => Err(error.into()),
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: duration.subsec_nanos().into(),
    }
}
