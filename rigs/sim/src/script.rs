//! What the functions of a plan do: a pure function of the seed and of which call it is.
//!
//! The engine's functions ([`crate::function`]) and the model ask the same script, so both see the same world.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use rival_core::StepError;
use rival_core::plan::{BackoffKind, BranchNode, NodeKind, Plan, PlanBlock};
use serde_json::json;

use crate::dice::{hash, spread};

/// What a function does for its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScriptPart {
    /// It is the step.
    Step,
    /// It handles a failure.
    Handler,
    /// It maps the input of a nested workflow.
    Input,
    /// It says how long to sleep.
    Wait,
    /// It says which case applies.
    Choose,
    /// It says whether a loop goes on.
    Test,
    /// It gives the items of a forEach.
    Items,
    /// It maps the joined result of a parallel block.
    Finally,
    /// It undoes a step.
    Undo,
    /// It does something once, inside of a step.
    Once,
}

impl ScriptPart {
    /// A word for reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Handler => "handler",
            Self::Input => "input",
            Self::Wait => "wait",
            Self::Choose => "choose",
            Self::Test => "test",
            Self::Items => "items",
            Self::Finally => "finally",
            Self::Undo => "undo",
            Self::Once => "once",
        }
    }
}

/// Names a call, as long as it is not charged again: a call that a crash cut short and its repetition are the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallKey {
    /// The path of the node; in a child after what the child was given and a colon.
    pub node: String,
    /// What the function does for it.
    pub part: ScriptPart,
    /// Which of the loop's questions it is; 0 for everything but tests.
    pub turn: u32,
    /// The charged attempt.
    pub attempt: u32,
}

impl fmt::Display for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, part, turn, attempt } = self;
        write!(f, "{} of `{node}`, turn {turn}, attempt {attempt}", part.word())
    }
}

/// What a call does.
#[derive(Clone, Debug)]
pub struct ScriptedCall {
    /// How it ends; `None` if it never does.
    pub does: Option<ScriptedEnd>,
    /// When, in milliseconds after it was first begun.
    pub takes: u64,
    /// How long it takes to end once it was told to stop, if it listens.
    pub settles: u64,
}

/// How a call ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptedEnd {
    /// It returns.
    Return,
    /// It returns and asks to be skipped.
    Skip,
    /// It fails.
    Fail(ScriptedFailure),
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptedFailure {
    /// With any error.
    Plain,
    /// For good.
    Stop,
    /// Softly.
    Continue,
    /// Asking for another attempt.
    Retry {
        /// How many attempts it wants in all.
        wanted: Option<u32>,
        /// A backoff of its own: whether it is exponential, and its base.
        backoff: Option<(bool, u64)>,
    },
}

impl ScriptedFailure {
    /// The error as a function returns it.
    pub fn error(self) -> StepError {
        match self {
            Self::Plain => StepError::new("plain").code("plain"),
            Self::Stop => StepError::stop("stop").code("stop"),
            Self::Continue => StepError::proceed("continue").code("continue"),
            Self::Retry { wanted, backoff } => {
                let mut error = StepError::retry("retry").code("retry");
                if let Some(wanted) = wanted {
                    error = error.max_attempts(wanted);
                }
                if let Some((exponential, base)) = backoff {
                    let kind = if exponential { BackoffKind::Exponential } else { BackoffKind::Linear };
                    error = error.backoff(kind, std::time::Duration::from_millis(base));
                }
                error
            }
        }
    }

    /// The code of that error.
    pub fn code(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Stop => "stop",
            Self::Continue => "continue",
            Self::Retry { .. } => "retry",
        }
    }
}

/// What a call sees of the run around it. Results are made of it, so that they show what was seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeenByCall {
    /// The workflow's input.
    pub input: serde_json::Value,
    /// The node before: its id, its result if it has one, its status.
    pub last: Option<NodeBefore>,
    /// The nearest loop: index and item.
    pub iteration: Option<(u32, Option<serde_json::Value>)>,
    /// What a finally maps, and what a durable step was answered.
    pub joined: Option<serde_json::Value>,
}

/// The node before another one, as functions see it.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeBefore {
    name: String,
    result: Option<serde_json::Value>,
    status: &'static str,
}

impl NodeBefore {
    /// A node; a result of `null` is none.
    pub fn new(name: &str, result: Option<serde_json::Value>, status: &'static str) -> Self {
        Self { name: name.to_owned(), result: result.filter(|result| !result.is_null()), status }
    }
}

/// The world of one seed and plan.
#[derive(Clone, Debug)]
pub struct SeedScript {
    seed: u64,
    /// How many of a hundred calls fail.
    failing: u64,
    /// How many of a hundred calls end at once.
    quick: u64,
    branches: BTreeMap<String, BranchNode>,
    /// Steps with a timeout, and steps whose compensation has one: only these may never end.
    timed: BTreeSet<(ScriptPart, String)>,
}

impl SeedScript {
    /// The script of a seed for a plan and that of its children.
    pub fn new(seed: u64, plans: [&Plan; 2]) -> Self {
        let roll = hash(seed, &[b"script"]);
        let mut script = Self {
            seed,
            failing: [0, 4, 10, 30][usize::try_from(roll % 4).unwrap_or(0)],
            quick: [0, 10, 60][usize::try_from((roll >> 8) % 3).unwrap_or(0)],
            branches: BTreeMap::new(),
            timed: BTreeSet::new(),
        };
        plans.iter().for_each(|plan| script.note(&plan.block));
        script
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    fn note(&mut self, block: &PlanBlock) {
        for node in &block.nodes {
            match &node.kind {
                NodeKind::Branch(branch) => {
                    self.branches.insert(node.id.clone(), branch.clone());
                }
                NodeKind::Step(step) => {
                    let undo = step.compensate.as_ref();
                    let timed = [
                        (ScriptPart::Step, step.timeout_ms.is_some()),
                        (ScriptPart::Undo, undo.is_some_and(|undo| undo.timeout_ms.is_some())),
                    ];
                    for (part, _) in timed.into_iter().filter(|(_, timed)| *timed) {
                        self.timed.insert((part, node.id.clone()));
                    }
                }
                _ => {}
            }
            for (_, inner) in node.blocks() {
                self.note(inner);
            }
        }
    }

    fn roll(&self, key: &CallKey, what: &str) -> u64 {
        let numbers = [key.turn.to_le_bytes(), key.attempt.to_le_bytes()].concat();
        let words: [&[u8]; 4] = [key.node.as_bytes(), key.part.word().as_bytes(), &numbers, what.as_bytes()];
        hash(self.seed, &words)
    }

    /// What a call does, and when.
    pub fn act(&self, key: &CallKey) -> ScriptedCall {
        let quick = self.roll(key, "quick") % 100 < self.quick;
        let takes = if quick { 0 } else { spread(self.roll(key, "takes")) };
        let settles = 1 + self.roll(key, "settles") % 40_000;
        let mut does = self.does(key);
        if key.part != ScriptPart::Handler && !self.timed.contains(&(key.part, id_of(&key.node).to_owned())) {
            does = does.or(Some(ScriptedEnd::Fail(ScriptedFailure::Plain)));
        }
        ScriptedCall { does, takes, settles }
    }

    fn does(&self, key: &CallKey) -> Option<ScriptedEnd> {
        let roll = self.roll(key, "does");
        let fails = roll % 100 < self.failing;
        let kind = (roll >> 20) % 100;
        match key.part {
            ScriptPart::Step if fails => self.failure(key, kind),
            ScriptPart::Step if kind < 5 => Some(ScriptedEnd::Skip),
            ScriptPart::Handler | ScriptPart::Undo if fails && kind < 20 => None,
            ScriptPart::Handler | ScriptPart::Undo if fails => {
                Some(ScriptedEnd::Fail(ScriptedFailure::Plain))
            }
            // A block that cannot begin is worth seeing, but what is inside should mostly run.
            _ if fails && kind < 25 => Some(ScriptedEnd::Fail(ScriptedFailure::Plain)),
            _ => Some(ScriptedEnd::Return),
        }
    }

    fn failure(&self, key: &CallKey, kind: u64) -> Option<ScriptedEnd> {
        let roll = self.roll(key, "wish");
        let wanted = roll.is_multiple_of(2).then(|| u32::try_from(1 + (roll >> 8) % 4).unwrap_or(1));
        let backoff =
            (roll >> 16).is_multiple_of(3).then(|| ((roll >> 24).is_multiple_of(2), spread(roll >> 3)));
        match kind {
            0..40 => Some(ScriptedEnd::Fail(ScriptedFailure::Plain)),
            40..50 => Some(ScriptedEnd::Fail(ScriptedFailure::Stop)),
            50..65 => Some(ScriptedEnd::Fail(ScriptedFailure::Continue)),
            65..85 => Some(ScriptedEnd::Fail(ScriptedFailure::Retry { wanted, backoff })),
            _ => None,
        }
    }

    /// What a call that returns, returns.
    pub fn value(&self, key: &CallKey, seen: &SeenByCall) -> serde_json::Value {
        let roll = self.roll(key, "value");
        match key.part {
            ScriptPart::Step | ScriptPart::Input | ScriptPart::Finally => json!(format!(
                "{}#{}~{:08x}",
                key.node,
                key.attempt,
                hash(0, &[format!("{seen:?}").as_bytes()]) >> 32
            )),
            ScriptPart::Handler | ScriptPart::Undo | ScriptPart::Once => serde_json::Value::Null,
            ScriptPart::Wait => match roll % 10 {
                0 => json!({ "forMs": 0 }),
                1 => json!({ "untilMs": 0 }),
                2 if self.failing > 0 => json!("soon"),
                _ => json!({ "forMs": spread(roll >> 4) }),
            },
            ScriptPart::Choose => self.choice(key, roll),
            ScriptPart::Test => json!(roll % 5 < 2),
            ScriptPart::Items => match roll % 24 {
                0 if self.failing > 0 => json!({ "not": "a list" }),
                n => json!((0..n % 7).map(|n| format!("item{n}")).collect::<Vec<_>>()),
            },
        }
    }

    fn choice(&self, key: &CallKey, roll: u64) -> serde_json::Value {
        let Some(branch) = self.branches.get(id_of(&key.node)) else { return serde_json::Value::Null };
        let cases = branch.cases.len() as u64;
        let chosen = branch.cases.get(usize::try_from(roll % (cases + 1)).unwrap_or(0));
        let binary = branch.cases.iter().all(|case| case.name == "then" || case.name == "else");
        match chosen {
            Some(case) if binary => json!(case.name == "then"),
            Some(case) => json!(case.name),
            None if binary => json!(false),
            None if self.failing > 0 || branch.default.is_some() => json!("elsewhere"),
            None => json!(branch.cases[0].name),
        }
    }
}

/// The id of a node, from its path. Ids are unique in a random plan.
fn id_of(path: &str) -> &str {
    path.rsplit(['/', ':']).next().unwrap_or_default()
}

/// A value without the messages of failures that a collecting block shows: they are for people.
pub fn plainly(mut value: serde_json::Value) -> serde_json::Value {
    match &mut value {
        serde_json::Value::Object(map) => {
            if let Some(serde_json::Value::Object(failed)) = map.get_mut("$failed") {
                failed.remove("message");
            }
            map.values_mut().for_each(|part| *part = plainly(part.take()));
        }
        serde_json::Value::Array(list) => list.iter_mut().for_each(|part| *part = plainly(part.take())),
        _ => {}
    }
    value
}
