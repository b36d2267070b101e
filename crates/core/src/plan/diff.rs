//! What changed from one version of a plan to another.
//!
//! Nodes are compared by their path: one with another id is another node, as for a run that was retried.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{BlockOrder, Node, Plan, PlanBlock, join};

/// What changed between two plans.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanDiff {
    /// Settings of the workflow itself.
    pub workflow: Vec<SettingChange>,
    /// Nodes that are new. What is inside of a new node is not listed again.
    pub added: Vec<NodeName>,
    /// Nodes that are gone. What was inside is not listed again.
    pub removed: Vec<NodeName>,
    /// Nodes that have another place, in their block or in another one.
    pub moved: Vec<NodeMove>,
    /// Nodes with other settings.
    pub changed: Vec<NodeChange>,
}

/// A node of one of the plans.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeName {
    /// Its path.
    pub path: String,
    /// Its kind.
    pub kind: String,
}

/// A node with another place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeMove {
    /// The node as it is now.
    #[serde(flatten)]
    pub node: NodeName,
    /// Its path before, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The id of the node before it in its block now; absent if it is the first.
    pub after: Option<String>,
}

/// A node with other settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeChange {
    /// The node.
    #[serde(flatten)]
    pub node: NodeName,
    /// The settings.
    pub settings: Vec<SettingChange>,
}

/// One setting that changed. A setting that has its default is absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SettingChange {
    /// Its name in the plan's JSON.
    pub setting: String,
    /// What it was.
    pub from: Option<Value>,
    /// What it is.
    pub to: Option<Value>,
}

impl Plan {
    /// What changed from `old` to `new`.
    pub fn diff(old: &Self, new: &Self) -> PlanDiff {
        let mut diff = PlanDiff { workflow: settings(&head(old), &head(new)), ..PlanDiff::default() };
        let (before, after) = (flat(&old.block), flat(&new.block));
        for (path, node) in &after {
            match before.get(path) {
                Some(was) => diff.changed.extend(changed(path, was, node)),
                None => diff.added.extend(outermost(path, node, &before, &after)),
            }
        }
        for (path, node) in &before {
            if !after.contains_key(path) {
                diff.removed.extend(outermost(path, node, &after, &before));
            }
        }
        diff.find_moves(&before, &after);
        diff.find_reordered(&before, &after);
        diff
    }
}

impl PlanDiff {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// A node that is gone here and new there, the same but for its place, has moved.
    fn find_moves(&mut self, before: &Flat<'_>, after: &Flat<'_>) {
        let mut gone: BTreeMap<String, Vec<NodeName>> = BTreeMap::new();
        for node in &self.removed {
            gone.entry(before[&node.path].as_json()).or_default().push(node.clone());
        }
        let (mut added, mut found) = (Vec::new(), BTreeSet::new());
        for node in std::mem::take(&mut self.added) {
            let place = &after[&node.path];
            match gone.get_mut(&place.as_json()).and_then(Vec::pop) {
                Some(was) => {
                    let from = Some(was.path.clone());
                    found.insert(was);
                    self.moved.push(NodeMove { node, from, after: place.previous.clone() });
                }
                None => added.push(node),
            }
        }
        self.added = added;
        self.removed.retain(|node| !found.contains(node));
    }

    /// In a sequence, the fewest nodes whose move explains the new order.
    fn find_reordered(&mut self, before: &Flat<'_>, after: &Flat<'_>) {
        let mut blocks: BTreeMap<&str, Vec<(&String, &PlacedNode<'_>)>> = BTreeMap::new();
        for (path, place) in after.iter().filter(|(path, place)| place.ordered && before.contains_key(*path))
        {
            blocks.entry(&place.block).or_default().push((path, place));
        }
        for nodes in blocks.values_mut() {
            nodes.sort_by_key(|(_, place)| place.position);
            let positions: Vec<usize> = nodes.iter().map(|(path, _)| before[*path].position).collect();
            let stayed = longest_rise(&positions);
            for (number, (path, place)) in nodes.iter().enumerate() {
                if !stayed.contains(&number) {
                    let node = place.name(path);
                    self.moved.push(NodeMove { node, from: None, after: place.previous.clone() });
                }
            }
        }
    }
}

/// The numbers of a longest series of rising values.
fn longest_rise(values: &[usize]) -> BTreeSet<usize> {
    // Which value ends the best series of each length so far, and what came before each value in its best series.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous = vec![None; values.len()];
    for (number, value) in values.iter().enumerate() {
        let length = ends.partition_point(|&end| values[end] < *value);
        previous[number] = length.checked_sub(1).map(|length| ends[length]);
        match ends.get_mut(length) {
            Some(end) => *end = number,
            None => ends.push(number),
        }
    }
    std::iter::successors(ends.last().copied(), |&number| previous[number]).collect()
}

/// Nodes by path.
type Flat<'a> = BTreeMap<String, PlacedNode<'a>>;

/// A node in its place.
struct PlacedNode<'a> {
    node: &'a Node,
    block: String,
    /// Whether its block is a sequence.
    ordered: bool,
    position: usize,
    previous: Option<String>,
}

impl PlacedNode<'_> {
    fn name(&self, path: &str) -> NodeName {
        NodeName { path: path.to_owned(), kind: self.node.kind.word().to_owned() }
    }

    /// All of it, with what is inside.
    fn as_json(&self) -> String {
        json(self.node).to_string()
    }
}

fn flat(block: &PlanBlock) -> Flat<'_> {
    let mut flat = Flat::new();
    add(block, "", &mut flat);
    flat
}

fn add<'a>(block: &'a PlanBlock, at: &str, flat: &mut Flat<'a>) {
    for (position, node) in block.nodes.iter().enumerate() {
        let path = join(at, &node.id);
        let previous = position.checked_sub(1).map(|previous| block.nodes[previous].id.clone());
        for (segment, inner) in node.blocks() {
            let path = segment.map_or_else(|| path.clone(), |segment| join(&path, segment));
            add(inner, &path, flat);
        }
        let ordered = block.order == BlockOrder::Sequence;
        flat.insert(path, PlacedNode { node, block: at.to_owned(), ordered, position, previous });
    }
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("a plan has only string keys and finite numbers")
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}

/// A workflow's settings, without its nodes.
fn head(plan: &Plan) -> Map<String, Value> {
    let mut head = object(json(plan));
    // It follows from what the plan uses.
    head.remove("version");
    if let Some(block) = head.remove("block") {
        head.extend(shape(block));
    }
    head
}

/// A node's settings. Of the blocks inside only their names and order are its own.
fn own_settings(node: &Node) -> Map<String, Value> {
    let mut settings = object(json(node));
    settings.remove("id");
    for body in ["body", "block", "default"] {
        if let Some(block) = settings.remove(body) {
            let mark = (body == "default").then(|| ("default".to_owned(), Value::Bool(true)));
            settings.extend(shape(block).into_iter().chain(mark));
        }
    }
    for lanes in ["branches", "cases"] {
        if let Some(Value::Array(list)) = settings.get_mut(lanes) {
            list.iter_mut().for_each(|lane| *lane = lane["name"].take());
        }
    }
    settings
}

/// What is said of a block beside its nodes: whether it is a graph, or in phases.
fn shape(block: Value) -> Option<(String, Value)> {
    object(block).remove("order").map(|order| ("order".to_owned(), order))
}

fn changed(path: &str, was: &PlacedNode<'_>, is: &PlacedNode<'_>) -> Option<NodeChange> {
    if was.node == is.node {
        return None;
    }
    let settings = settings(&own_settings(was.node), &own_settings(is.node));
    (!settings.is_empty()).then(|| NodeChange { node: is.name(path), settings })
}

fn settings(was: &Map<String, Value>, is: &Map<String, Value>) -> Vec<SettingChange> {
    let names: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    let change = |name: &&String| was.get(*name) != is.get(*name);
    names
        .into_iter()
        .filter(change)
        .map(|name| SettingChange {
            setting: name.clone(),
            from: was.get(name).cloned(),
            to: is.get(name).cloned(),
        })
        .collect()
}

/// The node, unless the one around it is new or gone as well.
fn outermost(path: &str, place: &PlacedNode<'_>, other: &Flat<'_>, own: &Flat<'_>) -> Option<NodeName> {
    let mut around = place.block.as_str();
    while !around.is_empty() {
        // A lane is no node: look further out.
        if own.contains_key(around) && !other.contains_key(around) {
            return None;
        }
        around = around.rsplit_once('/').map_or("", |(outer, _)| outer);
    }
    Some(place.name(path))
}

/// For people, a line for each change: `+` new, `-` gone, `>` moved, `~` other settings.
impl fmt::Display for PlanDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return writeln!(f, "no changes");
        }
        self.workflow.iter().try_for_each(|change| writeln!(f, "~ workflow: {change}"))?;
        self.added.iter().try_for_each(|node| writeln!(f, "+ {node}"))?;
        self.removed.iter().try_for_each(|node| writeln!(f, "- {node}"))?;
        self.moved.iter().try_for_each(|moved| writeln!(f, "> {moved}"))?;
        for change in &self.changed {
            change.settings.iter().try_for_each(|setting| writeln!(f, "~ {}: {setting}", change.node))?;
        }
        Ok(())
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.kind, self.path)
    }
}

impl fmt::Display for NodeMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.node)?;
        if let Some(from) = &self.from {
            write!(f, " was `{from}`")?;
        }
        match &self.after {
            Some(after) => write!(f, ", now after `{after}`"),
            None => write!(f, ", now the first"),
        }
    }
}

impl fmt::Display for SettingChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { setting, from, to } = self;
        match (from, to) {
            (None, Some(to)) => write!(f, "{setting} is now {to}"),
            (Some(from), None) => write!(f, "{setting} is no longer {from}"),
            (Some(from), Some(to)) => write!(f, "{setting} was {from}, is {to}"),
            (None, None) => write!(f, "{setting} did not change"),
        }
    }
}
