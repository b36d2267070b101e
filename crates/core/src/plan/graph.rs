//! The structure of a plan for drawing: nodes inside of nodes, and which comes after which.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{
    BlockOrder, FunctionRef, Join, LoopTest, Node, NodeKind, NodeKindName, Plan, PlanBlock, SleepLength,
    StepNode, TEXT_MARK, Trigger, join,
};

/// A plan for drawing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Graph {
    /// The workflow's name.
    pub workflow: String,
    /// The outermost nodes, in the order of the plan.
    pub nodes: Vec<GraphNode>,
    /// Which node comes directly after which, at every depth. Both ends are in the same block. Nodes of phases have no
    /// edges: each comes after all nodes of the phase before.
    pub edges: Vec<GraphEdge>,
    /// What a completed run starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub triggers: Vec<GraphTrigger>,
}

/// A workflow that a completed run starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphTrigger {
    /// The workflow.
    pub workflow: String,
    /// Whether a run is started for each item of a list.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub for_each: bool,
}

/// One thing to draw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphNode {
    /// Its id in its block; the name of a lane.
    pub id: String,
    /// Its path in the plan, as events name it, without iterations.
    pub path: String,
    /// The kind of the node, or `lane` for a branch of a parallel or a case of a branch.
    #[cfg_attr(feature = "openapi", schema(value_type = NodeKindName))]
    pub kind: Cow<'static, str>,
    /// What to write on it.
    pub label: String,
    /// The signal that it waits for, if it is a wait for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub signal: Option<String>,
    /// Which phase it is in, from 0, if its block has phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub phase: Option<u32>,
    /// What is inside: the lanes of a parallel or branch, else the nodes of its block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(no_recursion, required = false))]
    pub children: Vec<GraphNode>,
}

/// One node comes after another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphEdge {
    /// The path of the earlier node.
    pub from: String,
    /// The path of the later node.
    pub to: String,
}

impl Plan {
    /// The plan's structure for drawing.
    pub fn graph(&self) -> Graph {
        let trigger = |trigger: &Trigger| GraphTrigger {
            workflow: trigger.workflow.clone(),
            for_each: trigger.for_each().is_some(),
        };
        let triggers = self.triggers.iter().map(trigger).collect();
        let mut graph =
            Graph { workflow: self.workflow.clone(), nodes: Vec::new(), edges: Vec::new(), triggers };
        graph.nodes = nodes(&self.block, "", &mut graph.edges);
        graph
    }
}

fn nodes(block: &PlanBlock, path: &str, edges: &mut Vec<GraphEdge>) -> Vec<GraphNode> {
    let edge = |from: &str, to: &str| GraphEdge { from: join(path, from), to: join(path, to) };
    match block.order {
        BlockOrder::Sequence => {
            edges.extend(block.nodes.windows(2).map(|pair| edge(&pair[0].id, &pair[1].id)));
        }
        BlockOrder::Graph => {
            let pairs = block.nodes.iter().flat_map(|node| node.after.iter().map(move |id| (id, &node.id)));
            edges.extend(pairs.map(|(from, to)| edge(from, to)));
        }
        BlockOrder::Phases => {}
    }
    let has_phases = block.order == BlockOrder::Phases;
    let with_phase = |node: GraphNode, phase: u32| GraphNode { phase: has_phases.then_some(phase), ..node };
    block.nodes.iter().map(|node| with_phase(graph_node(node, path, edges), node.phase)).collect()
}

fn graph_node(node: &Node, block: &str, edges: &mut Vec<GraphEdge>) -> GraphNode {
    let path = join(block, &node.id);
    let mut children = Vec::new();
    for (segment, block) in node.blocks() {
        match segment {
            None => children = nodes(block, &path, edges),
            Some(lane) => {
                let (id, path) = (lane.to_owned(), join(&path, lane));
                let children_of_lane = nodes(block, &path, edges);
                children.push(GraphNode {
                    label: id.clone(),
                    id,
                    path,
                    kind: NodeKindName::Lane.word().into(),
                    signal: None,
                    phase: None,
                    children: children_of_lane,
                });
            }
        }
    }
    let signal = if let NodeKind::Signal(it) = &node.kind { Some(it.signal.clone()) } else { None };
    let (id, kind) = (node.id.clone(), node.kind.word().into());
    GraphNode { id, kind, label: label(node), signal, phase: None, path, children }
}

/// The id, and in a few words what it does where the id does not say it.
fn label(node: &Node) -> String {
    let id = &node.id;
    let what = match &node.kind {
        NodeKind::Step(StepNode { function: FunctionRef::Builtin(builtin), .. }) => builtin.name().to_owned(),
        NodeKind::Step(step) => named(&step.function, id).unwrap_or_default(),
        NodeKind::Sleep(sleep) => match &sleep.wait {
            SleepLength::ForMs(ms) => format!("for {ms} ms"),
            SleepLength::UntilMs(ms) => format!("until {ms}"),
            SleepLength::Computed(function) => named(function, id).unwrap_or_default(),
        },
        NodeKind::Signal(signal) => format!("signal {}", signal.signal),
        NodeKind::Branch(branch) => {
            named(&branch.choose, id).map_or_else(String::new, |name| format!("{name}?"))
        }
        NodeKind::Loop(each) => match &each.test {
            LoopTest::Until(test) => format!("until {}", named(test, id).unwrap_or_default()),
            LoopTest::While(test) => format!("while {}", named(test, id).unwrap_or_default()),
        },
        NodeKind::ForEach(each) => {
            let items = named(&each.items, id).map_or_else(String::new, |items| format!(" of {items}"));
            match each.concurrency {
                1 => format!("for each{items}"),
                n => format!("for each{items}, {n} at a time"),
            }
        }
        NodeKind::Parallel(parallel) => match parallel.join {
            Join::All => "all".to_owned(),
            Join::First => "first".to_owned(),
            Join::N(n) => format!("first {n}"),
        },
        NodeKind::Workflow(nested) if nested.workflow == *id => "workflow".to_owned(),
        NodeKind::Workflow(nested) => format!("workflow {}", nested.workflow),
    };
    if what.is_empty() { id.clone() } else { format!("{id}: {}", what.trim_end()) }
}

/// A function's name, if it is not only that of its node or of the place where it is used. A built-in function that
/// decides for its node says nothing by its name.
fn named(function: &FunctionRef, node: &str) -> Option<String> {
    let function = function.named()?;
    let last = function.rsplit('/').next().unwrap_or(function);
    if let Some((_, role)) = last.split_once(TEXT_MARK) {
        // `branch~:isBig#if` has a name, `http~1f0c…` and `branch~93ab…#if` have none.
        let own = role.split_once(':').map(|(_, own)| own.split(['#', TEXT_MARK]).next().unwrap_or(own));
        return own.map(ToOwned::to_owned);
    }
    let last = last.rsplit("::").next().unwrap_or(last);
    // `check#if` is known by the name of its node.
    let is_nodes = last.strip_prefix(node).is_some_and(|role| role.is_empty() || role.starts_with('#'));
    (!last.ends_with(']') && !is_nodes).then(|| last.to_owned())
}

impl Graph {
    /// As JSON: `{workflow, nodes: [{id, path, kind, label, children}], edges: [{from, to}]}`.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a graph has only string keys")
    }
}
