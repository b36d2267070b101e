//! Whether a refusal rests on what the left side states.
//!
//! An instance may have parts about which the left side says nothing. If the right side would take other values there, the
//! refusal proves nothing.

use serde_json::{Value, json};

use super::WitnessSearch;
use super::refusal::chosen;
use crate::judge::ValueJudgement;
use crate::kinds::KindSet;
use crate::node::NodeId;
use crate::path::PathSegment;
use crate::workspace::{NodeSet, Workspace};

/// Parts inside of parts that are looked at.
const DEPTH_MAX: usize = 20;

impl WitnessSearch {
    pub(super) fn is_refused_for_what_is_stated(
        &mut self,
        left: &NodeSet,
        to: NodeId,
        value: &Value,
    ) -> bool {
        let mut places = Vec::new();
        unstated(&mut self.comparison.space, left, value, &mut Vec::new(), &mut places);
        if places.is_empty() {
            return true;
        }
        let fillers = [json!(null), json!(true), json!(0), json!(""), json!([]), json!({})];
        let put = |filler: &Value| filled(value, &places, |_| PlaceChange::Put(filler.clone()));
        let mut others: Vec<Value> = fillers.iter().map(put).collect();
        let both = self.comparison.space.with(left, to);
        for agreed in self.samples(&both) {
            let changes: Vec<PlaceChange> =
                places.iter().map(|path| self.change(left, to, &agreed, path)).collect();
            let change = |path: &[PathSegment]| {
                let at = places.iter().position(|it| it == path);
                at.map_or(PlaceChange::Keep, |at| changes[at].clone())
            };
            others.push(filled(value, &places, change));
        }
        others.iter().all(|other| self.comparison.space.judge(to, other) == ValueJudgement::Refused)
    }
}

/// What is done with a place.
#[derive(Clone)]
enum PlaceChange {
    Put(Value),
    Remove,
    Keep,
}

impl WitnessSearch {
    /// What the right side may take in a place: what an agreed instance has there, or nothing. A property that the left side
    /// declares without a name stays, with a value that the right side takes if there is one.
    fn change(&mut self, left: &NodeSet, to: NodeId, agreed: &Value, path: &[PathSegment]) -> PlaceChange {
        if let Some(part) = part_at(agreed, path) {
            return PlaceChange::Put(part.clone());
        }
        let [PathSegment::Key(name)] = path else { return PlaceChange::Remove };
        let space = &mut self.comparison.space;
        let view = space.view(left);
        let is_declared = view.nodes.iter().any(|id| space.property(*id, name).declared);
        if !is_declared {
            return PlaceChange::Remove;
        }
        let wanted = space.set(space.property(to, name).nodes);
        self.samples(&wanted).into_iter().next().map_or(PlaceChange::Keep, PlaceChange::Put)
    }
}

/// The places in a value about whose kind the schemas say nothing.
fn unstated(
    space: &mut Workspace,
    set: &NodeSet,
    value: &Value,
    path: &mut Vec<PathSegment>,
    places: &mut Vec<Vec<PathSegment>>,
) {
    let set = chosen(space, set, value);
    let view = space.view(&set);
    if !KindSet::of_value(value).within(view.stated) {
        return places.push(path.clone());
    }
    // What is listed is stated as a whole.
    if view.values.is_some() || path.len() >= DEPTH_MAX {
        return;
    }
    let parts: Vec<(PathSegment, NodeSet, &Value)> = match value {
        Value::Object(map) => {
            let part =
                |(name, part)| (PathSegment::Key(String::clone(name)), view.property(space, name), part);
            map.iter().map(part).collect()
        }
        Value::Array(items) => {
            let part = |(index, part)| (PathSegment::Index(index), view.item(space, index), part);
            items.iter().enumerate().map(part).collect()
        }
        _ => return,
    };
    for (segment, set, part) in parts {
        path.push(segment);
        unstated(space, &set, part, path, places);
        path.pop();
    }
}

/// The value with its places changed.
fn filled(
    value: &Value,
    places: &[Vec<PathSegment>],
    change: impl Fn(&[PathSegment]) -> PlaceChange,
) -> Value {
    let mut changed = value.clone();
    // From the last on, so that an element that goes moves none that is still to come.
    for path in places.iter().rev() {
        let Some((last, around)) = path.split_last() else {
            if let PlaceChange::Put(filler) = change(path) {
                changed = filler;
            }
            continue;
        };
        let around = around.iter().try_fold(&mut changed, |value, segment| match segment {
            PathSegment::Key(key) => value.get_mut(key),
            PathSegment::Index(index) => value.get_mut(index),
            PathSegment::AnyKey | PathSegment::AnyIndex => None,
        });
        match (around, last, change(path)) {
            (Some(Value::Object(map)), PathSegment::Key(key), PlaceChange::Put(filler)) => {
                map.insert(key.clone(), filler);
            }
            (Some(Value::Object(map)), PathSegment::Key(key), PlaceChange::Remove) => {
                map.remove(key);
            }
            (Some(Value::Array(items)), PathSegment::Index(at), PlaceChange::Put(filler)) => {
                items[*at] = filler;
            }
            (Some(Value::Array(items)), PathSegment::Index(at), PlaceChange::Remove) => {
                items.remove(*at);
            }
            _ => {}
        }
    }
    changed
}

/// The part of a value at a path.
pub(crate) fn part_at<'a>(value: &'a Value, path: &[PathSegment]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, segment| match segment {
        PathSegment::Key(key) => value.get(key),
        PathSegment::Index(index) => value.get(index),
        PathSegment::AnyKey | PathSegment::AnyIndex => None,
    })
}
