//! Triggers: workflows that a completed run starts.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;
use std::time::Duration;

use rival_core::Segment;
use rival_core::plan;
use rival_engine::template::{MissingValue, Template, TemplateRef};
use rival_engine::{check_trigger, encode};
use serde::Serialize;

use crate::build::SourceLocation;
use crate::config::whole_ms;
use crate::error::BuildError;
use crate::workflow::Workflow;

/// A workflow that a run starts when it has completed, for [`trigger`](crate::WorkflowBuilder::trigger).
///
/// It happens exactly once, also if the process dies in between, and the completed run does not wait for it. A value that is
/// not there skips the trigger, so the output decides what follows.
///
/// ```
/// use rival::prelude::*;
/// # #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// # struct Confirmation { order_id: u32, email: String }
/// # #[derive(serde::Serialize, serde::Deserialize)]
/// # struct Order { id: u32, parcels: Vec<u32> }
/// # #[step] async fn place() -> Result<Order, StepError> { Ok(Order { id: 7, parcels: vec![1, 2] }) }
/// # #[step] async fn send(Input(_): Input<Confirmation>) -> Result<(), StepError> { Ok(()) }
///
/// # fn main() -> Result<(), rival::BuildErrors> {
/// let confirm = Workflow::new("send-confirmation").input::<Confirmation>().step(send).build()?;
///
/// let order = Workflow::new("order")
///     .step(place)
///     .trigger(
///         Trigger::to(&confirm)
///             .input("order_id", TriggerValue::output().at("id"))
///             .input("email", "shop@example.com")
///             .max_retries(3),
///     )
///     // One run for each parcel.
///     .trigger(
///         Trigger::to("ship-parcel")
///             .for_each(TriggerValue::output().at("parcels"))
///             .input("parcel", TriggerValue::item()),
///     )
///     .build()?;
/// # assert_eq!(order.plan().triggers.len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a trigger is added to a workflow with `.trigger(..)`"]
pub struct Trigger {
    target: TriggerTarget,
    fields: Vec<(String, TriggerValue)>,
    whole: Option<TriggerValue>,
    for_each: Option<TriggerValue>,
    timeout: Option<Duration>,
    max_retries: Option<u32>,
    location: SourceLocation,
}

/// What a trigger starts: a workflow, or one that is known by its name, such as a document or a TypeScript file.
#[derive(Clone, Debug)]
pub struct TriggerTarget {
    name: String,
    /// What the workflow takes, if it is given and not only named.
    takes: Option<TakenInput>,
}

/// The fields of a workflow's input.
#[derive(Clone, Debug, Default)]
struct TakenInput {
    known: BTreeSet<String>,
    required: BTreeSet<String>,
    /// Whether it takes others, too.
    is_open: bool,
}

impl TakenInput {
    fn of(schema: &serde_json::Value) -> Option<Self> {
        let known: BTreeSet<String> = schema.get("properties")?.as_object()?.keys().cloned().collect();
        let required = schema.get("required").and_then(serde_json::Value::as_array);
        let required = required.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned));
        let is_open = schema.get("additionalProperties").is_some_and(|it| *it != false);
        Some(Self { known, required: required.collect(), is_open })
    }
}

impl From<&str> for TriggerTarget {
    fn from(name: &str) -> Self {
        Self { name: name.to_owned(), takes: None }
    }
}

impl From<String> for TriggerTarget {
    fn from(name: String) -> Self {
        Self { name, takes: None }
    }
}

impl<I, O> From<&Workflow<I, O>> for TriggerTarget {
    fn from(workflow: &Workflow<I, O>) -> Self {
        Self { name: workflow.name().to_owned(), takes: workflow.input_schema().and_then(TakenInput::of) }
    }
}

impl Trigger {
    /// Starts this workflow. A workflow that is given, and not only named, is asked which fields it takes when the other one is
    /// built.
    #[track_caller]
    pub fn to(workflow: impl Into<TriggerTarget>) -> Self {
        Self {
            target: workflow.into(),
            fields: Vec::new(),
            whole: None,
            for_each: None,
            timeout: None,
            max_retries: None,
            location: Location::caller(),
        }
    }

    /// A field of its input: a value of the completed run, or any text, number or JSON.
    pub fn input(mut self, field: impl Into<String>, value: impl Into<TriggerValue>) -> Self {
        self.fields.push((field.into(), value.into()));
        self
    }

    /// Its whole input, where that is not put together of fields: `.input_from(TriggerValue::output())`.
    pub fn input_from(mut self, value: impl Into<TriggerValue>) -> Self {
        self.whole = Some(value.into());
        self
    }

    /// Starts a run for each item of this list; [`TriggerValue::item`] and [`TriggerValue::index`] are there then.
    pub fn for_each(mut self, list: impl Into<TriggerValue>) -> Self {
        self.for_each = Some(list.into());
        self
    }

    /// Overrides the timeout of the workflow that it starts.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Overrides how often the workflow that it starts is retried by itself.
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.max_retries = Some(retries);
        self
    }

    /// The trigger as the plan has it, and what is wrong with it. What is wrong in the names of workflows the plan's own check
    /// finds.
    pub(crate) fn compile(&self, problems: &mut Vec<BuildError>) -> Option<plan::Trigger> {
        let before = problems.len();
        let workflow = &self.target.name;
        let mut wrong = |message: String| {
            problems.push(BuildError::new(format!("trigger of `{workflow}`: {message}"), self.location));
        };
        if self.whole.is_some() && !self.fields.is_empty() {
            wrong("it has `.input_from(..)` and `.input(..)`: the whole input, or its fields".to_owned());
        }
        self.check_fields(&mut wrong);
        let inputs = self.inputs();
        let planned =
            plan::Trigger::new(workflow, &inputs.to_value()).and_then(|planned| match &self.for_each {
                Some(list) => planned.with_list(&list.0.to_value()),
                None => Ok(planned),
            });
        let mut planned = match planned {
            Ok(planned) => planned,
            Err(error) => {
                wrong(error.message);
                return None;
            }
        };
        planned.timeout_ms = self.timeout.map(whole_ms);
        planned.max_retries = self.max_retries;
        if let Err(message) = check_trigger(&planned) {
            let hint = if message.contains("`item`") || message.contains("`index`") {
                "; `.for_each(..)` starts a run for each item of a list"
            } else {
                ""
            };
            wrong(format!("{message}{hint}"));
        }
        (problems.len() == before).then_some(planned)
    }

    fn inputs(&self) -> Template {
        match &self.whole {
            Some(whole) => whole.0.clone(),
            None if self.fields.is_empty() => Template::Literal(rival_core::Value::null()),
            None => Template::Object(
                self.fields.iter().map(|(name, value)| (name.clone(), value.0.clone())).collect(),
            ),
        }
    }

    /// What the workflow takes, if that is known: fields that are given twice or that it does not know, and those that it
    /// needs.
    fn check_fields(&self, wrong: &mut impl FnMut(String)) {
        let mut given = BTreeSet::new();
        for (name, _) in &self.fields {
            if !given.insert(name.as_str()) {
                wrong(format!("`{name}` is given twice"));
            }
        }
        let Some(takes) = self.target.takes.as_ref().filter(|_| self.whole.is_none()) else { return };
        let list = |names: &BTreeSet<String>| {
            names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
        };
        for name in given.iter().filter(|name| !takes.is_open && !takes.known.contains(**name)) {
            wrong(format!("the workflow takes no `{name}`; it takes {}", list(&takes.known)));
        }
        let missing: BTreeSet<String> =
            takes.required.iter().filter(|name| !given.contains(name.as_str())).cloned().collect();
        if !missing.is_empty() {
            wrong(format!("the workflow needs {}: add `.input(..)`", list(&missing)));
        }
    }
}

/// A value that a trigger gives: of the completed run, or a value of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerValue(Template);

impl TriggerValue {
    fn root(name: &str) -> Self {
        let (root, way, missing) = (name.to_owned(), Vec::new(), MissingValue::Fail);
        Self(Template::Ref(TemplateRef { root, way, missing }))
    }

    /// What the completed run gave.
    pub fn output() -> Self {
        Self::root("output")
    }

    /// What the completed run was given.
    pub fn input() -> Self {
        Self::root("input")
    }

    /// The item, with [`Trigger::for_each`].
    pub fn item() -> Self {
        Self::root("item")
    }

    /// The number of the item, from 0.
    pub fn index() -> Self {
        Self::root("index")
    }

    /// The value at a key, or with a number at a place in a list. If nothing is there when the run has completed, the trigger is
    /// skipped; `null` is something. Of a value that is no part of the run there is none.
    #[must_use]
    pub fn at(mut self, segment: impl Into<Segment>) -> Self {
        if let Template::Ref(reference) = &mut self.0 {
            reference.way.push(segment.into());
        }
        self
    }

    /// Leaves its place out if it is not there, instead of skipping the trigger.
    #[must_use]
    pub fn optional(mut self) -> Self {
        if let Template::Ref(reference) = &mut self.0 {
            reference.missing = MissingValue::Omit;
        }
        self
    }

    /// Anything that serde can write; `null` if it cannot.
    pub fn of(value: &impl Serialize) -> Self {
        Self(Template::Literal(encode(value).unwrap_or_default()))
    }

    /// An object of values.
    pub fn object<K: Into<String>, V: Into<Self>>(fields: impl IntoIterator<Item = (K, V)>) -> Self {
        let fields = fields.into_iter().map(|(key, value)| (key.into(), value.into().0));
        Self(Template::Object(fields.collect::<BTreeMap<_, _>>()))
    }

    /// A list of values.
    pub fn list<V: Into<Self>>(items: impl IntoIterator<Item = V>) -> Self {
        Self(Template::List(items.into_iter().map(|item| item.into().0).collect()))
    }
}

macro_rules! own_values {
    ($($kind:ty),+) => {
        $(impl From<$kind> for TriggerValue {
            fn from(value: $kind) -> Self {
                Self::of(&value)
            }
        })+
    };
}
own_values!(&str, String, bool, i32, i64, u32, u64, f64, serde_json::Value, rival_core::Value);
