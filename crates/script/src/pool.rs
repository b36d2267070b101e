//! The hosts that run steps: which of them takes a call, and what happens to those that are stuck or gone.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use rival_engine::{Clock, FunctionHosts, HostFigures};
use rival_script_host::frame::{CallId, ToHost, VirtualTime};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::call::HostCall;
use crate::error::ScriptsError;
use crate::host::{CallLoss, HostHandle, lock};
use crate::launch::launch;
use crate::realm::ScriptRealm;
use crate::settings::{Hosting, ScriptSettings};

/// How many hosts more than usual there may be while others are stuck.
const EXTRA: usize = 4;

/// How often the pool looks at hosts that have calls.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How many calls more another host may have before it is worthwhile to evaluate a file in one that does not have it: that
/// takes milliseconds, and megabytes for as long as the file is used.
const STRANGE: usize = 16;

/// From when on JavaScript that does not pause gets no new calls.
const SLOW: Duration = Duration::from_millis(100);

pub(crate) struct HostPool {
    pub(crate) settings: ScriptSettings,
    hosts: Mutex<Vec<Arc<HostHandle>>>,
    realms: AtomicU32,
    numbers: AtomicU32,
    /// The hosts were looked at.
    changed: Notify,
    /// The time of hosts in a test.
    virtual_time: Mutex<Option<VirtualTime>>,
    /// A host on a virtual clock has nothing to do.
    rest_changed: Arc<Notify>,
}

impl HostPool {
    pub(crate) fn new(settings: ScriptSettings) -> Arc<Self> {
        Self::on_clock(settings, None)
    }

    /// Hosts whose time [`HostPool::set_time`] moves.
    pub(crate) fn in_virtual_time(settings: ScriptSettings) -> Arc<Self> {
        let now_ms = Clock::System.now().0;
        Self::on_clock(settings, Some(VirtualTime { now_ms, timers_until_ms: now_ms }))
    }

    fn on_clock(settings: ScriptSettings, virtual_time: Option<VirtualTime>) -> Arc<Self> {
        if settings.hosting == Hosting::Threads {
            tracing::warn!(
                "scripts run on threads of this process: one that blocks or crashes cannot be contained. \
                 Call `rival_script::main_if_asked()` first in `main` to run them in child processes"
            );
        }
        let (realms, numbers) = Default::default();
        let pool = Arc::new(Self {
            settings,
            hosts: Mutex::default(),
            realms,
            numbers,
            changed: Notify::new(),
            virtual_time: Mutex::new(virtual_time),
            rest_changed: Arc::default(),
        });
        tokio::spawn(spawn_watch(Arc::downgrade(&pool)));
        pool
    }

    pub(crate) fn next_realm(&self) -> u32 {
        self.realms.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Begins something in a realm that is answered, on the host that has least to do.
    pub(crate) async fn begin(
        &self,
        realm: &ScriptRealm,
        frame: impl FnOnce(CallId) -> ToHost,
    ) -> Result<HostCall, ScriptsError> {
        let host = self.host(realm.id()).await?;
        host.teach(realm);
        Ok(host.begin(frame))
    }

    /// Moves the time of hosts in a test. A host that is started meanwhile begins with the one or is told the other: hosts are
    /// started under the lock.
    pub(crate) fn set_time(&self, time: VirtualTime) {
        let hosts = lock(&self.hosts);
        *lock(&self.virtual_time) = Some(time);
        hosts.iter().for_each(|host| host.send(&ToHost::Time(time)));
    }

    /// Nothing if something happens in hosts in a test without time passing. Else what differs when they were sent something
    /// since.
    pub(crate) fn rest_mark(&self) -> Option<u64> {
        lock(&self.hosts).iter().map(|host| host.rest_mark()).sum()
    }

    /// When the next timer of a call is due, in milliseconds since 1970.
    pub(crate) fn next_timer_ms(&self) -> Option<i64> {
        lock(&self.hosts).iter().filter_map(|host| host.next_timer_ms()).min()
    }

    /// Comes when a host has nothing to do, or is gone. It counts from now on, not from when it is first polled.
    pub(crate) fn rest_changed(&self) -> Notified<'_> {
        self.rest_changed.notified()
    }

    /// Tells all hosts to let go of a realm.
    pub(crate) fn drop_realm(&self, realm: u32) {
        for host in lock(&self.hosts).iter() {
            host.drop_realm(realm);
        }
    }

    /// The host with least to do, those that have the realm first; a new one if all are busy and there may be more. Waits
    /// while all are stuck.
    async fn host(&self, realm: u32) -> Result<Arc<HostHandle>, ScriptsError> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Registered first, looked second.
            changed.as_mut().enable();
            {
                let mut hosts = lock(&self.hosts);
                hosts.retain(|host| !host.is_gone());
                let usable = hosts.iter().filter(|host| !host.is_stuck() && !host.is_closed());
                let best = usable.clone().min_by_key(|host| host.cost_of(realm, STRANGE)).cloned();
                let is_enough = usable.count() >= self.settings.hosts;
                let is_full = hosts.len() >= self.settings.hosts + EXTRA;
                match best {
                    Some(best) if best.load() == 0 || is_enough || is_full => return Ok(best),
                    None if is_full => {}
                    Some(_) | None => {
                        let host = self.start()?;
                        hosts.push(Arc::clone(&host));
                        return Ok(host);
                    }
                }
            }
            changed.await;
        }
    }

    fn start(&self) -> Result<Arc<HostHandle>, ScriptsError> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let setup = ToHost::Setup {
            memory_limit: self.settings.memory_limit,
            env: self.settings.env.clone(),
            outgoing: self.settings.outgoing.clone(),
            virtual_time: *lock(&self.virtual_time),
        };
        let launched = launch(&self.settings.hosting, number);
        let host = launched
            .and_then(|launched| HostHandle::new(number, launched, &setup, Arc::clone(&self.rest_changed)));
        host.map_err(|error| ScriptsError::Host(error.to_string()))
    }

    fn watch_hosts(&self) {
        let hosts = lock(&self.hosts).clone();
        for host in &hosts {
            self.check_host(host);
        }
        // Callers that wait for a host look again: one may be free by now, or gone.
        self.changed.notify_waiters();
    }

    fn check_host(&self, host: &HostHandle) {
        if host.is_closed() && host.load() == 0 {
            return host.end();
        }
        if host.load() == 0 || host.silent_for() < SLOW {
            return host.set_stuck(false);
        }
        if let Some(seen) = host.sighting()
            && let Some(current) = seen.current
            && seen.at.elapsed() < 4 * POLL_INTERVAL
        {
            let computing = Duration::from_millis(seen.since_ms);
            host.set_stuck(computing >= SLOW);
            if computing >= self.settings.stuck_after && host.at_work() > 1 {
                tracing::warn!(
                    host = host.number,
                    ms = seen.since_ms,
                    "a script computes without a pause and holds up others: its host is replaced"
                );
                host.kill(current, CallLoss::Stuck);
            }
        }
        host.ping();
    }
}

/// Looks at the hosts for as long as there is a pool.
async fn spawn_watch(pool: Weak<HostPool>) {
    let mut look = tokio::time::interval(POLL_INTERVAL);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        look.tick().await;
        let Some(pool) = pool.upgrade() else { return };
        pool.watch_hosts();
    }
}

impl FunctionHosts for HostPool {
    fn figures(&self) -> HostFigures {
        let hosts: Vec<_> = lock(&self.hosts).iter().filter(|host| !host.is_gone()).cloned().collect();
        let (started, there) = (u64::from(self.numbers.load(Ordering::Relaxed)), hosts.len() as u64);
        HostFigures {
            hosts: there,
            restarts: started.saturating_sub(there),
            memory_bytes: hosts.iter().filter_map(|host| host.memory_bytes()).sum(),
        }
    }
}

impl Drop for HostPool {
    fn drop(&mut self) {
        for host in lock(&self.hosts).drain(..) {
            host.end();
        }
    }
}

impl std::fmt::Debug for HostPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostPool").field("settings", &self.settings).finish_non_exhaustive()
    }
}

#[cfg(all(test, target_os = "linux"))]
#[expect(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]
mod tests {
    use rival_core::event::CallRole;
    use rival_typescript::ModuleBounds;
    use serde_json::value::RawValue;

    use super::*;
    use crate::host::HostEvent;
    use crate::realm::{compile, name_of};

    const FLOW: &str = "export const name = 'flow'
export const steps = [function spins() { for (;;) {} }, function waits() { return new Promise(() => {}) }]";

    fn settings() -> ScriptSettings {
        let tests = std::env::current_exe().unwrap();
        let host = tests.parent().unwrap().parent().unwrap().join("rival-script-host");
        let stuck_after = Duration::from_secs(3600);
        ScriptSettings { hosts: 1, hosting: Hosting::Program(host), stuck_after, ..ScriptSettings::default() }
    }

    async fn loss(mut call: HostCall) -> CallLoss {
        loop {
            if let HostEvent::Lost(loss) = call.next().await {
                return loss;
            }
        }
    }

    /// A host that is killed while one call spins: those that wait beside it are not to blame.
    #[tokio::test]
    async fn only_the_call_at_work_is_suspect_when_a_host_dies() {
        let folder = tempfile::tempdir().unwrap();
        let root: Arc<std::path::Path> = folder.path().canonicalize().unwrap().into();
        let file = root.join("flow.ts");
        std::fs::write(&file, FLOW).unwrap();
        let pool = HostPool::new(settings());
        let program = compile(std::slice::from_ref(&file), &ModuleBounds::beneath([&*root]), None);
        let realm = ScriptRealm::new(&pool, &file, Arc::new(program), Arc::clone(&root));
        let host = pool.host(realm.id()).await.unwrap();
        host.teach(&realm);
        host.send(&realm.sources());
        let begin = |function: &str| {
            let frame = |id| ToHost::Call {
                id,
                realm: realm.id(),
                file: name_of(&file),
                workflow: "flow".to_owned(),
                function: function.to_owned(),
                role: CallRole::Step,
                cx: RawValue::from_string("{}".to_owned()).unwrap(),
                run: RawValue::NULL.to_owned(),
            };
            Arc::clone(&host).begin(frame)
        };
        let waiting = [begin("waits"), begin("waits")];
        let spinning = begin("spins");
        // The pool asks now and then.
        while host.sighting().is_none_or(|seen| seen.current != Some(3)) {
            tokio::task::yield_now().await;
        }
        host.kill_from_outside();
        assert_eq!(loss(spinning).await, CallLoss::Crash);
        for waits in waiting {
            assert_eq!(loss(waits).await, CallLoss::Bystander);
        }
    }
}
