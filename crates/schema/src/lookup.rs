//! The schema at a path.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use crate::flat::FlatView;
use crate::kinds::KindSet;
use crate::nearest::nearest;
use crate::node::{NodeId, SchemaNode};
use crate::path::{PathSegment, path_text};
use crate::prove::SchemaComparison;
use crate::schema::JsonSchema;
use crate::workspace::{NodeSet, Workspace};

/// Units of work for one path.
const WORK_MAX: u64 = 60_000;

/// Members of unions that are followed at once.
const MEMBERS_MAX: usize = 200;

/// What a schema says of a place inside of its values.
#[derive(Clone, Debug)]
pub enum SchemaLookup {
    /// There may be a value.
    Found {
        /// What it is, if it is there.
        schema: JsonSchema,
        /// Whether it may be absent.
        optional: bool,
    },
    /// There is none that the schema knows of.
    Missing {
        /// Why.
        why: String,
        /// The declared name that was probably meant.
        nearest: Option<String>,
        /// Whether the schema excludes such a value. Otherwise it only does not declare it.
        excluded: bool,
    },
    /// The schema does not say.
    Unknown {
        /// Why.
        why: String,
    },
}

/// What one alternative says of one step.
enum StepOutcome {
    Found { set: NodeSet, optional: bool },
    Missing { why: String, excluded: bool },
    Unknown { why: String },
}

/// The schema of the value at the end of a path.
///
/// Through a union, the value is of any member that has the place; where a member lacks it, or is no object or list, the value
/// is optional. An element of a list is optional unless the list is long enough. An index on an object is a key, and a key
/// that is a number is an index on a list.
pub fn schema_at(schema: &JsonSchema, path: &[PathSegment]) -> SchemaLookup {
    if path.is_empty() {
        return SchemaLookup::Found { schema: schema.clone(), optional: false };
    }
    let mut space = Workspace::new(WORK_MAX);
    let root = space.import(schema);
    let mut sets = vec![space.set([root])];
    let mut walk = PathWalk { comparison: SchemaComparison::new(space), optional: false };
    for (at, segment) in path.iter().enumerate() {
        sets = match walk.step(&sets, &path[..at], segment) {
            Ok(sets) => sets,
            Err(ended) => return *ended,
        };
    }
    walk.found(sets)
}

/// The schemas of several places directly inside of a schema: what [`schema_at`] says of each, at the price of little more than
/// one.
pub fn schemas_inside(schema: &JsonSchema, segments: &[PathSegment]) -> Vec<SchemaLookup> {
    let mut space = Workspace::new(WORK_MAX);
    let root = space.import(schema);
    let sets = [space.set([root])];
    let mut walk = PathWalk { comparison: SchemaComparison::new(space), optional: false };
    let mut ends = Vec::with_capacity(segments.len());
    for segment in segments {
        walk.optional = false;
        walk.comparison.space.refill(WORK_MAX);
        let end = walk.step(&sets, &[], segment).map(|sets| (walk.union(sets), walk.optional));
        ends.push(end);
    }
    let nodes = walk.nodes();
    let lookup = |end: Result<(NodeId, bool), Box<SchemaLookup>>| match end {
        Ok((root, optional)) => {
            SchemaLookup::Found { schema: JsonSchema::of_shared(nodes.clone(), root), optional }
        }
        Err(ended) => *ended,
    };
    ends.into_iter().map(lookup).collect()
}

struct PathWalk {
    comparison: SchemaComparison,
    optional: bool,
}

impl PathWalk {
    /// One step for all alternatives.
    fn step(
        &mut self,
        sets: &[NodeSet],
        before: &[PathSegment],
        segment: &PathSegment,
    ) -> Result<Vec<NodeSet>, Box<SchemaLookup>> {
        let mut alternatives = Vec::new();
        for set in sets {
            self.alternatives(set, &mut alternatives)?;
        }
        let (mut found, mut absent, mut excluded) = (Vec::new(), None, true);
        for set in &alternatives {
            let view = self.comparison.space.view(set);
            match self.one_step(&view, before, segment) {
                StepOutcome::Found { set, optional } => {
                    self.optional |= optional;
                    if !found.contains(&set) {
                        found.push(set);
                    }
                }
                StepOutcome::Missing { why, excluded: is_excluded } => {
                    excluded &= is_excluded;
                    // A property that is not there says more than a value that has no properties at all.
                    if absent.is_none() || !is_excluded {
                        absent = Some(why);
                    }
                }
                StepOutcome::Unknown { why } => return Err(Box::new(SchemaLookup::Unknown { why })),
            }
        }
        if !found.is_empty() {
            self.optional |= absent.is_some();
            return Ok(found);
        }
        let why = absent.unwrap_or_else(|| "no value satisfies the schema".to_owned());
        let nearest = match segment {
            PathSegment::Key(key) => self.nearest_name(&alternatives, key),
            _ => None,
        };
        Err(Box::new(SchemaLookup::Missing { why, nearest, excluded }))
    }

    /// The declared name that is nearest to one that is not.
    fn nearest_name(&mut self, alternatives: &[NodeSet], key: &str) -> Option<String> {
        let mut names = BTreeSet::new();
        for set in alternatives {
            names.extend(self.comparison.space.view(set).names.iter().cloned());
        }
        nearest(key, names.iter().map(String::as_str).filter(|name| *name != key)).map(str::to_owned)
    }

    /// The members of unions, each with what is around them; those that no value satisfies are left out.
    fn alternatives(&mut self, set: &NodeSet, into: &mut Vec<NodeSet>) -> Result<(), Box<SchemaLookup>> {
        let mut open = vec![set.clone()];
        while let Some(set) = open.pop() {
            if into.len() + open.len() > MEMBERS_MAX || !self.comparison.space.spend() {
                let why = "the schema has too many alternatives to follow".to_owned();
                return Err(Box::new(SchemaLookup::Unknown { why }));
            }
            if self.comparison.is_empty(&set) {
                continue;
            }
            let view = self.comparison.space.view(&set);
            match view.groups.first() {
                Some(group) => {
                    let chosen = group.iter().map(|member| self.comparison.space.with(&set, *member));
                    let mut chosen: Vec<NodeSet> = chosen.collect();
                    if chosen.contains(&set) {
                        // A member that says nothing: so does the union.
                        into.push(set);
                        continue;
                    }
                    chosen.reverse();
                    open.extend(chosen);
                }
                None => into.push(set),
            }
        }
        Ok(())
    }

    fn one_step(
        &mut self,
        view: &Rc<FlatView>,
        before: &[PathSegment],
        segment: &PathSegment,
    ) -> StepOutcome {
        let place = match path_text(before) {
            text if text.is_empty() => "the value".to_owned(),
            text => format!("`{text}`"),
        };
        if let Some(why) = self.opaque(view) {
            return StepOutcome::Unknown { why: format!("{place} is not fully understood: {why}") };
        }
        if view.stated.is_empty() {
            return StepOutcome::Unknown { why: format!("the schema says nothing about {place}") };
        }
        // Kinds of which nothing is said are not reasons for a value to be absent.
        let kinds = match view.possible_kinds() {
            KindSet::ALL => view.stated,
            kinds => kinds,
        };
        let index = match segment {
            PathSegment::Index(index) => Some(*index),
            PathSegment::Key(key) => key.parse().ok(),
            PathSegment::AnyKey | PathSegment::AnyIndex => None,
        };
        let key = match segment {
            PathSegment::Key(key) => Some(key.clone()),
            PathSegment::Index(index) => Some(index.to_string()),
            PathSegment::AnyKey | PathSegment::AnyIndex => None,
        };
        let in_object =
            key.filter(|_| kinds.meets(KindSet::OBJECT)).map(|key| self.property(view, &place, &key));
        let in_list = index.filter(|_| kinds.meets(KindSet::ARRAY)).map(|at| self.element(view, &place, at));
        let only = if in_object.is_some() { KindSet::OBJECT } else { KindSet::ARRAY };
        match (in_object, in_list) {
            (Some(StepOutcome::Missing { .. }) | None, Some(outcome)) | (Some(outcome), _) => {
                relaxed(outcome, !kinds.within(only))
            }
            (None, None) => {
                let word = if matches!(segment, PathSegment::Index(_)) { "elements" } else { "properties" };
                let why = format!("{place} is `{}`, which has no {word}", kinds.words());
                StepOutcome::Missing { why, excluded: true }
            }
        }
    }

    fn opaque(&self, view: &FlatView) -> Option<String> {
        let space = &self.comparison.space;
        view.nodes.iter().find_map(|id| space.node(*id).opaque.first().map(|it| it.why.clone()))
    }

    fn property(&mut self, view: &FlatView, place: &str, key: &str) -> StepOutcome {
        let space = &self.comparison.space;
        let rules: Vec<_> = view.nodes.iter().map(|id| space.property(*id, key)).collect();
        let is_declared = rules.iter().any(|rules| rules.declared);
        let is_clear = rules.iter().all(|rules| rules.clear);
        let is_required = view.required.contains(key);
        let set = view.property(space, key);
        if self.comparison.is_empty(&set) {
            let why = format!("{place} has no property `{key}`");
            return StepOutcome::Missing { why, excluded: true };
        }
        if is_declared || is_required {
            return StepOutcome::Found { set, optional: !is_required };
        }
        if !is_clear {
            let why = format!("it cannot be decided whether a pattern of {place} matches the name `{key}`");
            return StepOutcome::Unknown { why };
        }
        if view.names.is_empty() {
            return StepOutcome::Unknown { why: format!("the properties of {place} are not declared") };
        }
        let why = format!("{place} declares no property `{key}`");
        StepOutcome::Missing { why, excluded: false }
    }

    fn element(&mut self, view: &FlatView, place: &str, at: usize) -> StepOutcome {
        let set = view.item(&self.comparison.space, at);
        let is_beyond = view.max_items.is_some_and(|max| at as u64 >= max);
        if is_beyond || self.comparison.is_empty(&set) {
            let why = format!("{place} has no element {at}");
            return StepOutcome::Missing { why, excluded: true };
        }
        let space = &self.comparison.space;
        if !view.nodes.iter().any(|id| space.node(*id).array.at(at).is_some()) {
            return StepOutcome::Unknown { why: format!("the elements of {place} are not declared") };
        }
        StepOutcome::Found { set, optional: view.min_items <= at as u64 }
    }

    /// The alternatives as one schema.
    fn found(mut self, sets: Vec<NodeSet>) -> SchemaLookup {
        let root = self.union(sets);
        SchemaLookup::Found { schema: JsonSchema::of_shared(self.nodes(), root), optional: self.optional }
    }

    /// One node for the alternatives.
    fn union(&mut self, sets: Vec<NodeSet>) -> NodeId {
        let members: Vec<NodeId> = sets.into_iter().map(|set| self.joined(&set)).collect();
        match members.as_slice() {
            [only] => *only,
            _ => self.comparison.space.add(SchemaNode { any_of: members, ..SchemaNode::default() }),
        }
    }

    fn nodes(&self) -> Arc<[SchemaNode]> {
        self.comparison.space.nodes().iter().map(|node| node.as_ref().clone()).collect()
    }

    /// A node for all of a set.
    fn joined(&mut self, set: &NodeSet) -> NodeId {
        match set.ids() {
            [only] => *only,
            ids => self.comparison.space.add(SchemaNode { all_of: ids.to_vec(), ..SchemaNode::default() }),
        }
    }
}

/// What is found in one of several kinds is optional.
fn relaxed(outcome: StepOutcome, may_be_other: bool) -> StepOutcome {
    match outcome {
        StepOutcome::Found { set, optional } => {
            StepOutcome::Found { set, optional: optional || may_be_other }
        }
        other => other,
    }
}
