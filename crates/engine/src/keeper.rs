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

use crate::mail::Mail;
use crate::shared::{Reserved, Shared};
use crate::{ahead, load};

/// How many runs are brought back from the store at once.
const CLAIM_MAX: usize = 256;

#[derive(Default)]
pub(crate) struct Keeper {
    near: Mutex<Near>,
    /// The earliest wake-up of a run without an owner; `None` until the store has been asked.
    far: Mutex<Far>,
    line: Line,
    /// Live runs whose functions may do nothing but wait.
    roomy: Mutex<HashSet<RunId>>,
    poked: Notify,
    /// One pass at a time.
    passing: tokio::sync::Mutex<()>,
    /// How many there have been.
    passes: AtomicU64,
}

/// Whether runs are queued, or due without a permit. More may come during a scan, so it counts.
#[derive(Default)]
struct Line(AtomicU64);

impl Line {
    fn join(&self) {
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |line| Some((line + 2) | 1)).ok();
    }

    fn is_there(&self) -> bool {
        self.look() & 1 == 1
    }

    fn look(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// The queue has not grown since `seen`: marks it as empty.
    fn dissolve(&self, seen: u64) {
        self.0.compare_exchange(seen, seen & !1, Ordering::AcqRel, Ordering::Acquire).ok();
    }
}

/// Moments of live runs.
#[derive(Default)]
struct Near {
    order: BTreeSet<(Time, RunId)>,
    of_run: HashMap<RunId, Time>,
}

#[derive(Clone, Copy, Default)]
enum Far {
    #[default]
    Unknown,
    At(Option<Time>),
}

impl Keeper {
    /// Sends a live run a tick at a time, unless an earlier one is scheduled.
    pub(crate) fn arm(&self, run: &RunId, at: Time) {
        let mut near = lock(&self.near);
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
            self.poke();
        }
    }

    /// A run is not live any more.
    pub(crate) fn disarm(&self, run: &RunId) {
        let mut roomy = lock(&self.roomy);
        if !roomy.is_empty() {
            roomy.remove(run);
        }
        drop(roomy);
        let mut near = lock(&self.near);
        if let Some(at) = near.of_run.remove(run) {
            near.order.remove(&(at, run.clone()));
        }
    }

    /// A run was given back to the store and is due at this moment.
    pub(crate) fn expect(&self, at: Option<Time>) {
        let Some(at) = at else { return };
        let mut far = lock(&self.far);
        if let Far::At(known) = *far
            && known.is_none_or(|known| at < known)
        {
            *far = Far::At(Some(at));
            drop(far);
            self.poke();
        }
    }

    /// Something in the store changed: look again.
    pub(crate) fn look_again(&self) {
        *lock(&self.far) = Far::Unknown;
        self.poke();
    }

    /// A run was queued.
    pub(crate) fn queued(&self) {
        self.line.join();
        self.poke();
    }

    /// A live run may have functions that do nothing but wait, and can be let go for others.
    pub(crate) fn may_make_room(&self, run: &RunId) {
        lock(&self.roomy).insert(run.clone());
    }

    pub(crate) fn wants_room(&self) -> bool {
        self.line.is_there()
    }

    pub(crate) fn poke(&self) {
        self.poked.notify_one();
    }

    /// The next moment of a live run.
    fn next_near(&self) -> Option<Time> {
        lock(&self.near).order.first().map(|(at, _)| *at)
    }

    /// The next moment that is known.
    fn next(&self) -> Option<Time> {
        let near = self.next_near();
        let far = match *lock(&self.far) {
            Far::Unknown => None,
            Far::At(at) => at,
        };
        [near, far].into_iter().flatten().min()
    }

    /// How often runs have been looked for.
    pub(crate) fn passes(&self) -> u64 {
        self.passes.load(Ordering::Acquire)
    }

    fn take_due(&self, now: Time) -> Vec<RunId> {
        let mut near = lock(&self.near);
        let mut due = Vec::new();
        while near.order.first().is_some_and(|(at, _)| *at <= now) {
            let Some((_, run)) = near.order.pop_first() else { break };
            near.of_run.remove(&run);
            due.push(run);
        }
        due
    }

    fn far_is_due(&self, now: Time) -> bool {
        match *lock(&self.far) {
            Far::Unknown => true,
            Far::At(at) => at.is_some_and(|at| at <= now),
        }
    }
}

/// Keeps time until the engine stops.
pub(crate) async fn keep(shared: Arc<Shared>) {
    while !shared.is_stopping() {
        let failed = pass(&shared).await.err();
        if let Some(error) = &failed {
            tracing::warn!(%error, "the store cannot be asked for due runs; trying again");
        }
        wait(&shared, failed.map(|_| Duration::from_millis(500))).await;
    }
}

/// The next moment at which there is something to do. Without room nothing can be brought back, however due it is; live
/// runs have their moments all the same.
pub(crate) fn next_moment(shared: &Shared) -> Option<Time> {
    if shared.is_short_of_room() { shared.keeper.next_near() } else { shared.keeper.next() }
}

async fn wait(shared: &Shared, pause: Option<Duration>) {
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
        () = shared.keeper.poked.notified() => {}
    }
}

/// Whether there are permits for runs that want one, or idle runs that may free some.
pub(crate) fn has_work(shared: &Shared) -> bool {
    let keeper = &shared.keeper;
    // The next pass tells a live run that its moment has come, and takes the moment away before the run has acted.
    if keeper.next_near().is_some_and(|at| at <= shared.clock.now()) {
        return true;
    }
    let wanted = keeper.wants_room() || keeper.far_is_due(shared.clock.now());
    wanted && (shared.room() > 0 || !lock(&keeper.roomy).is_empty())
}

/// Does everything that is due now, in a task of its own: a caller that goes away half-way leaves no claimed run
/// without an actor.
pub(crate) async fn pass_apart(shared: &Arc<Shared>) -> Result<(), StoreError> {
    let shared = Arc::clone(shared);
    tokio::spawn(async move { pass(&shared).await }).await.unwrap_or(Err(StoreError::Closed))
}

/// Does everything that is due now.
async fn pass(shared: &Arc<Shared>) -> Result<(), StoreError> {
    let _one = shared.keeper.passing.lock().await;
    // Runs that are being claimed are neither queued nor live: the scan counts as work in flight for them.
    shared.gauge.add();
    shared.keeper.passes.fetch_add(1, Ordering::AcqRel);
    let passed = pass_once(shared).await;
    shared.gauge.remove(1);
    passed
}

async fn pass_once(shared: &Arc<Shared>) -> Result<(), StoreError> {
    let now = shared.clock.now();
    for run in shared.keeper.take_due(now) {
        if let Some(mailbox) = shared.mailbox(&run) {
            mailbox.send(Mail::Tick);
        }
    }
    ahead::look(shared);
    bring_due(shared, now).await?;
    bring_queued(shared).await
}

async fn bring_due(shared: &Arc<Shared>, now: Time) -> Result<(), StoreError> {
    while shared.keeper.far_is_due(now) && !shared.is_stopping() {
        // Taken before the claim: a run that is started meanwhile must not take the same place.
        let places = shared.reserve(CLAIM_MAX);
        if places.count() == 0 {
            shared.keeper.line.join();
            make_room(shared);
            return Ok(());
        }
        let claims = shared.store.claim_due(shared.id, now, places.count()).await?;
        let more = claims.len() == places.count();
        activate(shared, claims, places);
        if !more {
            // Runs that were given back since are in the store too, so this cannot miss one.
            *lock(&shared.keeper.far) = Far::At(None);
            let next =
                shared.store.next_wake().await.inspect_err(|_| *lock(&shared.keeper.far) = Far::Unknown)?;
            let mut far = lock(&shared.keeper.far);
            *far = match *far {
                Far::Unknown => Far::Unknown,
                Far::At(expected) => Far::At([expected, next].into_iter().flatten().min()),
            };
            return Ok(());
        }
    }
    Ok(())
}

async fn bring_queued(shared: &Arc<Shared>) -> Result<(), StoreError> {
    while shared.keeper.wants_room() && !shared.is_stopping() {
        let places = shared.reserve(CLAIM_MAX);
        if places.count() == 0 {
            make_room(shared);
            return Ok(());
        }
        // While the queue is marked, new runs join it, so that none overtakes those that are being claimed.
        let seen = shared.keeper.line.look();
        let claims = shared.store.claim_queued(shared.id, places.count()).await?;
        let all = claims.len() < places.count();
        activate(shared, claims, places);
        if all {
            shared.keeper.line.dissolve(seen);
        }
        if shared.keeper.far_is_due(shared.clock.now()) {
            shared.keeper.poke();
            return Ok(());
        }
    }
    Ok(())
}

/// Asks live runs to let go of functions that only wait: they may wait for those who find no room.
fn make_room(shared: &Arc<Shared>) {
    // Not in the loop's head: the lock would be held through the loop.
    let roomy = std::mem::take(&mut *lock(&shared.keeper.roomy));
    for run in roomy {
        if let Some(mailbox) = shared.mailbox(&run) {
            mailbox.send(Mail::MakeRoom);
        }
    }
}

fn activate(shared: &Arc<Shared>, claims: Vec<Claim>, mut places: Reserved) {
    for claim in claims {
        let place = places.take().unwrap_or_else(|| shared.admit());
        load::activate(shared, claim, place, None);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
