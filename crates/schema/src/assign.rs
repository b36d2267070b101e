//! Assignability: whether all values of one schema may go where another is expected.

use std::fmt;

use serde_json::Value;

use crate::judge::ValueJudgement;
use crate::node::NodeId;
use crate::path::{PathSegment, path_text};
use crate::prove::{SchemaComparison, TOO_LARGE};
use crate::schema::JsonSchema;
use crate::text::shorten;
use crate::witness::{RefusalReason, ValueRefusal, WitnessSearch, part_at};
use crate::workspace::{NodeSet, Workspace};

/// Units of work for a proof, and again for the search of an instance. One is a node compared, or judged against a value.
const WORK_MAX: u64 = 100_000;

/// What is known of an assignment.
#[derive(Clone, Debug, PartialEq)]
pub enum AssignVerdict {
    /// Every instance of the source is one of the target.
    Yes,
    /// An instance of the source exists that the target refuses.
    No(Box<TypeMismatch>),
    /// Neither could be proven.
    Unknown {
        /// Where the proof ended.
        path: Vec<PathSegment>,
        /// Why it ended.
        why: String,
    },
}

/// A proven mismatch.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeMismatch {
    /// Where in the value it is.
    pub path: Vec<PathSegment>,
    /// The type that is expected there.
    pub expected: String,
    /// The type that is there.
    pub actual: String,
    /// Both in a sentence.
    pub message: String,
    /// An instance of the source that the target refuses: the proof.
    pub witness: Value,
}

impl fmt::Display for TypeMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Whether every value that satisfies `from` satisfies `to`.
///
/// It always ends: schemas that are too large or too entangled to compare are [`AssignVerdict::Unknown`].
pub fn assignable(from: &JsonSchema, to: &JsonSchema) -> AssignVerdict {
    assignable_within(from, to, WORK_MAX).0
}

/// The same with at most so much work for each of its parts, and how much it was in all. It is for those that compare many
/// schemas and bound the sum.
pub fn assignable_within(from: &JsonSchema, to: &JsonSchema, work_max: u64) -> (AssignVerdict, u64) {
    let work_max = work_max.min(WORK_MAX);
    let mut space = Workspace::new(work_max);
    let source = space.import(from);
    let target = space.import(to);
    let left = space.set([source]);
    let mut spent = space.nodes().len() as u64;
    let mut comparison = SchemaComparison::new(space);
    let Err(doubt) = comparison.prove(&left, target) else {
        return (AssignVerdict::Yes, spent + work_max - comparison.space.work_left());
    };
    let was_spent = comparison.space.is_spent();
    spent += work_max - comparison.space.work_left();
    comparison.space.refill(work_max);
    let mut search = WitnessSearch::new(comparison);
    let witnesses = search.counterexamples(&left, target);
    let mut comparison = search.comparison;
    spent += work_max - comparison.space.work_left();
    comparison.space.refill(work_max);
    let verdict = match simplest(&comparison.space, target, witnesses) {
        Some(witness) if is_certain(&comparison.space, &left, target, &witness) => {
            AssignVerdict::No(Box::new(mismatch(&mut comparison, &left, target, witness)))
        }
        _ if was_spent => AssignVerdict::Unknown { path: Vec::new(), why: TOO_LARGE.to_owned() },
        _ => AssignVerdict::Unknown { path: doubt.path, why: doubt.why },
    };
    (verdict, spent + work_max - comparison.space.work_left())
}

/// The witness that is refused for its type rather than for a detail, and is short.
fn simplest(space: &Workspace, to: NodeId, witnesses: Vec<Value>) -> Option<Value> {
    witnesses.into_iter().min_by_key(|value| {
        let reason = ValueRefusal::find(space, to, value).reason;
        (matches!(reason, RefusalReason::Keyword(_)), value.to_string().len())
    })
}

/// The search has judged it already; this is the line on which the verdict rests.
fn is_certain(space: &Workspace, left: &NodeSet, to: NodeId, witness: &Value) -> bool {
    space.judge_all(left, witness) == ValueJudgement::Accepted
        && space.judge(to, witness) == ValueJudgement::Refused
}

fn mismatch(comparison: &mut SchemaComparison, left: &NodeSet, to: NodeId, witness: Value) -> TypeMismatch {
    let refusal = ValueRefusal::find(&comparison.space, to, &witness);
    let place = refusal.left_at(&mut comparison.space, left, &witness);
    let mut actual = comparison.text(place.ids());
    let mut expected = comparison.text(&[refusal.node]);
    let subject = match path_text(&refusal.path) {
        text if text.is_empty() => "the value".to_owned(),
        text => format!("`{text}`"),
    };
    let message = match &refusal.reason {
        RefusalReason::Type => format!("{subject} is `{actual}`, and `{expected}` is expected"),
        RefusalReason::Extra => {
            expected = "undefined".to_owned();
            format!("{subject} is not a property that is expected")
        }
        RefusalReason::Missing(name) => {
            let rules = comparison.space.property(refusal.node, name).nodes;
            expected = comparison.text(&rules);
            let is_optional = !place.is_unconstrained() && !comparison.is_empty(&place);
            actual = if is_optional { format!("{actual} | undefined") } else { "undefined".to_owned() };
            let state = if is_optional { "may be absent" } else { "is not there" };
            format!("{subject} {state}, and is required")
        }
        RefusalReason::Keyword(keyword) => {
            let part = part_at(&witness, &refusal.path).map(ToString::to_string).unwrap_or_default();
            format!("{subject} may be {}, which `{keyword}` does not allow", shorten(&part, 60))
        }
    };
    TypeMismatch { path: refusal.path, expected, actual, message, witness }
}
