//! The lists that the forEach blocks of a live run go through.
//!
//! A list is cut into its items once, not for each of them: a forEach costs as much for its last item as for its
//! first.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use rival_core::event::Role;
use rival_core::plan::{LoopTest, NodeKind};
use rival_core::{NodeStatus, Path, Seq, State, Value};
use serde_json::value::RawValue;

use crate::actor::Actor;
use crate::context::IterationContext;
use crate::values::{ReadError, Recorded};

/// A list, cut into its items.
pub(crate) struct ItemList {
    list: Value,
    items: Vec<Range<usize>>,
}

impl ItemList {
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
pub(crate) type Lists = HashMap<Seq, Arc<ItemList>>;

/// Where a function stands in the loops around it.
pub(crate) struct Standpoint {
    /// In the nearest loop or forEach.
    index: u32,
    /// The list of the nearest forEach, and which of its items it is.
    item: Option<(Arc<ItemList>, u32)>,
    all: bool,
    /// The result of the iteration before, in the nearest loop.
    pub(crate) last: Option<Recorded>,
}

impl Standpoint {
    /// What the function is told; what it refers to must be at hand.
    pub(crate) fn context(self) -> IterationContext {
        let item = self.item.as_ref();
        IterationContext {
            index: self.index,
            item: item.and_then(|(list, index)| list.item(*index)),
            items: item.filter(|_| self.all).map(|(list, _)| list.list.clone()),
            last: self.last.as_ref().and_then(Recorded::value),
        }
    }
}

impl Actor {
    /// The loops and forEach blocks around a function, the nearest first, and which iteration it is in. For a loop's
    /// test that is the one that has just ended, or with `while` the one that would begin.
    fn iterations_of(&self, node: &Path, role: Role) -> impl Iterator<Item = (Path, u32)> {
        let own = (role == Role::Test).then(|| {
            let lanes = self.state.node(node).and_then(|node| node.lanes.as_ref());
            let next = lanes.map_or(0, |lanes| lanes.next);
            (node.clone(), if self.is_while(node) { next } else { next.saturating_sub(1) })
        });
        own.into_iter().chain(node.around().filter_map(|path| path.as_iteration()))
    }

    fn is_while(&self, node: &Path) -> bool {
        self.plan.node(node).is_some_and(
            |node| matches!(&node.node().kind, NodeKind::Loop(each) if matches!(each.test, LoopTest::While(_))),
        )
    }

    /// Brings the list to hand that a function's item is from.
    pub(crate) async fn bring_items(&mut self, node: &Path, role: Role) -> Result<(), ReadError> {
        let Some((seq, _)) = self.item_of(node, role) else { return Ok(()) };
        if self.lists.contains_key(&seq) {
            return Ok(());
        }
        let mut recorded = self.recorded(seq);
        recorded.fetch(&*self.shared.store, &self.run).await?;
        // Those of blocks that have ended are not asked for any more.
        let state = &self.state;
        self.lists.retain(|seq, _| is_in_use(state, *seq));
        let list = recorded.value().unwrap_or_default();
        self.lists.insert(seq, Arc::new(ItemList::new(list)));
        Ok(())
    }

    /// The list of the nearest forEach around a function, and which item is its own.
    fn item_of(&self, node: &Path, role: Role) -> Option<(Seq, u32)> {
        let mut iterations = self.iterations_of(node, role);
        iterations.find_map(|(each, index)| Some((self.state.node(&each)?.items?, index)))
    }

    /// Where a function stands; its list must be at hand.
    pub(crate) fn standpoint(&self, node: &Path, role: Role, all: bool) -> Option<Standpoint> {
        let (_, index) = self.iterations_of(node, role).next()?;
        let item = self.item_of(node, role);
        let item = item.and_then(|(seq, index)| Some((Arc::clone(self.lists.get(&seq)?), index)));
        let mut loops = self.iterations_of(node, role).filter_map(|(each, _)| self.state.node(&each));
        let nearest = loops.find(|node| node.items.is_none());
        let last = nearest.and_then(|node| node.lanes.as_ref()).and_then(|lanes| lanes.last);
        Some(Standpoint { index, item, all, last: last.map(|seq| self.recorded(seq)) })
    }
}

fn is_in_use(state: &State, list: Seq) -> bool {
    let open = state.supervising.iter().filter_map(|path| state.node(path));
    open.filter(|node| node.status == NodeStatus::Running).any(|node| node.items == Some(list))
}
