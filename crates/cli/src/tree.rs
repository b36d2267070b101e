//! A run as a tree of its steps: what its plan has, and where each of it stands.

use std::collections::BTreeMap;

use rival::{NodeStatus, Time};
use rival_api::{Graph, GraphNode, RunView, StepMetrics};

use crate::operations;
use crate::out::{clean, short};
use crate::pick::{PickedItems, pick};
use crate::screen::ScreenLine;
use crate::style::TextStyle;
use crate::table::width;
use crate::text::length;
use crate::verbs::look::{detail, took};

/// How much of what a step says is shown.
const DETAIL: usize = 100;
/// How many iterations of a loop are shown at a time: those that failed and those at work, and else the latest.
const ITERATIONS: usize = 8;

/// The run in one line, and its steps below.
pub(crate) fn draw(
    run: &RunView,
    graph: &Graph,
    style: TextStyle,
    turn: usize,
    now: Time,
) -> Vec<ScreenLine> {
    let steps = run.steps.iter().map(|step| (step.path.as_str(), step)).collect();
    let mut tree = Tree { steps, style, turn, now, rows: Vec::new() };
    tree.nodes(&graph.nodes, "", 1);
    let widest = tree.rows.iter().map(|row| width(&row.name)).max().unwrap_or(0);
    let head = format!(
        "{} {}  {}  {}  {}",
        style.sign(run.status.word(), turn),
        style.bold(clean(&run.workflow)),
        style.dim(&run.run_id),
        style.status(run.status.word()),
        length(took(run, now)),
    );
    let line = |row: &Row| ScreenLine { text: row.show(widest), matters: row.matters };
    std::iter::once(head.into()).chain(tree.rows.iter().map(line)).collect()
}

/// The plan alone.
pub(crate) fn draw_plan(graph: &Graph, style: TextStyle) -> Vec<String> {
    let mut rows = Vec::new();
    plan_rows(&graph.nodes, 1, &mut rows);
    let widest = rows.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let line = |(name, kind): &(String, String)| {
        let pad = " ".repeat(widest - width(name));
        format!("{name}{pad}  {}", style.dim(kind)).trim_end().to_owned()
    };
    std::iter::once(style.bold(clean(&graph.workflow))).chain(rows.iter().map(line)).collect()
}

fn plan_rows(nodes: &[GraphNode], depth: usize, rows: &mut Vec<(String, String)>) {
    for node in nodes {
        let kind = match node.phase {
            Some(phase) => format!("{}, phase {}", clean(&node.kind), u64::from(phase) + 1),
            None if node.kind == "lane" => String::new(),
            None => clean(&node.kind),
        };
        rows.push((format!("{}{}", "  ".repeat(depth), clean(&node.label)), kind));
        plan_rows(&node.children, depth + 1, rows);
    }
}

struct Row {
    name: String,
    time: String,
    text: String,
    depth: usize,
    /// It failed or is at work, or something in it.
    matters: bool,
}

impl Row {
    fn show(&self, widest: usize) -> String {
        let pad = " ".repeat(widest - width(&self.name));
        format!("{}{pad}  {:>11}  {}", self.name, self.time, self.text).trim_end().to_owned()
    }
}

struct Tree<'a> {
    steps: BTreeMap<&'a str, &'a StepMetrics>,
    style: TextStyle,
    turn: usize,
    now: Time,
    rows: Vec<Row>,
}

impl<'a> Tree<'a> {
    /// The nodes of a block that is at `path`.
    fn nodes(&mut self, nodes: &[GraphNode], path: &str, depth: usize) {
        for node in nodes {
            let path = if path.is_empty() { node.id.clone() } else { format!("{path}/{}", node.id) };
            self.node(node, &path, depth);
        }
    }

    fn node(&mut self, node: &GraphNode, path: &str, depth: usize) {
        let step = self.steps.get(path).copied();
        let (time, text) = step.map_or_else(Default::default, |step| (self.time(step), self.text(step)));
        // A lane has no metrics of its own: it stands where what is in it stands.
        let status = match step {
            Some(step) => step.standing(),
            None if node.kind == "lane" && self.begun(path) => "",
            None => "pending",
        };
        self.row(depth, status, &node.id, time, text);
        if let Some(step) = step {
            self.operations(step, depth + 1);
        }
        match &*node.kind {
            "loop" | "forEach" => self.iterations(node, path, depth),
            // Only the case that was chosen.
            "branch" => {
                let begun: Vec<&GraphNode> =
                    node.children.iter().filter(|lane| self.begun(&format!("{path}/{}", lane.id))).collect();
                for lane in begun {
                    self.node(lane, &format!("{path}/{}", lane.id), depth + 1);
                }
            }
            _ => self.nodes(&node.children, path, depth + 1),
        }
    }

    fn iterations(&mut self, node: &GraphNode, path: &str, depth: usize) {
        let prefix = format!("{path}[");
        let inside = self.steps.range(prefix.as_str()..).map(|(path, _)| *path);
        let inside = inside.take_while(|path| path.starts_with(&prefix));
        let number = |path: &str| path[prefix.len()..].split(']').next().and_then(|n| n.parse::<u32>().ok());
        let mut ranks: BTreeMap<u32, u8> = BTreeMap::new();
        for path in inside {
            let Some(n) = number(path) else { continue };
            let rank = ranks.entry(n).or_default();
            *rank = (*rank).max(operations::rank(self.steps[path].status));
        }
        let PickedItems { shown, left_out } =
            pick(ranks.into_iter().collect(), ITERATIONS, |(_, rank)| *rank);
        self.more(left_out, depth + 1);
        for (n, _) in shown {
            self.row(depth + 1, "", &format!("[{n}]"), String::new(), String::new());
            self.nodes(&node.children, &format!("{path}[{n}]"), depth + 2);
        }
    }

    fn operations(&mut self, step: &StepMetrics, depth: usize) {
        let PickedItems { shown, left_out } = operations::shown(step);
        self.more(left_out, depth);
        for operation in shown {
            let (time, detail) = (operations::time(operation, self.now), operations::detail(operation));
            let detail = match operation.status {
                NodeStatus::Failed => self.style.red(detail),
                _ => detail,
            };
            self.row(depth, operation.status.word(), &operation.label(), time, detail);
        }
    }

    fn more(&mut self, left_out: usize, depth: usize) {
        if left_out > 0 {
            self.row(depth, "", &format!("… {left_out} more"), String::new(), String::new());
        }
    }

    /// Whether anything at or under a path has begun.
    fn begun(&self, path: &str) -> bool {
        let under = format!("{path}/");
        self.steps.contains_key(path)
            || self.steps.range(under.as_str()..).next().is_some_and(|(path, _)| path.starts_with(&under))
    }

    fn row(&mut self, depth: usize, status: &str, name: &str, time: String, text: String) {
        let style = self.style;
        let sign = if status.is_empty() { style.dim("▸") } else { style.sign(status, self.turn) };
        let name = match status {
            "running" => style.bold(clean(name)),
            "pending" => style.dim(clean(name)),
            _ => clean(name),
        };
        let matters = matches!(status, "failed" | "blocked" | "running" | "waiting_retry" | "not_undone");
        if matters {
            self.around_matters(depth);
        }
        let name = format!("{}{sign} {name}", "  ".repeat(depth));
        self.rows.push(Row { name, time, text, depth, matters });
    }

    /// What the next row is in matters too: without it, a reader cannot tell which item failed.
    fn around_matters(&mut self, mut depth: usize) {
        for row in self.rows.iter_mut().rev() {
            if row.depth < depth {
                (row.matters, depth) = (true, row.depth);
            }
        }
    }

    /// How long a step took, is taking, or has to wait.
    fn time(&self, step: &StepMetrics) -> String {
        match (step.status, step.wake_at, step.duration, step.started_at) {
            (NodeStatus::WaitingRetry | NodeStatus::Waiting, Some(at), _, _) => {
                format!("in {}", length(at.ms_since(self.now)))
            }
            (_, _, Some(ms), _) => length(ms),
            (_, _, None, Some(since)) => length(self.now.ms_since(since)),
            (_, _, None, None) => String::new(),
        }
    }

    fn text(&self, step: &StepMetrics) -> String {
        let style = self.style;
        let detail = short(&detail(step), DETAIL);
        let attempt = step.retry_count + 1;
        match step.status {
            NodeStatus::WaitingRetry => style.yellow(format_args!("attempt {attempt} failed: {detail}")),
            NodeStatus::Failed | NodeStatus::Blocked => style.red(detail),
            NodeStatus::Waiting if step.kind == "signal" => style.yellow("waits for a signal"),
            NodeStatus::Waiting if detail.is_empty() && step.operations.is_empty() => {
                style.yellow("waits; nothing is held, not even a thread")
            }
            _ if step.retry_count > 0 => {
                format!("{}  {detail}", style.dim(format_args!("attempt {attempt}")))
            }
            _ => detail,
        }
    }
}
