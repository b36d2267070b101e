//! Plans in short, for people.

use rival_core::plan::{
    BlockOrder, Join, LoopTest, Node, NodeKind, OnFailure, OnTimeout, PlanBlock, RetryPolicy, SleepLength,
    StepNode,
};

/// A block on one line: nodes in order, what is inside of them in brackets.
pub fn block(block: &PlanBlock) -> String {
    let nodes: Vec<String> = block.nodes.iter().map(node).collect();
    match block.order {
        BlockOrder::Sequence => nodes.join(" "),
        BlockOrder::Graph => format!("graph<{}>", nodes.join(" ")),
        BlockOrder::Phases => {
            let phases = block.nodes.chunk_by(|one, next| one.phase == next.phase);
            let phases: Vec<String> =
                phases.map(|phase| phase.iter().map(node).collect::<Vec<_>>().join(" ")).collect();
            format!("phases<{}>", phases.join("; "))
        }
    }
}

fn node(node: &Node) -> String {
    let after = if node.after.is_empty() { String::new() } else { format!("^{}", node.after.join("^")) };
    let lanes = node.blocks().into_iter().map(|(name, inner)| match name {
        Some(name) => format!("{name}: {}", block(inner)),
        None => block(inner),
    });
    let lanes = lanes.collect::<Vec<_>>().join(" | ");
    let inside = if lanes.is_empty() { lanes } else { format!("[{lanes}]") };
    format!("{}{after}{}{inside}", node.id, settings(&node.kind))
}

fn settings(kind: &NodeKind) -> String {
    let mut words = Vec::new();
    match kind {
        NodeKind::Step(step) => step_words(step, &mut words),
        NodeKind::Sleep(sleep) => words.push(match &sleep.wait {
            SleepLength::ForMs(ms) => format!("for={ms}"),
            SleepLength::UntilMs(at) => format!("until={at}"),
            SleepLength::Computed(_) => "computed".to_owned(),
        }),
        NodeKind::Signal(signal) => {
            words.push(signal.signal.clone());
            words.extend(signal.timeout_ms.map(|ms| format!("timeout={ms}")));
            words.extend(signal.timeout_is_value.then(|| "value".to_owned()));
        }
        NodeKind::Branch(_) => {}
        NodeKind::Loop(each) => {
            let test = if matches!(each.test, LoopTest::Until(_)) { "until" } else { "while" };
            words.push(format!("{test}, most={}", each.max_iterations));
        }
        NodeKind::ForEach(each) => {
            words.push(format!("window={}", each.concurrency));
            words.extend(each.max_iterations.map(|most| format!("most={most}")));
        }
        NodeKind::Parallel(parallel) => {
            match parallel.join {
                Join::All => {}
                Join::First => words.push("first".to_owned()),
                Join::N(n) => words.push(format!("n={n}")),
            }
            words.extend((parallel.on_failure == OnFailure::Collect).then(|| "collect".to_owned()));
            words.extend(parallel.finally.as_ref().map(|_| "finally".to_owned()));
        }
        NodeKind::Workflow(nested) => {
            words.extend(nested.input.as_ref().map(|_| "input".to_owned()));
            words.extend(nested.on_error.as_ref().map(|_| "handler".to_owned()));
        }
    }
    if words.is_empty() { String::new() } else { format!("{{{}}}", words.join(", ")) }
}

fn step_words(step: &StepNode, words: &mut Vec<String>) {
    words.extend((step.function != "step").then(|| step.function.to_string()));
    retry_words(&step.retry, words);
    words.extend(step.timeout_ms.map(|ms| format!("timeout={ms}")));
    words.extend((step.on_timeout == OnTimeout::Retry).then(|| "timeoutRetries".to_owned()));
    words.extend(step.on_error.as_ref().map(|_| "handler".to_owned()));
    words.extend(step.continue_on_error.then(|| "soft".to_owned()));
    words.extend(step.at_most_once.then(|| "once".to_owned()));
    if let Some(undo) = &step.compensate {
        words.push("undo".to_owned());
        retry_words(&undo.retry, words);
        words.extend(undo.timeout_ms.map(|ms| format!("undoTimeout={ms}")));
    }
}

fn retry_words(retry: &RetryPolicy, words: &mut Vec<String>) {
    words.extend(retry.max_attempts.map(|n| format!("attempts={n}")));
    words.extend(retry.backoff.map(|kind| format!("{kind:?}").to_lowercase()));
    words.extend(retry.backoff_ms.map(|ms| format!("backoff={ms}")));
}
