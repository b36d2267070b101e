//! The ids of nodes.

use std::collections::BTreeMap;

use super::draft::{DraftNode, NodePart};

/// The id of each node of a block: the name it was given, else its function's, kind's or workflow's; used again
/// without a name of its own it is `name_2`. Whether ids clash is checked on the plan.
pub(super) fn ids(parts: &[DraftNode]) -> Vec<String> {
    let mut used: BTreeMap<&str, usize> = BTreeMap::new();
    let id = |part| match own_name(part) {
        Name::Given(name) => name.to_owned(),
        Name::Base(base) => {
            let uses = used.entry(base).or_default();
            *uses += 1;
            if *uses == 1 { base.to_owned() } else { format!("{base}_{uses}") }
        }
    };
    parts.iter().map(|part| &part.part).map(id).collect()
}

enum Name<'a> {
    Given(&'a str),
    Base(&'a str),
}

fn own_name(part: &NodePart) -> Name<'_> {
    let (given, base) = match part {
        NodePart::Step(step) => {
            // Without any name it is refused later; the word only keeps the plan readable until then.
            (&step.named, step.default_name.or(step.function.name).unwrap_or("unnamed"))
        }
        NodePart::Sleep(delay) => (&delay.named, "delay"),
        NodePart::Signal(signal) => (&signal.named, signal.signal.as_str()),
        NodePart::Nested { nested, .. } => (&nested.named, nested.built.plan.workflow.as_str()),
        NodePart::Branch(branch) => return Name::Given(&branch.name),
        NodePart::Loop(each) => return Name::Given(&each.name),
        NodePart::Each(each) => return Name::Given(&each.name),
        NodePart::Parallel(parallel) => return Name::Given(&parallel.name),
    };
    given.as_deref().map_or(Name::Base(base), Name::Given)
}
