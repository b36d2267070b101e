//! Keeps the engine's time: wakes live runs at their moments, and brings sleeping and queued runs back
//! from the store.
//!
//! Near moments of live runs are in memory; all others are in the store, and only the earliest of them is
//! known here. So the cost is that of what is due, not of what is asleep.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rival_core::{RunId, Time};
use rival_store::{Claim, StoreError};
use tokio::sync::Notify;

use crate::run::load;
use crate::run::mailbox::ActorMessage;
use crate::schedule::clock_review;
use crate::schedule::shared::{EngineShared, ReservedPermits};

/// How many runs are brought back from the store at once.
const CLAIM_MAX: usize = 256;

#[derive(Default)]
pub(crate) struct Scheduler {
    live_timers: Mutex<LiveTimers>,
    /// The earliest wake-up of a run without an owner; `None` until the store has been asked.
    stored_wake: Mutex<StoredWake>,
    admission_queue: AdmissionQueue,
    /// Live runs whose functions may do nothing but wait.
    evictable: Mutex<HashSet<RunId>>,
    woken: Notify,
    /// One pass at a time.
    scan_lock: tokio::sync::Mutex<()>,
    /// How many there have been.
    scans: AtomicU64,
}

/// Whether runs are queued, or due without a permit. More may come during a scan, so it counts.
#[derive(Default)]
struct AdmissionQueue(AtomicU64);

impl AdmissionQueue {
    fn mark(&self) {
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |line| Some((line + 2) | 1)).ok();
    }

    fn is_marked(&self) -> bool {
        self.mark_count() & 1 == 1
    }

    fn mark_count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// The queue has not grown since `seen`: marks it as empty.
    fn clear_if_unchanged(&self, seen: u64) {
        self.0.compare_exchange(seen, seen & !1, Ordering::AcqRel, Ordering::Acquire).ok();
    }
}

/// Moments of live runs.
#[derive(Default)]
struct LiveTimers {
    order: BTreeSet<(Time, RunId)>,
    of_run: HashMap<RunId, Time>,
}

#[derive(Clone, Copy, Default)]
enum StoredWake {
    #[default]
    Unknown,
    At(Option<Time>),
}

impl Scheduler {
    /// Sends a live run a tick at a time, unless an earlier one is scheduled.
    pub(crate) fn schedule_tick(&self, run: &RunId, at: Time) {
        let mut near = lock(&self.live_timers);
        match near.of_run.get(run) {
            Some(armed) if *armed <= at => return,
            Some(armed) => {
                let later = (*armed, run.clone());
                near.order.remove(&later);
            }
            None => {}
        }
        near.of_run.insert(run.clone(), at);
        near.order.insert((at, run.clone()));
        let first = near.order.first().is_some_and(|(_, first)| first == run);
        drop(near);
        if first {
            self.wake();
        }
    }

    /// A run is not live any more.
    pub(crate) fn forget_run(&self, run: &RunId) {
        let mut evictable = lock(&self.evictable);
        if !evictable.is_empty() {
            evictable.remove(run);
        }
        drop(evictable);
        let mut near = lock(&self.live_timers);
        if let Some(at) = near.of_run.remove(run) {
            near.order.remove(&(at, run.clone()));
        }
    }

    /// A run was given back to the store and is due at this moment.
    pub(crate) fn note_wake(&self, at: Option<Time>) {
        let Some(at) = at else { return };
        let mut far = lock(&self.stored_wake);
        if let StoredWake::At(known) = *far
            && known.is_none_or(|known| at < known)
        {
            *far = StoredWake::At(Some(at));
            drop(far);
            self.wake();
        }
    }

    /// Something in the store changed: look again.
    pub(crate) fn rescan(&self) {
        *lock(&self.stored_wake) = StoredWake::Unknown;
        self.wake();
    }

    /// A run was queued.
    pub(crate) fn run_queued(&self) {
        self.admission_queue.mark();
        self.wake();
    }

    /// A live run may have functions that do nothing but wait, and can be suspended for others.
    pub(crate) fn mark_evictable(&self, run: &RunId) {
        lock(&self.evictable).insert(run.clone());
    }

    pub(crate) fn has_admission_queue(&self) -> bool {
        self.admission_queue.is_marked()
    }

    pub(crate) fn wake(&self) {
        self.woken.notify_one();
    }

    /// The next moment of a live run.
    fn next_live_timer(&self) -> Option<Time> {
        lock(&self.live_timers).order.first().map(|(at, _)| *at)
    }

    /// The next moment that is known.
    fn next(&self) -> Option<Time> {
        let near = self.next_live_timer();
        let far = match *lock(&self.stored_wake) {
            StoredWake::Unknown => None,
            StoredWake::At(at) => at,
        };
        [near, far].into_iter().flatten().min()
    }

    /// How often runs have been looked for.
    pub(crate) fn scans(&self) -> u64 {
        self.scans.load(Ordering::Acquire)
    }

    fn take_due(&self, now: Time) -> Vec<RunId> {
        let mut near = lock(&self.live_timers);
        let mut due = Vec::new();
        while near.order.first().is_some_and(|(at, _)| *at <= now) {
            let Some((_, run)) = near.order.pop_first() else { break };
            near.of_run.remove(&run);
            due.push(run);
        }
        due
    }

    fn is_stored_wake_due(&self, now: Time) -> bool {
        match *lock(&self.stored_wake) {
            StoredWake::Unknown => true,
            StoredWake::At(at) => at.is_some_and(|at| at <= now),
        }
    }
}

/// Keeps time until the engine stops.
pub(crate) async fn run_scheduler(shared: Arc<EngineShared>) {
    while !shared.is_stopping() {
        let failed = scan(&shared).await.err();
        if let Some(error) = &failed {
            tracing::warn!(%error, "the store cannot be asked for due runs; trying again");
        }
        wait(&shared, failed.map(|_| Duration::from_millis(500))).await;
    }
}

/// The next moment at which there is something to do. Without room nothing can be brought back, however due it is; live
/// runs have their moments all the same.
pub(crate) fn next_moment(shared: &EngineShared) -> Option<Time> {
    if shared.is_short_of_room() { shared.scheduler.next_live_timer() } else { shared.scheduler.next() }
}

async fn wait(shared: &EngineShared, pause: Option<Duration>) {
    let next = next_moment(shared);
    let moment = async {
        match (pause, next) {
            (Some(pause), _) => tokio::time::sleep(pause).await,
            (None, Some(next)) => shared.clock.until(next).await,
            (None, None) => std::future::pending().await,
        }
    };
    let trusted = async {
        match shared.is_review_due() {
            true => shared.clock.until_trusted().await,
            false => std::future::pending().await,
        }
    };
    tokio::select! {
        () = moment => {}
        () = trusted => {}
        () = shared.scheduler.woken.notified() => {}
    }
}

/// Whether there are permits for runs that want one, or idle runs that may free some.
pub(crate) fn has_work(shared: &EngineShared) -> bool {
    let scheduler = &shared.scheduler;
    // The next pass tells a live run that its moment has come, and takes the moment away before the run has acted.
    if scheduler.next_live_timer().is_some_and(|at| at <= shared.clock.now()) {
        return true;
    }
    let wanted = scheduler.has_admission_queue() || scheduler.is_stored_wake_due(shared.clock.now());
    wanted && (shared.room() > 0 || !lock(&scheduler.evictable).is_empty())
}

/// Does everything that is due now, in a task of its own: a caller that goes away half-way leaves no claimed run
/// without an actor.
pub(crate) async fn scan_in_task(shared: &Arc<EngineShared>) -> Result<(), StoreError> {
    let shared = Arc::clone(shared);
    tokio::spawn(async move { scan(&shared).await }).await.unwrap_or(Err(StoreError::Closed))
}

/// Does everything that is due now.
async fn scan(shared: &Arc<EngineShared>) -> Result<(), StoreError> {
    let _one = shared.scheduler.scan_lock.lock().await;
    // Runs that are being claimed are neither queued nor live: the scan counts as work in flight for them.
    shared.in_flight.add();
    shared.scheduler.scans.fetch_add(1, Ordering::AcqRel);
    let passed = scan_once(shared).await;
    shared.in_flight.remove(1);
    passed
}

async fn scan_once(shared: &Arc<EngineShared>) -> Result<(), StoreError> {
    let now = shared.clock.now();
    for run in shared.scheduler.take_due(now) {
        if let Some(mailbox) = shared.mailbox(&run) {
            mailbox.send(ActorMessage::Tick);
        }
    }
    clock_review::look(shared);
    bring_due(shared, now).await?;
    bring_queued(shared).await
}

async fn bring_due(shared: &Arc<EngineShared>, now: Time) -> Result<(), StoreError> {
    while shared.scheduler.is_stored_wake_due(now) && !shared.is_stopping() {
        // Taken before the claim: a run that is started meanwhile must not take the same permit.
        let permits = shared.reserve(CLAIM_MAX);
        if permits.count() == 0 {
            shared.scheduler.admission_queue.mark();
            make_room(shared);
            return Ok(());
        }
        let claims = shared.store.get()?.claim_due(shared.id, now, permits.count()).await?;
        let more = claims.len() == permits.count();
        activate(shared, claims, permits);
        if !more {
            // Runs that were given back since are in the store too, so this cannot miss one.
            *lock(&shared.scheduler.stored_wake) = StoredWake::At(None);
            let next = async { shared.store.get()?.next_wake().await };
            let unknown = |_: &StoreError| *lock(&shared.scheduler.stored_wake) = StoredWake::Unknown;
            let next = next.await.inspect_err(unknown)?;
            let mut far = lock(&shared.scheduler.stored_wake);
            *far = match *far {
                StoredWake::Unknown => StoredWake::Unknown,
                StoredWake::At(expected) => StoredWake::At([expected, next].into_iter().flatten().min()),
            };
            return Ok(());
        }
    }
    Ok(())
}

async fn bring_queued(shared: &Arc<EngineShared>) -> Result<(), StoreError> {
    while shared.scheduler.has_admission_queue() && !shared.is_stopping() {
        let permits = shared.reserve(CLAIM_MAX);
        if permits.count() == 0 {
            make_room(shared);
            return Ok(());
        }
        // While the queue is marked, new runs join it, so that none overtakes those that are being claimed.
        let seen = shared.scheduler.admission_queue.mark_count();
        let claims = shared.store.get()?.claim_queued(shared.id, permits.count()).await?;
        let all = claims.len() < permits.count();
        activate(shared, claims, permits);
        if all {
            shared.scheduler.admission_queue.clear_if_unchanged(seen);
        }
        if shared.scheduler.is_stored_wake_due(shared.clock.now()) {
            shared.scheduler.wake();
            return Ok(());
        }
    }
    Ok(())
}

/// Asks live runs to suspend functions that only wait: they may wait for runs that find no permit.
fn make_room(shared: &Arc<EngineShared>) {
    // Not in the loop's head: the lock would be held through the loop.
    let evictable = std::mem::take(&mut *lock(&shared.scheduler.evictable));
    for run in evictable {
        if let Some(mailbox) = shared.mailbox(&run) {
            mailbox.send(ActorMessage::SuspendIdle);
        }
    }
}

fn activate(shared: &Arc<EngineShared>, claims: Vec<Claim>, mut permits: ReservedPermits) {
    for claim in claims {
        let permit = permits.take().unwrap_or_else(|| shared.admit());
        load::activate(shared, claim, permit, None);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
