//! One script host, as the engine's process holds it.
//!
//! A task of its own writes what callers put into `out` and hands what it reads to the calls. Callers never wait for
//! the socket.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::channel::mpsc::{UnboundedSender, unbounded};
use rival_script_host::CallMark;
use rival_script_host::frame::{CallId, ControlFrame, ControlReply, FromHost, ScriptError, ToHost};
use rival_script_host::wire::{self, FrameSplitter};
use serde::Serialize;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::ReadHalf;
use tokio::sync::{Notify, mpsc};

use crate::call::{HostCall, say};
use crate::launch::{HostRuntime, LaunchedHost};
use crate::realm::ScriptRealm;

/// What a call hears of its host.
#[derive(Debug)]
pub(crate) enum HostEvent {
    /// A frame that is for it.
    Frame(FromHost),
    /// The host is gone, and the call with it.
    Lost(CallLoss),
}

/// How a call was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallLoss {
    /// The host ended by itself while it worked for this call, which may be the reason.
    Crash,
    /// The host ended because of another call, or was killed for one.
    Bystander,
    /// The host was killed because this call computed for so long that the host's other calls made no progress.
    Stuck,
}

/// How long a host has to say that it heard, before it is taken for stuck.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);

pub(crate) struct HostHandle {
    pub(crate) number: u32,
    out: Mutex<Vec<u8>>,
    /// Something is to be written.
    ready: Notify,
    /// Their channels are those that take no memory before something is said: most calls hear one frame.
    calls: Mutex<HashMap<CallId, UnboundedSender<HostEvent>>>,
    /// How many calls were begun.
    begun: AtomicU64,
    realms: Mutex<HashSet<u32>>,
    /// How many calls do nothing but wait for durable operations.
    idle_calls: AtomicUsize,
    /// Calls that were told to stop and have not been confirmed.
    leaving: Mutex<HashSet<CallId>>,
    control: mpsc::UnboundedSender<ControlFrame>,
    life: Mutex<HostRuntime>,
    mark: Option<CallMark>,
    /// When it last said anything, in milliseconds since `born`.
    heard_ms: AtomicU64,
    born: Instant,
    gone: AtomicBool,
    /// It takes no new calls.
    closed: AtomicBool,
    /// JavaScript has been in one place for long.
    stuck: AtomicBool,
    /// The call that it was killed for.
    killed_for: Mutex<Option<(CallId, CallLoss)>>,
    /// What the sentinel said last.
    sighting: Mutex<Option<HostSample>>,
    ended: Notify,
    rest: HostRest,
}

/// What is known of a host on a virtual clock that may have nothing to do.
struct HostRest {
    /// How many frames it was sent, and how many it had heard when it last had nothing to do.
    sent: AtomicU64,
    heard: AtomicU64,
    /// When its next timer is due, in milliseconds since 1970.
    next_timer_ms: Mutex<Option<i64>>,
    /// Told of every such change, of any host.
    changed: Arc<Notify>,
}

/// What JavaScript was seen in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostSample {
    pub(crate) current: Option<CallId>,
    pub(crate) since_ms: u64,
    pub(crate) at: Instant,
}

impl HostHandle {
    /// Takes up the conversation with a host that was launched.
    pub(crate) fn new(
        number: u32,
        launched: LaunchedHost,
        setup: &ToHost,
        rest_changed: Arc<Notify>,
    ) -> io::Result<Arc<Self>> {
        let LaunchedHost { data, control, life, mark } = launched;
        data.set_nonblocking(true)?;
        control.set_nonblocking(true)?;
        let (data, control) = (UnixStream::from_std(data)?, UnixStream::from_std(control)?);
        let (asks, asked) = mpsc::unbounded_channel();
        let host = Arc::new(Self {
            number,
            out: Mutex::default(),
            ready: Notify::new(),
            calls: Mutex::default(),
            begun: AtomicU64::new(0),
            realms: Mutex::default(),
            idle_calls: AtomicUsize::new(0),
            leaving: Mutex::default(),
            control: asks,
            life: Mutex::new(life),
            mark,
            heard_ms: AtomicU64::new(0),
            born: Instant::now(),
            gone: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            stuck: AtomicBool::new(false),
            killed_for: Mutex::default(),
            sighting: Mutex::default(),
            ended: Notify::new(),
            rest: HostRest {
                sent: AtomicU64::new(0),
                heard: AtomicU64::new(0),
                next_timer_ms: Mutex::default(),
                changed: rest_changed,
            },
        });
        host.send(setup);
        tokio::spawn(Arc::clone(&host).converse(data));
        tokio::spawn(Arc::clone(&host).ask(control, asked));
        Ok(host)
    }

    /// Sends a frame. To a host that is gone it is sent in vain; its calls are told.
    pub(crate) fn send(&self, frame: &impl Serialize) {
        let mut out = lock(&self.out);
        wire::put(&mut out, frame).expect("frames are JSON, and payloads far less than 4 GiB");
        // Counted before the host can have heard it.
        self.rest.sent.fetch_add(1, Ordering::AcqRel);
        drop(out);
        self.ready.notify_one();
    }

    /// On a virtual clock: how many frames it was sent, if nothing happens in it until it is sent one more.
    pub(crate) fn rest_mark(&self) -> Option<u64> {
        // In this order: a frame that is sent meanwhile is not heard yet.
        let heard = self.rest.heard.load(Ordering::Acquire);
        let sent = self.rest.sent.load(Ordering::Acquire);
        (self.is_gone() || sent == heard).then_some(sent)
    }

    /// When its next timer is due, as it said when it last had nothing to do.
    pub(crate) fn next_timer_ms(&self) -> Option<i64> {
        if self.is_gone() { None } else { *lock(&self.rest.next_timer_ms) }
    }

    /// Begins a call: registers it, and sends its frame. What the host says about it arrives in the call's channel.
    pub(crate) fn begin(self: Arc<Self>, frame: impl FnOnce(CallId) -> ToHost) -> HostCall {
        let id = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        let (tell, heard) = unbounded();
        let mut calls = lock(&self.calls);
        // Under the lock: when the host ends, `is_over` tells all calls that are in the map.
        if self.gone.load(Ordering::Acquire) {
            let _ = tell.unbounded_send(HostEvent::Lost(CallLoss::Bystander));
        } else {
            calls.insert(id, tell);
        }
        drop(calls);
        self.send(&frame(id));
        HostCall { host: self, id, heard: heard.peekable(), over: false, is_idle: false }
    }

    /// The call is over, or its caller has stopped waiting.
    pub(crate) fn unexpect(&self, id: CallId) {
        lock(&self.calls).remove(&id);
    }

    /// Sends the host a realm's sources, unless it has them. They are sent under the lock: a caller that finds the realm
    /// known may rely on its frames to come after them.
    pub(crate) fn teach(&self, realm: &ScriptRealm) {
        let mut realms = lock(&self.realms);
        if realms.insert(realm.id()) {
            self.send(&realm.sources());
        }
    }

    /// The host need not keep a realm. Under the lock, so that it does not lose one that it is just taught again.
    pub(crate) fn drop_realm(&self, realm: u32) {
        let mut realms = lock(&self.realms);
        if realms.remove(&realm) {
            self.send(&ToHost::Drop { realm });
        }
    }

    /// What it would cost to call a function of a realm here: calls that are under way, and as good as `strange` more if the
    /// realm is not here yet; then, how many are.
    pub(crate) fn cost_of(&self, realm: u32, strange: usize) -> (usize, usize) {
        let realms = lock(&self.realms);
        let more = if realms.contains(&realm) { 0 } else { strange };
        (self.load() + more, realms.len())
    }

    pub(crate) fn load(&self) -> usize {
        lock(&self.calls).len()
    }

    /// How many calls have something to do.
    pub(crate) fn at_work(&self) -> usize {
        self.load().saturating_sub(self.idle_calls.load(Ordering::Relaxed))
    }

    /// A call begins or ends to do nothing but wait.
    pub(crate) fn count_idle(&self, is_idle: bool) {
        if is_idle {
            self.idle_calls.fetch_add(1, Ordering::Relaxed);
        } else {
            self.idle_calls.fetch_sub(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    pub(crate) fn is_stuck(&self) -> bool {
        self.stuck.load(Ordering::Relaxed)
    }

    pub(crate) fn set_stuck(&self, stuck: bool) {
        self.stuck.store(stuck, Ordering::Relaxed);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// No new calls: it is replaced when the last one is over.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// What its process has in memory, where the system says so.
    pub(crate) fn memory_bytes(&self) -> Option<u64> {
        let HostRuntime::Process(child) = &*lock(&self.life) else { return None };
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()?)).ok()?;
        let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        Some(kib.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
    }

    /// How long it has said nothing.
    pub(crate) fn silent_for(&self) -> Duration {
        self.born.elapsed().saturating_sub(Duration::from_millis(self.heard_ms.load(Ordering::Relaxed)))
    }

    /// Asks the sentinel, which answers also while JavaScript is stuck.
    pub(crate) fn ping(&self) {
        let _ = self.control.send(ControlFrame::Ping(0));
    }

    pub(crate) fn sighting(&self) -> Option<HostSample> {
        *lock(&self.sighting)
    }

    /// Waits for the host's end.
    pub(crate) async fn ended(&self) {
        let ended = self.ended.notified();
        tokio::pin!(ended);
        // Registered first, looked second.
        ended.as_mut().enable();
        if !self.is_gone() {
            ended.await;
        }
    }

    /// Tells a call to stop, and sees to it that it does: a word, an interruption, a kill.
    pub(crate) fn stop(self: &Arc<Self>, id: CallId, reason: &str, keep: bool) {
        if self.is_gone() {
            return;
        }
        lock(&self.leaving).insert(id);
        self.send(&ToHost::Abort { id, reason: reason.to_owned(), keep });
        // Without a runtime the process is about to end, and its hosts with it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(Arc::clone(self).insist(id));
        }
    }

    async fn insist(self: Arc<Self>, id: CallId) {
        tokio::time::sleep(PATIENCE).await;
        let mut silences = 0;
        while self.is_leaving(id) {
            let asked = Instant::now();
            let _ = self.control.send(ControlFrame::Interrupt(id));
            self.ping();
            tokio::time::sleep(PATIENCE).await;
            match self.sighting().filter(|seen| seen.at >= asked) {
                // Another call is at work: this one holds up no other call, and sees the abort later.
                Some(seen) if seen.current != Some(id) => silences = 0,
                None if silences == 0 => silences = 1,
                // It was interrupted and goes on, or not even the sentinel answers.
                Some(_) | None => break,
            }
        }
        if self.is_leaving(id) {
            tracing::warn!(host = self.number, "a script does not stop: its host is replaced");
            self.kill(id, CallLoss::Crash);
        }
    }

    fn is_leaving(&self, id: CallId) -> bool {
        !self.is_gone() && lock(&self.leaving).contains(&id)
    }

    /// Ends the host because of a call; its other calls are lost through no fault of their own.
    pub(crate) fn kill(&self, because: CallId, loss: CallLoss) {
        *lock(&self.killed_for) = Some((because, loss));
        self.end();
    }

    /// Ends the host and tells its calls.
    pub(crate) fn end(&self) {
        if let HostRuntime::Process(child) = &mut *lock(&self.life) {
            // It may have ended by itself a moment ago.
            let _ = child.start_kill();
        }
        self.is_over();
        self.ready.notify_one();
    }

    fn is_over(&self) {
        let mut calls = lock(&self.calls);
        if self.gone.swap(true, Ordering::AcqRel) {
            return;
        }
        let end = HostEnd {
            killed_for: *lock(&self.killed_for),
            current: self.mark.as_ref().and_then(CallMark::current),
            alone: calls.len().saturating_sub(self.idle_calls.load(Ordering::Relaxed)) <= 1,
        };
        for (id, tell) in calls.drain() {
            let _ = tell.unbounded_send(HostEvent::Lost(end.loss_of(id)));
        }
        drop(calls);
        self.ended.notify_waiters();
        self.rest.changed.notify_waiters();
    }

    /// Reads and writes until either side ends.
    async fn converse(self: Arc<Self>, mut socket: UnixStream) {
        let (reader, mut writer) = socket.split();
        let mut incoming = FrameSplitter::default();
        let (mut outgoing, mut written) = (Vec::new(), 0);
        while !self.is_gone() {
            // What callers have put there meanwhile comes next.
            if written == outgoing.len() {
                outgoing.clear();
                written = 0;
                std::mem::swap(&mut outgoing, &mut lock(&self.out));
            }
            let wants_to_write = written < outgoing.len();
            let done = tokio::select! {
                biased;
                more = writer.write(&outgoing[written..]), if wants_to_write => more.map(|more| written += more),
                ready = reader.readable() => ready.and_then(|()| self.receive(&mut incoming, &reader)),
                () = self.ready.notified(), if !wants_to_write => Ok(()),
            };
            if let Err(error) = done {
                // A host without calls may end with this process, a moment before it: that needs no warning.
                if !self.is_gone() && lock(&self.killed_for).is_none() && !lock(&self.calls).is_empty() {
                    tracing::warn!(host = self.number, %error, "a script host ended");
                }
                break;
            }
        }
        self.end();
        let life = std::mem::replace(&mut *lock(&self.life), HostRuntime::Thread);
        if let HostRuntime::Process(mut child) = life {
            let _ = child.wait().await;
        }
    }

    /// Reads what the host has written, and hands over the frames that are whole.
    fn receive(&self, incoming: &mut FrameSplitter, reader: &ReadHalf<'_>) -> io::Result<()> {
        match incoming.fill(|room| reader.try_read(room)) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        while let Some(text) = incoming.next_frame() {
            let frame = serde_json::from_slice(text)?;
            let ms = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.heard_ms.store(ms, Ordering::Relaxed);
            self.set_stuck(false);
            self.hand_over(frame);
        }
        Ok(())
    }

    fn hand_over(&self, frame: FromHost) {
        let (id, last) = match &frame {
            FromHost::Ready { .. } => return,
            FromHost::AtRest { heard, next_timer_ms } => {
                *lock(&self.rest.next_timer_ms) = *next_timer_ms;
                self.rest.heard.store(*heard, Ordering::Release);
                self.rest.changed.notify_waiters();
                return;
            }
            FromHost::Aborted { id } => {
                lock(&self.leaving).remove(id);
                return;
            }
            FromHost::Done { id, .. } | FromHost::Failed { id, .. } => (*id, true),
            FromHost::Log { id, .. }
            | FromHost::Op { id, .. }
            | FromHost::Idle { id, .. }
            | FromHost::State { id, .. }
            | FromHost::Busy { id } => (*id, false),
        };
        if let FromHost::Failed { error, .. } = &frame
            && error.spent
        {
            self.close();
        }
        let mut calls = lock(&self.calls);
        let tell = if last { calls.remove(&id) } else { calls.get(&id).cloned() };
        drop(calls);
        if last {
            lock(&self.leaving).remove(&id);
        }
        match (tell, frame) {
            (Some(tell), frame) => {
                let _ = tell.unbounded_send(HostEvent::Frame(frame));
            }
            (None, FromHost::Op { id, op, .. }) => self.send(&too_late(id, op)),
            (None, FromHost::Log { level, message, fields, .. }) => say(level, &message, fields.as_deref()),
            // The caller has stopped waiting.
            (None, _) => {}
        }
    }

    /// Talks with the sentinel.
    async fn ask(self: Arc<Self>, socket: UnixStream, mut asked: mpsc::UnboundedReceiver<ControlFrame>) {
        let (read, mut write) = socket.into_split();
        let mut lines = BufReader::new(read).lines();
        loop {
            tokio::select! {
                ask = asked.recv() => {
                    let Some(ask) = ask else { return };
                    let mut line = serde_json::to_vec(&ask).expect("numbers always encode");
                    line.push(b'\n');
                    if write.write_all(&line).await.is_err() { return }
                }
                line = lines.next_line() => {
                    let Ok(Some(line)) = line else { return };
                    if let Ok(ControlReply::Pong { current, since_ms, .. }) = serde_json::from_str(&line) {
                        *lock(&self.sighting) = Some(HostSample { current, since_ms, at: Instant::now() });
                    }
                }
                () = self.ended() => return,
            }
        }
    }
}

/// How a host ended.
struct HostEnd {
    killed_for: Option<(CallId, CallLoss)>,
    /// The call that JavaScript worked for, 0 for none; nothing if that is not known.
    current: Option<CallId>,
    /// No more than one call was at work.
    alone: bool,
}

impl HostEnd {
    /// What one of its calls is told: only the one that was at work is suspect, or the only one that there was.
    fn loss_of(&self, id: CallId) -> CallLoss {
        match (self.killed_for, self.current) {
            (Some((culprit, loss)), _) if culprit == id => loss,
            (Some(_), _) => CallLoss::Bystander,
            (None, Some(current)) if current != id && !self.alone => CallLoss::Bystander,
            (None, _) => CallLoss::Crash,
        }
    }
}

/// What code is told that asks the engine for something outside of any call.
fn too_late(id: CallId, op: u32) -> ToHost {
    let message = "the engine can be asked only while a step runs: await it in the step".to_owned();
    let error = ScriptError { name: "Error".to_owned(), message, ..ScriptError::default() };
    ToHost::Answer { id, op, value: None, error: Some(error) }
}

impl std::fmt::Debug for HostHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostHandle").field("number", &self.number).finish_non_exhaustive()
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
impl HostHandle {
    /// Ends the process as something outside would.
    pub(crate) fn kill_from_outside(&self) {
        if let HostRuntime::Process(child) = &mut *lock(&self.life) {
            child.start_kill().unwrap();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_at_work_is_suspect_or_was_alone() {
        let end = |current, alone| HostEnd { killed_for: None, current, alone };
        assert_eq!(end(Some(7), false).loss_of(7), CallLoss::Crash);
        assert_eq!(end(Some(7), false).loss_of(8), CallLoss::Bystander);
        assert_eq!(end(Some(0), false).loss_of(8), CallLoss::Bystander);
        assert_eq!(end(Some(0), true).loss_of(8), CallLoss::Crash);
        assert_eq!(end(None, false).loss_of(8), CallLoss::Crash);
        let killed = HostEnd { killed_for: Some((7, CallLoss::Stuck)), current: Some(8), alone: false };
        assert_eq!((killed.loss_of(7), killed.loss_of(8)), (CallLoss::Stuck, CallLoss::Bystander));
    }
}
