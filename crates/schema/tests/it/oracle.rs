//! Verdicts against the validator.

use jsonschema::Validator;
use rival_schema::{AssignVerdict, JsonSchema, assignable};
use serde_json::Value;

use crate::dice::Dice;
use crate::instances::instance;

/// Instances that are tried for each verdict.
const TRIES: u64 = 60;

/// How many of each verdict there were.
#[derive(Default, Debug)]
pub struct VerdictCount {
    pub yes: u64,
    pub no: u64,
    pub unknown: u64,
    /// Instances that a yes was tried with.
    pub instances: u64,
}

impl VerdictCount {
    pub fn add(&mut self, verdict: &AssignVerdict) {
        match verdict {
            AssignVerdict::Yes => self.yes += 1,
            AssignVerdict::No(_) => self.no += 1,
            AssignVerdict::Unknown { .. } => self.unknown += 1,
        }
    }

    pub fn total(&self) -> u64 {
        self.yes + self.no + self.unknown
    }
}

pub fn verdict(from: &Value, to: &Value) -> AssignVerdict {
    let read = |schema| JsonSchema::read(schema).unwrap_or_else(|error| panic!("{error}: {schema}"));
    assignable(&read(from), &read(to))
}

/// A schema and its validators: with formats as notes, and with formats that are checked.
pub struct SchemaOracle {
    pub schema: Value,
    /// None where the validator refuses the schema: then nothing can be tried.
    validators: Option<[Validator; 2]>,
}

impl SchemaOracle {
    pub fn new(schema: &Value) -> Self {
        let build = |formats| jsonschema::options().should_validate_formats(formats).build(schema).ok();
        let validators = build(false).zip(build(true)).map(|(notes, checks)| [notes, checks]);
        SchemaOracle { schema: schema.clone(), validators }
    }
}

fn is_draft_4(schema: &Value) -> bool {
    schema.get("$schema").and_then(Value::as_str).is_some_and(|it| it.contains("draft-04"))
}

/// In draft-04 `1.0` is no integer. It is one here: schemas are read in the meaning of 2020-12.
fn without_whole_floats(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if float.fract() == 0.0 => Value::from(float as i64),
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(without_whole_floats).collect(),
        Value::Object(map) => map.into_iter().map(|(key, it)| (key, without_whole_floats(it))).collect(),
        other => other,
    }
}

/// What is wrong with a verdict, if anything.
pub fn fault(
    from: &SchemaOracle,
    to: &SchemaOracle,
    verdict: &AssignVerdict,
    count: &mut VerdictCount,
) -> Option<String> {
    let (source, target) = (from.validators.as_ref()?, to.validators.as_ref()?);
    let (from, to) = (&from.schema, &to.schema);
    match verdict {
        AssignVerdict::Yes => {
            for seed in 1..=TRIES {
                let mut value = instance(from, from, &mut Dice::new(seed), 0);
                if is_draft_4(from) || is_draft_4(to) {
                    value = without_whole_floats(value);
                }
                for (source, target) in source.iter().zip(target) {
                    let is_instance = source.is_valid(&value);
                    count.instances += u64::from(is_instance);
                    if is_instance && !target.is_valid(&value) {
                        return Some(format!("said yes, but {value} is an instance that is refused"));
                    }
                }
            }
            None
        }
        AssignVerdict::No(mismatch) => {
            let witness = &mismatch.witness;
            for (source, target) in source.iter().zip(target) {
                if !source.is_valid(witness) {
                    return Some(format!("said no, but the witness {witness} is no instance"));
                }
                if target.is_valid(witness) {
                    return Some(format!("said no, but the witness {witness} is accepted"));
                }
            }
            None
        }
        AssignVerdict::Unknown { .. } => None,
    }
}

/// The verdict, which must not be wrong.
#[track_caller]
pub fn check(from: &SchemaOracle, to: &SchemaOracle, count: &mut VerdictCount) -> AssignVerdict {
    let verdict = verdict(&from.schema, &to.schema);
    count.add(&verdict);
    if let Some(fault) = fault(from, to, &verdict, count) {
        panic!("{fault}\nfrom: {}\nto:   {}\n{verdict:?}", from.schema, to.schema);
    }
    verdict
}
