//! The schemas of the signals that a workflow waits for.

use std::collections::BTreeMap;

use super::draft::NodePart;
use super::outline::PlanOutline;
use crate::error::BuildError;

/// By the signal's name; those of nested workflows too, because a signal is sent to the run.
pub(super) fn schemas(
    outline: &PlanOutline<'_>,
    problems: &mut Vec<BuildError>,
) -> BTreeMap<String, serde_json::Value> {
    let mut schemas = BTreeMap::new();
    for site in &outline.nodes {
        let mut add = |name: &String, schema: &serde_json::Value| {
            let known = schemas.entry(name.clone()).or_insert_with(|| schema.clone());
            if known != schema {
                let message =
                    format!("signal `{name}` is waited for with different types: use one, or another name");
                problems.push(BuildError::new(message, site.part.location));
            }
        };
        match &site.part.part {
            NodePart::Signal(signal) => {
                add(&signal.signal, &signal.schema);
                if signal.timeout_is_value && signal.takes_null {
                    let message = format!(
                        "signal `{}`: a payload that may be nothing cannot be told from a timeout: \
                         wait for a bool or an enum, or use `.timeout(..)`",
                        signal.signal
                    );
                    problems.push(BuildError::new(message, site.part.location));
                }
            }
            NodePart::Nested { nested, .. } => {
                nested.built.signal_schemas.iter().for_each(|(name, schema)| add(name, schema));
            }
            NodePart::Step(_)
            | NodePart::Sleep(_)
            | NodePart::Branch(_)
            | NodePart::Loop(_)
            | NodePart::Each(_)
            | NodePart::Parallel(_) => {}
        }
    }
    schemas
}
