//! The lists that the forEach blocks of a live run go through.
//!
//! A list is cut into its items once, not for each of them: a forEach costs as much for its last item as for its
//! first.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use rival_core::event::CallRole;
use rival_core::plan::{LoopTest, NodeKind};
use rival_core::{Path, RunState, Seq, Value};
use serde_json::value::RawValue;

use crate::call::context::IterationContext;
use crate::call::values::{ReadError, RecordedValue};
use crate::run::actor::Actor;

/// A list, cut into its items.
pub(crate) struct CutList {
    list: Value,
    items: Vec<Range<usize>>,
}

impl CutList {
    pub(crate) fn new(list: Value) -> Self {
        let text = list.as_json();
        let items: Vec<&RawValue> = list.decode().unwrap_or_default();
        let place = |item: &&RawValue| {
            let start = item.get().as_ptr().addr() - text.as_ptr().addr();
            start..start + item.get().len()
        };
        let items = items.iter().map(place).collect();
        Self { list, items }
    }

    fn item(&self, index: u32) -> Option<Value> {
        let range = self.items.get(usize::try_from(index).ok()?)?.clone();
        Some(Value::from_json(self.list.as_json()[range].to_owned()).expect("an item of JSON is JSON"))
    }
}

/// The lists at hand, by the event that holds each.
#[derive(Default)]
pub(crate) struct CutLists {
    lists: HashMap<Seq, Arc<CutList>>,
    /// How many there may be before those that are not in use are dropped.
    room: usize,
}

impl CutLists {
    fn get(&self, seq: Seq) -> Option<&Arc<CutList>> {
        self.lists.get(&seq)
    }

    fn insert(&mut self, seq: Seq, list: CutList, state: &RunState) {
        if self.lists.len() >= self.room {
            let open = state.index().supervising.iter().filter_map(|path| state.node(path)?.items);
            let in_use: HashSet<Seq> = open.collect();
            self.lists.retain(|seq, _| in_use.contains(seq));
            // Twice as many as are in use, so that looking for them costs each list the same.
            self.room = 4.max(2 * self.lists.len());
        }
        self.lists.insert(seq, Arc::new(list));
    }
}

/// Where a function stands in the loops around it.
pub(crate) struct LoopPosition {
    /// In the nearest loop or forEach.
    index: u32,
    /// The list of the nearest forEach, and which of its items it is.
    item: Option<(Arc<CutList>, u32)>,
    all: bool,
    /// The result of the iteration before, in the nearest loop.
    pub(crate) last: Option<RecordedValue>,
}

impl LoopPosition {
    /// What the function is told; what it refers to must be at hand.
    pub(crate) fn context(self) -> IterationContext {
        let item = self.item.as_ref();
        IterationContext {
            index: self.index,
            item: item.and_then(|(list, index)| list.item(*index)),
            items: item.filter(|_| self.all).map(|(list, _)| list.list.clone()),
            last: self.last.as_ref().and_then(RecordedValue::value),
        }
    }
}

impl Actor {
    /// The loops and forEach blocks around a function, the nearest first, and which iteration it is in. For a loop's
    /// test that is the one that has just ended, or with `while` the one that would begin.
    fn iterations_of(&self, node: &Path, role: CallRole) -> impl Iterator<Item = (Path, u32)> {
        let own = (role == CallRole::Test).then(|| {
            let lanes = self.state.node(node).and_then(|node| node.lanes.as_ref());
            let next = lanes.map_or(0, |lanes| lanes.next);
            (node.clone(), if self.is_while(node) { next } else { next.saturating_sub(1) })
        });
        own.into_iter().chain(node.around().filter_map(|path| path.as_iteration()))
    }

    fn is_while(&self, node: &Path) -> bool {
        self.links.plan.node(node).is_some_and(
            |node| matches!(&node.node().kind, NodeKind::Loop(each) if matches!(each.test, LoopTest::While(_))),
        )
    }

    /// Brings the list to hand that a function's item is from.
    pub(crate) async fn bring_items(&mut self, node: &Path, role: CallRole) -> Result<(), ReadError> {
        let Some((seq, _)) = self.item_of(node, role) else { return Ok(()) };
        if self.lists.get(seq).is_some() {
            return Ok(());
        }
        let mut recorded = self.recorded(seq);
        let (store, max) = (self.shared.store.get()?, self.shared.limits.payload_max);
        let mut retry = self.shared.store_retry(&self.links.run, "the items cannot be read");
        while let Err(error) = recorded.fetch(&*store, &self.links.run, max).await {
            retry.after(error).await?;
        }
        let list = CutList::new(recorded.value().unwrap_or_default());
        self.lists.insert(seq, list, &self.state);
        Ok(())
    }

    /// The list of the nearest forEach around a function, and which item is its own.
    fn item_of(&self, node: &Path, role: CallRole) -> Option<(Seq, u32)> {
        let mut iterations = self.iterations_of(node, role);
        iterations.find_map(|(each, index)| Some((self.state.node(&each)?.items?, index)))
    }

    /// Where a function stands; its list must be at hand.
    pub(crate) fn standpoint(&self, node: &Path, role: CallRole, all: bool) -> Option<LoopPosition> {
        let (_, index) = self.iterations_of(node, role).next()?;
        let item = self.item_of(node, role);
        let item = item.and_then(|(seq, index)| Some((Arc::clone(self.lists.get(seq)?), index)));
        let mut loops = self.iterations_of(node, role).filter_map(|(each, index)| {
            self.state.node(&each).filter(|node| node.items.is_none()).map(|node| (node, index))
        });
        // Only the iteration that is under way, or that is tested, can be told what the one before it left.
        let nearest = loops.next().and_then(|(node, index)| Some((node.lanes.as_ref()?, index)));
        let current = nearest.filter(|(lanes, index)| role == CallRole::Test || lanes.next == *index);
        let last = current.and_then(|(lanes, _)| lanes.last);
        Some(LoopPosition { index, item, all, last: last.map(|seq| self.recorded(seq)) })
    }
}
