//! The fields of objects whose names are known.

use rival_schema::nearest;

use crate::json::{JsonNode, ObjectMember, PlacedJson, PlacedText};
use crate::problem::{DocumentProblem, ProblemCode, ProblemList};
use crate::read_json::shortened;

/// The largest whole number that all readers of JSON keep exactly.
pub(crate) const WHOLE_MAX: u64 = (1 << 53) - 1;

/// The members of an object, and what it is called in messages.
pub(crate) struct ObjectFields<'a> {
    members: &'a [ObjectMember],
    /// What is put before the names of fields: `retry.`, or nothing.
    prefix: &'static str,
}

impl<'a> ObjectFields<'a> {
    /// The fields of an object; those that it cannot have are reported with the name that was probably meant.
    pub(crate) fn read(
        json: &'a PlacedJson,
        what: &'static str,
        prefix: &'static str,
        known: &[&'static str],
        problems: &mut ProblemList,
    ) -> Option<Self> {
        let JsonNode::Object(members) = &json.node else {
            let message = format!("{what} is an object, and this is {}", json.kind());
            let problem = DocumentProblem::new(ProblemCode::InvalidDocument, json.place, message);
            problems.error(problem.field(prefix.trim_end_matches('.')));
            return None;
        };
        for member in members {
            let name = member.key.as_str();
            if !known.contains(&name) {
                let meant = nearest(&shortened(name), known.iter().copied());
                let help = match meant {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("it has {}", listed(known.iter().copied())),
                };
                let message = format!("{what} has no field `{}`; {help}", shortened(name));
                let place = member.key.place();
                problems.error(
                    DocumentProblem::new(ProblemCode::UnknownField, place, message)
                        .field(format!("{prefix}{}", shortened(name))),
                );
            }
        }
        Some(ObjectFields { members, prefix })
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a PlacedJson> {
        self.members.iter().find(|member| member.key.as_str() == name).map(|member| &member.value)
    }

    /// A text that is not empty.
    pub(crate) fn text(&self, name: &str, problems: &mut ProblemList) -> Option<&'a PlacedText> {
        let json = self.get(name)?;
        match &json.node {
            JsonNode::Text(text) if !text.as_str().is_empty() => Some(text),
            JsonNode::Text(_) => {
                self.refuse(name, json, "is empty", problems);
                None
            }
            _ => {
                self.refuse(name, json, &format!("is a text, and this is {}", json.kind()), problems);
                None
            }
        }
    }

    /// A whole number.
    pub(crate) fn whole(
        &self,
        name: &str,
        (min, max): (u64, u64),
        problems: &mut ProblemList,
    ) -> Option<u64> {
        let json = self.get(name)?;
        let number = match &json.node {
            JsonNode::Number { number, .. } => whole(number),
            _ => None,
        };
        match number.filter(|number| (min..=max).contains(number)) {
            Some(number) => Some(number),
            None => {
                self.refuse(name, json, &format!("is a whole number from {min} to {max}"), problems);
                None
            }
        }
    }

    /// A whole number that fits into 32 bits.
    pub(crate) fn small(&self, name: &str, min: u64, problems: &mut ProblemList) -> Option<u32> {
        let number = self.whole(name, (min, u64::from(u32::MAX)), problems)?;
        u32::try_from(number).ok()
    }

    fn refuse(&self, name: &str, json: &PlacedJson, why: &str, problems: &mut ProblemList) {
        let field = format!("{}{name}", self.prefix);
        let message = format!("`{field}` {why}");
        problems.error(DocumentProblem::new(ProblemCode::InvalidDocument, json.place, message).field(field));
    }
}

/// `1e3` and `1000.0` are whole numbers, too.
fn whole(number: &serde_json::Number) -> Option<u64> {
    #[expect(clippy::cast_precision_loss, reason = "it is exact up to this bound")]
    let is_whole = |float: &f64| float.fract() == 0.0 && (0.0..=WHOLE_MAX as f64).contains(float);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, and inside of the range"
    )]
    let from_float = |float: f64| float as u64;
    number.as_u64().or_else(|| number.as_f64().filter(is_whole).map(from_float))
}

/// Names in a message, as many as are pleasant to read.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let mut names = names.into_iter();
    let mut shown: Vec<String> =
        names.by_ref().take(SHOWN).map(|name| format!("`{}`", shortened(name))).collect();
    let others = names.count();
    if others > 0 {
        shown.push(format!("and {others} more"));
    }
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
}
