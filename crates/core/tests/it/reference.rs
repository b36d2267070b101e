//! What a run comes to, by a naive reading of the semantics: a recursive walk over the plan with a script
//! that says what each function does. It knows no events, no timers, no crashes and no pauses: those must
//! not change what a run comes to.

use std::collections::{BTreeMap, BTreeSet};

use rival_core::plan::{NestedNode, NodeKind, OnTimeout, Plan, PlanBlock, SleepLength, SleepNode, StepNode};
use rival_core::{NodeStatus, Path, RunStatus};

/// What a function does when it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    Return,
    Skip,
    FailPlain,
    FailStop,
    FailContinue,
    FailRetry {
        wanted: Option<u32>,
    },
    /// It hangs until it times out.
    Hang,
}

/// What the functions of a run do, derived from a seed.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) seed: u64,
    /// Percent of calls of steps that do not simply return.
    pub(crate) trouble: u64,
    /// At-most-once calls that a crash or stop cut short: `(step, attempt)`.
    pub(crate) interrupted: BTreeSet<(Path, u32)>,
}

impl Script {
    /// A number below `most` that depends on the seed and on what it is for.
    pub(crate) fn roll(&self, node: &Path, what: &str, n: u32, most: u64) -> u64 {
        let bytes = node.as_str().bytes().chain(what.bytes()).chain(n.to_le_bytes());
        let start = self.seed ^ 0x9e37_79b9_7f4a_7c15;
        let mut hash = bytes.fold(start, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
        });
        hash ^= hash >> 31;
        hash = hash.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (hash ^ (hash >> 29)) % most
    }

    pub(crate) fn step(&self, node: &Path, attempt: u32, can_hang: bool) -> Does {
        if self.roll(node, "trouble", attempt, 100) >= self.trouble {
            return Does::Return;
        }
        match self.roll(node, "step", attempt, 9) {
            0 => Does::Skip,
            1 | 2 => Does::FailPlain,
            3 => Does::FailStop,
            4 => Does::FailContinue,
            5 => Does::FailRetry { wanted: None },
            6 => Does::FailRetry { wanted: Some(1 + attempt) },
            7 => Does::FailRetry { wanted: Some(3) },
            _ if can_hang => Does::Hang,
            _ => Does::Return,
        }
    }

    /// A mapper or a computed wait: it returns, or rarely fails.
    pub(crate) fn helper(&self, node: &Path) -> Does {
        if self.roll(node, "helper", 1, 10) == 0 { Does::FailPlain } else { Does::Return }
    }

    /// What a computed wait answers: how long, if the answer is good.
    pub(crate) fn wait_ms(&self, node: &Path) -> Option<u64> {
        match self.roll(node, "wait", 1, 8) {
            0 => None,
            1 => Some(0),
            n => Some(n * 700),
        }
    }

    pub(crate) fn handler(&self, node: &Path) -> Does {
        match self.roll(node, "handler", 1, 5) {
            0 => Does::FailStop,
            1 => Does::Hang,
            _ => Does::Return,
        }
    }
}

/// What a run comes to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) status: Option<RunStatus>,
    pub(crate) output: Option<String>,
    pub(crate) failed: Option<Path>,
    pub(crate) nodes: BTreeMap<Path, NodeSummary>,
    /// The nodes whose handlers were called, in order.
    pub(crate) handlers: Vec<Path>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NodeSummary {
    pub(crate) status: NodeStatus,
    pub(crate) attempts: u32,
    pub(crate) result: Option<String>,
}

/// The result of a step's call: which attempt of which step.
pub(crate) fn result_of(node: &Path, attempt: u32) -> String {
    format!("{node}@{attempt}")
}

pub(crate) fn evaluate(plan: &Plan, script: &Script) -> Summary {
    let mut walk = Walk { script, summary: Summary::default() };
    match walk.block(&plan.block, &Path::root()) {
        Ok(output) => {
            walk.summary.status = Some(RunStatus::Completed);
            walk.summary.output = output;
        }
        Err(Failed(origin)) => {
            walk.summary.status = Some(RunStatus::Failed);
            walk.summary.failed = Some(origin);
            if plan.on_error.is_some() {
                walk.summary.handlers.push(Path::root());
            }
        }
    }
    walk.summary
}

/// A hard failure, and the node that it began with.
struct Failed(Path);

struct Walk<'a> {
    script: &'a Script,
    summary: Summary,
}

impl Walk<'_> {
    /// Runs nodes in order; the block's result is that of its last node.
    fn block(&mut self, block: &PlanBlock, owner: &Path) -> Result<Option<String>, Failed> {
        let mut last = None;
        for node in &block.nodes {
            let path = owner.child(&node.id);
            last = match &node.kind {
                NodeKind::Step(step) => self.step(step, &path)?,
                NodeKind::Sleep(sleep) => self.sleep(sleep, &path)?,
                NodeKind::Workflow(nested) => self.nested(nested, &path)?,
                other => panic!("the reference does not know a {}", other.word()),
            };
        }
        Ok(last)
    }

    fn ended(&mut self, path: &Path, status: NodeStatus, attempts: u32, result: Option<String>) {
        self.summary.nodes.insert(path.clone(), NodeSummary { status, attempts, result });
    }

    fn step(&mut self, step: &StepNode, path: &Path) -> Result<Option<String>, Failed> {
        let configured = step.retry.max_attempts;
        let mut attempt = 1;
        let (soft, attempts) = loop {
            let does = self.script.step(path, attempt, step.timeout_ms.is_some());
            let interrupted = self.script.interrupted.contains(&(path.clone(), attempt));
            let (most, soft) = match does {
                _ if interrupted => (attempt, false),
                Does::Return | Does::Skip => {
                    let skipped = does == Does::Skip;
                    let status = if skipped { NodeStatus::Skipped } else { NodeStatus::Completed };
                    let result = Some(result_of(path, attempt));
                    self.ended(path, status, attempt, result.clone());
                    return Ok(result);
                }
                Does::FailPlain => (configured.unwrap_or(1), false),
                Does::FailStop => (attempt, false),
                Does::FailContinue => (attempt, true),
                Does::FailRetry { wanted } => {
                    let wanted = wanted.or(configured).unwrap_or(1);
                    (wanted.min(configured.unwrap_or(u32::MAX)), false)
                }
                Does::Hang => match step.on_timeout {
                    OnTimeout::Stop => (attempt, false),
                    OnTimeout::Retry => (configured.unwrap_or(1), false),
                },
            };
            if attempt >= most {
                break (soft || step.continue_on_error, attempt);
            }
            attempt += 1;
        };
        self.ended(path, NodeStatus::Failed, attempts, None);
        if step.on_error.is_some() {
            self.summary.handlers.push(path.clone());
        }
        if soft { Ok(None) } else { Err(Failed(path.clone())) }
    }

    fn sleep(&mut self, sleep: &SleepNode, path: &Path) -> Result<Option<String>, Failed> {
        let good = match &sleep.wait {
            SleepLength::ForMs(_) | SleepLength::UntilMs(_) => true,
            SleepLength::Computed(_) => {
                self.script.helper(path) == Does::Return && self.script.wait_ms(path).is_some()
            }
        };
        let status = if good { NodeStatus::Completed } else { NodeStatus::Failed };
        self.ended(path, status, 0, None);
        if good { Ok(None) } else { Err(Failed(path.clone())) }
    }

    fn nested(&mut self, nested: &NestedNode, path: &Path) -> Result<Option<String>, Failed> {
        // The mapper is the parent's function: its failure is not one of the nested workflow.
        if nested.input.is_some() && self.script.helper(path) != Does::Return {
            self.ended(path, NodeStatus::Failed, 0, None);
            return Err(Failed(path.clone()));
        }
        let outcome = self.block(&nested.block, path);
        match &outcome {
            Ok(result) => self.ended(path, NodeStatus::Completed, 0, result.clone()),
            Err(_) => {
                self.ended(path, NodeStatus::Failed, 0, None);
                if nested.on_error.is_some() {
                    self.summary.handlers.push(path.clone());
                }
            }
        }
        outcome
    }
}
