//! What a run came to, as the model says it and as the engine's history says it.

use std::collections::{BTreeMap, BTreeSet};

use rival_core::{NodeStatus, RunStatus};
use serde_json::Value;

use crate::script::CallKey;

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialSummary {
    /// How it ended; `None` if it did not.
    pub status: Option<RunStatus>,
    /// What it gave, if it completed.
    pub output: Option<Value>,
    /// The code of its failure, and the node that failed.
    pub failed: Option<(String, Option<String>)>,
    /// How each node that began ended.
    pub nodes: BTreeMap<String, NodeSummary>,
    /// What the nodes of the outermost block gave, without those that gave nothing.
    pub results: BTreeMap<String, Value>,
    /// The calls that were made.
    pub calls: BTreeSet<CallKey>,
    /// The steps that were undone, in order, by the innermost lane around them that lost: each such lane is undone by
    /// itself, and all others with the run. With the moment at which each had ended.
    pub undone: BTreeMap<String, Vec<(u64, String)>>,
}

/// How a node ended.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeSummary {
    /// Its status.
    pub status: NodeStatus,
    /// Charged attempts, of a step.
    pub attempts: u32,
    /// The result, of a step.
    pub result: Option<Value>,
}

/// A way in which two summaries differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryDifference {
    /// What differs.
    pub what: String,
    /// What the model says.
    pub expected: String,
    /// What the engine did.
    pub got: String,
}

impl TrialSummary {
    /// Where `got` is not what this says.
    pub fn differences(&self, got: &Self) -> Vec<SummaryDifference> {
        let mut found = Vec::new();
        compare(&mut found, "the run's status", &self.status, &got.status);
        compare(&mut found, "the run's output", &self.output, &got.output);
        compare(&mut found, "the run's failure", &self.failed, &got.failed);
        compare_maps(&mut found, "node", &self.nodes, &got.nodes);
        compare_maps(&mut found, "result of", &self.results, &got.results);
        for missing in self.calls.difference(&got.calls) {
            found.push(SummaryDifference {
                what: missing.to_string(),
                expected: "called".into(),
                got: "not called".into(),
            });
        }
        for extra in got.calls.difference(&self.calls) {
            found.push(SummaryDifference {
                what: extra.to_string(),
                expected: "not called".into(),
                got: "called".into(),
            });
        }
        compare_maps(
            &mut found,
            "the order of compensations in",
            &in_order(&self.undone),
            &in_order(&got.undone),
        );
        found
    }
}

fn compare<T: PartialEq + std::fmt::Debug>(
    found: &mut Vec<SummaryDifference>,
    what: &str,
    expected: &T,
    got: &T,
) {
    if expected != got {
        let (expected, got) = (format!("{expected:?}"), format!("{got:?}"));
        found.push(SummaryDifference { what: what.to_owned(), expected, got });
    }
}

fn compare_maps<T: PartialEq + std::fmt::Debug>(
    found: &mut Vec<SummaryDifference>,
    what: &str,
    expected: &BTreeMap<String, T>,
    got: &BTreeMap<String, T>,
) {
    let keys: BTreeSet<&String> = expected.keys().chain(got.keys()).collect();
    for key in keys {
        compare(found, &format!("{what} `{key}`"), &expected.get(key), &got.get(key));
    }
}

/// What ended at one moment has no order.
fn in_order(undone: &BTreeMap<String, Vec<(u64, String)>>) -> BTreeMap<String, Vec<(u64, String)>> {
    let mut undone = undone.clone();
    for list in undone.values_mut() {
        list.chunk_by_mut(|(one, _), (other, _)| one == other).for_each(<[_]>::sort);
    }
    undone
}
