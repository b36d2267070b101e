//! What an engine knows of how much there is, for graphs and alerts: in its store, and of the processes that run functions
//! for it.

use std::sync::{Mutex, PoisonError, Weak};

use rival_store::StoreFigures;

use crate::api::engine::Engine;
use crate::api::error::RunError;

/// Processes that run functions for an engine, such as script hosts.
pub trait FunctionHosts: Send + Sync + 'static {
    /// How they are now.
    fn figures(&self) -> HostFigures;
}

/// How processes that run functions are doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostFigures {
    /// How many there are now.
    pub hosts: u64,
    /// How many have ended since the beginning: they crashed, were stuck, or had outgrown their memory. Others take their
    /// place when there is something to do.
    pub restarts: u64,
    /// How many bytes they have in memory, where the system says so.
    pub memory_bytes: u64,
}

/// The hosts that an engine knows of, for as long as they are there.
#[derive(Default)]
pub(crate) struct HostList(Mutex<Vec<Weak<dyn FunctionHosts>>>);

impl Engine {
    /// How much is in the store now. Asking walks over an index of all runs: keep the answer for a while.
    pub async fn store_figures(&self) -> Result<StoreFigures, RunError> {
        Ok(self.shared.store.get()?.figures(self.shared.clock.now()).await?)
    }

    /// Takes note of processes that run functions for this engine. Telling it twice is as telling it once.
    pub fn add_hosts(&self, hosts: Weak<dyn FunctionHosts>) {
        let mut known = self.shared.hosts.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|other| other.strong_count() > 0);
        if !known.iter().any(|other| other.ptr_eq(&hosts)) {
            known.push(hosts);
        }
    }

    /// How all processes are doing that run functions for this engine; `None` if there never were any.
    pub fn host_figures(&self) -> Option<HostFigures> {
        let known = self.shared.hosts.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let figures = known.iter().filter_map(Weak::upgrade).map(|hosts| hosts.figures());
        figures.reduce(|one, other| HostFigures {
            hosts: one.hosts + other.hosts,
            restarts: one.restarts + other.restarts,
            memory_bytes: one.memory_bytes + other.memory_bytes,
        })
    }
}
