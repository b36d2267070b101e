//! The flow of data: the type of what a template builds against the type that it feeds.
//!
//! Objects and lists that a document builds are compared part by part, so that each problem has its own place. What remains
//! (unions, sizes, conditions) is decided by comparing the whole, once no part is wrong.

use std::collections::{HashMap, HashSet};

use rival_schema::{
    AssignVerdict, JsonSchema, PathSegment, SchemaLookup, TypeMismatch, assignable_within, schema_at,
    schemas_inside,
};

use crate::known_type::{KnownType, ValueType, found};
use crate::place::SourcePlace;
use crate::problem::{DocumentProblem, ProblemCode, ProblemList};
use crate::template::{FieldPath, RefRoot, RefSlot};

/// Work for all comparisons of one document; see `rival_schema::assignable_within`. A comparison of two usual types takes some
/// hundred units.
const WORK_MAX: u64 = 16_000_000;
/// What one step into a type takes.
const LOOKUP_WORK: u64 = 50;
/// What a comparison takes besides: it makes room for both types, and a message.
const COMPARISON_WORK: u64 = 100;
const FRACTION: &str = "TypeScript's `number` may have a fraction, and whole numbers are expected";
pub(crate) const TOO_MUCH: &str = "the types of the document are too large to compare all of them";

/// What a step gives.
#[derive(Clone, Debug)]
pub(crate) struct StepOutput {
    pub(crate) value: ValueType,
    /// Whether the run may go on without it.
    pub(crate) optional: bool,
}

/// The values that refs begin with.
#[derive(Debug)]
pub(crate) struct FlowSources {
    pub(crate) input: ValueType,
    pub(crate) steps: Vec<StepOutput>,
    pub(crate) item: ValueType,
    pub(crate) output: StepOutput,
}

/// The type of what a ref leads to.
#[derive(Clone, Debug)]
pub(crate) struct RefType {
    pub(crate) known: KnownType,
    pub(crate) optional: bool,
    /// False if nothing is known of it, which was said.
    pub(crate) is_known: bool,
}

/// Where a value is, for messages.
#[derive(Debug)]
pub(crate) struct ValueSpot<'a> {
    pub(crate) place: SourcePlace,
    pub(crate) field: String,
    pub(crate) reference: Option<&'a str>,
}

/// Compares types, up to a sum of work.
pub(crate) struct TypeFlow {
    pub(crate) sources: FlowSources,
    work_left: u64,
    /// Sources of which it was said that nothing is known of them.
    unsaid: HashSet<RefRoot>,
    /// Lookups that many refs share.
    lookups: HashMap<(RefRoot, Vec<PathSegment>), SchemaLookup>,
}

impl TypeFlow {
    pub(crate) fn new(sources: FlowSources) -> Self {
        TypeFlow { sources, work_left: WORK_MAX, unsaid: HashSet::new(), lookups: HashMap::new() }
    }

    /// Sets what `@item` is.
    pub(crate) fn set_item(&mut self, item: ValueType) {
        self.sources.item = item;
        self.unsaid.remove(&RefRoot::Item);
    }

    /// The schema at a path, if there is work left for it.
    pub(crate) fn look(&mut self, schema: &JsonSchema, path: &[PathSegment]) -> SchemaLookup {
        if path.is_empty() {
            return SchemaLookup::Found { schema: schema.clone(), optional: false };
        }
        if !self.spend(schema.size() as u64 + LOOKUP_WORK * path.len() as u64) {
            return SchemaLookup::Unknown { why: TOO_MUCH.to_owned() };
        }
        schema_at(schema, path)
    }

    /// The schemas of places directly inside of a schema.
    pub(crate) fn look_inside(
        &mut self,
        schema: Option<&JsonSchema>,
        segments: &[PathSegment],
    ) -> Vec<Option<SchemaLookup>> {
        match schema {
            Some(schema) if self.spend(schema.size() as u64 + LOOKUP_WORK * segments.len() as u64) => {
                schemas_inside(schema, segments).into_iter().map(Some).collect()
            }
            Some(_) | None => vec![None; segments.len()],
        }
    }

    /// Takes work; false if there is not enough left, and then none is.
    pub(crate) fn spend(&mut self, work: u64) -> bool {
        let is_enough = self.work_left >= work;
        self.work_left = self.work_left.saturating_sub(work);
        is_enough
    }

    /// Whether no work is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.work_left == 0
    }

    /// The type of what a ref leads to; none if that is an error, which was reported.
    pub(crate) fn type_of(
        &mut self,
        slot: &RefSlot,
        field: &FieldPath,
        problems: &mut ProblemList,
    ) -> Option<RefType> {
        let root = slot.root?;
        let (source, is_optional) = match root {
            RefRoot::Input => (self.sources.input.clone(), false),
            RefRoot::Item => (self.sources.item.clone(), false),
            RefRoot::Index => (ValueType::Known(index_schema().into()), false),
            RefRoot::Output => (self.sources.output.value.clone(), self.sources.output.optional),
            RefRoot::Step(step) => {
                let step = self.sources.steps.get(step)?;
                (step.value.clone(), step.optional)
            }
        };
        let KnownType { schema, whole } = match source {
            ValueType::Known(known) => known,
            ValueType::Broken => return None,
            ValueType::Unsaid(why) => {
                if self.unsaid.insert(root) {
                    let message = format!("{why}: what refers to it is not checked");
                    let problem = DocumentProblem::new(ProblemCode::MissingSchema, slot.place, message);
                    problems.warn(problem.field(field.text()).reference(&slot.reference.written));
                }
                return Some(RefType { known: JsonSchema::any().into(), optional: false, is_known: false });
            }
        };
        match self.shared_look(root, &schema, slot.path()) {
            SchemaLookup::Found { schema, optional } => {
                let whole = whole.and_then(|whole| found(self.look(&whole, slot.path())));
                let known = KnownType { schema, whole };
                Some(RefType { known, optional: optional || is_optional, is_known: true })
            }
            SchemaLookup::Missing { why, nearest, .. } => {
                let help = nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
                let message = format!("`{}` leads to nothing: {why}{help}", slot.reference.written);
                let problem = DocumentProblem::new(ProblemCode::MissingRef, slot.place, message);
                let problem = problem.field(field.text()).reference(&slot.reference.written);
                problems.error(DocumentProblem { actual: Some(schema.to_string()), ..problem });
                None
            }
            SchemaLookup::Unknown { why } => {
                let message = format!("`{}` cannot be checked: {why}", slot.reference.written);
                let problem = DocumentProblem::new(ProblemCode::Unproven, slot.place, message);
                problems.warn(problem.field(field.text()).reference(&slot.reference.written));
                Some(RefType { known: JsonSchema::any().into(), optional: false, is_known: false })
            }
        }
    }

    fn shared_look(&mut self, root: RefRoot, schema: &JsonSchema, path: &[PathSegment]) -> SchemaLookup {
        // Items are others in each step.
        if path.is_empty() || !matches!(root, RefRoot::Input | RefRoot::Step(_)) {
            return self.look(schema, path);
        }
        let key = (root, path.to_vec());
        if let Some(known) = self.lookups.get(&key) {
            return known.clone();
        }
        let found = self.look(schema, path);
        self.lookups.insert(key, found.clone());
        found
    }

    fn verdict(&mut self, from: &KnownType, to: &JsonSchema) -> AssignVerdict {
        let verdict = self.assign(&from.schema, to);
        match &from.whole {
            Some(whole) if matches!(verdict, AssignVerdict::No(_)) => match self.assign(whole, to) {
                AssignVerdict::Yes => AssignVerdict::Unknown { path: Vec::new(), why: FRACTION.to_owned() },
                unknown @ AssignVerdict::Unknown { .. } => unknown,
                AssignVerdict::No(_) => verdict,
            },
            Some(_) | None => verdict,
        }
    }

    fn assign(&mut self, from: &JsonSchema, to: &JsonSchema) -> AssignVerdict {
        let (verdict, work) = match self.work_left {
            0 => (AssignVerdict::Unknown { path: Vec::new(), why: TOO_MUCH.to_owned() }, 0),
            work_left => assignable_within(from, to, work_left),
        };
        self.spend(work + COMPARISON_WORK);
        verdict
    }

    /// Whether a value may go where a type is expected; says so if not, and if that cannot be known.
    pub(crate) fn compare(
        &mut self,
        from: &KnownType,
        to: &JsonSchema,
        spot: &ValueSpot<'_>,
        problems: &mut ProblemList,
    ) -> bool {
        let verdict = self.verdict(from, to);
        let from = &from.schema;
        match verdict {
            AssignVerdict::Yes => true,
            AssignVerdict::No(mismatch) => {
                let message = mismatch_message(from, to, &mismatch, spot.reference);
                let problem = DocumentProblem::new(ProblemCode::TypeMismatch, spot.place, message);
                problems.error(spotted(problem, spot).types(to, from));
                false
            }
            AssignVerdict::Unknown { path, why } => {
                let inside = match rival_schema::path_text(&path) {
                    text if text.is_empty() => String::new(),
                    text => format!("at `{text}`, "),
                };
                let message = format!("it is not proven that `{from}` always fits `{to}`: {inside}{why}");
                let problem = DocumentProblem::new(ProblemCode::Unproven, spot.place, message);
                problems.warn(spotted(problem, spot).types(to, from));
                false
            }
        }
    }
}

/// What `@index` is.
fn index_schema() -> JsonSchema {
    JsonSchema::read(&serde_json::json!({ "type": "integer", "minimum": 0 }))
        .unwrap_or_else(|_| JsonSchema::any())
}

pub(crate) fn spotted(mut problem: DocumentProblem, spot: &ValueSpot<'_>) -> DocumentProblem {
    problem.reference = spot.reference.map(str::to_owned);
    problem.field(spot.field.as_str())
}

fn mismatch_message(
    from: &JsonSchema,
    to: &JsonSchema,
    mismatch: &TypeMismatch,
    reference: Option<&str>,
) -> String {
    let plain = format!("the value is `{from}`, and `{to}` is expected");
    let subject = reference.map_or_else(|| "the value".to_owned(), |reference| format!("`{reference}`"));
    let message = format!("expected `{to}`, but {subject} is `{from}`");
    if mismatch.message == plain { message } else { format!("{message}: {}", mismatch.message) }
}
