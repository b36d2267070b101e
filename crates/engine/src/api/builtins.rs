//! Built-in functions that come and go while runs need them.

use std::collections::BTreeSet;

use rival_core::{PlanHash, RunStatus};
use rival_store::{Page, RunFilter, StoreError};

use crate::api::engine::Engine;
use crate::run::mailbox::{ActorMessage, Mailbox};

/// How many blocked runs are read from the store at once.
const PAGE: usize = 1_000;

impl Engine {
    /// Says that built-in functions have changed: one that was missing may be there, or one may be another. Functions are
    /// bound again at their next call, and nodes that are blocked because one was missing are looked at again.
    pub async fn builtins_changed(&self) -> Result<(), StoreError> {
        // First of all: a run that blocks now sees that it has to look again.
        self.shared.builtins.change();
        let live: Vec<Mailbox> = self.shared.live().values().cloned().collect();
        live.iter().for_each(|mailbox| _ = mailbox.send(ActorMessage::BuiltinsChanged));
        self.wake_for_builtins().await
    }

    /// Wakes blocked runs whose plans have built-in functions. Their workflows need not be registered.
    pub(crate) async fn wake_for_builtins(&self) -> Result<(), StoreError> {
        let store = self.shared.store.get()?;
        let mut workflows = BTreeSet::new();
        for (workflow, hash) in self.blocked_plans().await? {
            // One that does not read has its reason in its row, and needs other help.
            let plan = self.shared.plan(&workflow, &hash).await;
            if plan.is_ok_and(|plan| plan.is_some_and(|plan| plan.has_builtins())) {
                workflows.insert(workflow);
            }
        }
        for workflow in &workflows {
            store.wake_blocked(workflow, self.shared.clock.now()).await?;
        }
        if !workflows.is_empty() {
            self.shared.scheduler.rescan();
        }
        Ok(())
    }

    async fn blocked_plans(&self) -> Result<BTreeSet<(String, PlanHash)>, StoreError> {
        let store = self.shared.store.get()?;
        let filter = RunFilter { statuses: vec![RunStatus::Blocked], ..RunFilter::default() };
        let (mut plans, mut page) = (BTreeSet::new(), Page { before: None, limit: PAGE });
        loop {
            let rows = store.runs(&filter, &page).await?;
            let Some(last) = rows.last() else { return Ok(plans) };
            page.before = Some(last.no);
            plans.extend(rows.into_iter().map(|row| (row.workflow, row.plan)));
        }
    }
}
