//! From the text of a document to a document that can be run, or to everything that is wrong with it.

use std::collections::BTreeMap;

use rival_schema::JsonSchema;
use serde_json::{Value, json};

use crate::built::BuiltCheck;
use crate::catalog::CheckContext;
use crate::checked::{CheckedDocument, CheckedForEach, CheckedStep, DocumentCheck, StepAction, StepSchemas};
use crate::decode::{decode, invalid};
use crate::draft::{DraftedAction, DraftedDocument, DraftedForEach, DraftedStep};
use crate::flow::{FlowSources, StepOutput, TOO_MUCH, TypeFlow, ValueSpot};
use crate::json::{PlacedJson, PlacedText};
use crate::known_type::{KnownType, ValueType};
use crate::place::SourcePlace;
use crate::problem::{DocumentProblem, ProblemCode, ProblemList, ProblemOwner};
use crate::scope::{RefScope, StepNames};
use crate::step_schemas::{SchemaFinder, own_schema};
use crate::template::{FieldPath, InputTemplate, TemplateNode};
use crate::triggers::check_triggers;

/// Checks the text of a document. It never fails as a whole: what is wrong is in the result, all of it.
pub fn check_document(text: &str, context: CheckContext<'_>) -> DocumentCheck {
    let mut problems = ProblemList::default();
    let document = match PlacedJson::read(text) {
        Ok(json) => decode(&json, &mut problems).map(|draft| check_draft(&draft, context, &mut problems)),
        Err(errors) => {
            for error in errors {
                let message = error.fault.to_string();
                problems.error(DocumentProblem::new(ProblemCode::InvalidJson, error.place, message));
            }
            None
        }
    };
    let ProblemList { mut errors, mut warnings, left_out, .. } = problems;
    errors.sort_by_key(|problem| problem.place);
    warnings.sort_by_key(|problem| problem.place);
    let document = document.filter(|_| errors.is_empty());
    DocumentCheck { document, errors, warnings, left_out }
}

fn check_draft(
    draft: &DraftedDocument,
    context: CheckContext<'_>,
    problems: &mut ProblemList,
) -> CheckedDocument {
    let input = match &draft.input_schema {
        Some(schema) => own_schema(schema, "inputSchema", problems),
        None => {
            ValueType::Unsaid("the document does not say what it takes (it has no `inputSchema`)".to_owned())
        }
    };
    let output = StepOutput { value: ValueType::Broken, optional: false };
    let sources = FlowSources { input, steps: Vec::new(), item: ValueType::Broken, output };
    let mut check = DocumentChecker::new(draft, TypeFlow::new(sources), context, problems);
    let mut phases: Vec<Vec<CheckedStep>> = Vec::new();
    for step in &draft.steps {
        let checked = check.step(step);
        phases.resize_with(phases.len().max(step.phase + 1), Vec::new);
        phases[step.phase].push(checked);
    }
    check.flow.sources.output = output_of(draft, &check.flow.sources.steps);
    let triggers = check_triggers(draft, context.workflows, &mut check);
    if check.flow.is_spent() {
        let place = SourcePlace::START;
        check.problems.warn(DocumentProblem::new(ProblemCode::Unproven, place, TOO_MUCH));
    }
    CheckedDocument {
        name: text_of(draft.name.as_ref()),
        description: draft.description.clone(),
        input_schema: draft.input_schema.as_ref().map(PlacedJson::to_value),
        schemas: check.schemas,
        phases,
        triggers,
    }
}

fn text_of(text: Option<&PlacedText>) -> String {
    text.map(|text| text.as_str().to_owned()).unwrap_or_default()
}

/// What the document gives: its last phase's step, or a map if that phase has several.
fn output_of(draft: &DraftedDocument, outputs: &[StepOutput]) -> StepOutput {
    let broken = StepOutput { value: ValueType::Broken, optional: false };
    let Some(last) = draft.steps.last() else { return broken };
    let first = draft.steps.partition_point(|step| step.phase < last.phase);
    if let [only] = &outputs[first..] {
        return only.clone();
    }
    let mut fields = Vec::new();
    for (step, output) in draft.steps[first..].iter().zip(&outputs[first..]) {
        let known = match &output.value {
            ValueType::Known(known) if output.optional => known.map(JsonSchema::or_null),
            ValueType::Known(known) => known.clone(),
            ValueType::Unsaid(_) => JsonSchema::any().into(),
            ValueType::Broken => return broken,
        };
        fields.push((text_of(step.name.as_ref()), known, !output.optional));
    }
    StepOutput { value: ValueType::Known(KnownType::closed_object(&fields)), optional: false }
}

/// A document that is being checked.
pub(crate) struct DocumentChecker<'a> {
    pub(crate) names: StepNames<'a>,
    pub(crate) flow: TypeFlow,
    pub(crate) finder: SchemaFinder<'a>,
    pub(crate) problems: &'a mut ProblemList,
    pub(crate) schemas: BTreeMap<String, StepSchemas>,
}

impl<'a> DocumentChecker<'a> {
    pub(crate) fn new(
        draft: &'a DraftedDocument,
        flow: TypeFlow,
        context: CheckContext<'a>,
        problems: &'a mut ProblemList,
    ) -> Self {
        let names = StepNames::read(&draft.steps, problems);
        Self { names, flow, finder: SchemaFinder::new(context), problems, schemas: BTreeMap::new() }
    }
}

impl DocumentChecker<'_> {
    fn step(&mut self, step: &DraftedStep) -> CheckedStep {
        let name = text_of(step.name.as_ref());
        self.problems.owner =
            if name.is_empty() { ProblemOwner::Document } else { ProblemOwner::Step(name.clone()) };
        let types = self.finder.types(step, self.problems);
        let outside = RefScope { phase: Some(step.phase), has_item: false, item_name: None };
        let for_each = step.for_each.as_ref().map(|for_each| self.for_each(for_each, outside));
        let item_name = step.for_each.as_ref().and_then(|it| it.item_name.as_ref()).map(|it| it.as_str());
        let scope = RefScope { has_item: for_each.is_some(), item_name, ..outside };
        let action = self.action(step, &types.input, scope);
        self.flow.sources.steps.push(step_output(step, types.output));
        self.schemas.insert(name.clone(), types.written);
        CheckedStep {
            name,
            action,
            for_each,
            retry: step.retry,
            timeout_ms: step.timeout_ms,
            continue_on_error: step.continue_on_error,
        }
    }

    fn for_each(&mut self, for_each: &DraftedForEach, scope: RefScope<'_>) -> CheckedForEach {
        if let Some(name) = &for_each.item_name
            && self.names.has(name.as_str())
        {
            let message =
                format!("`as` is `{}`, which is the name of a step: a ref could mean both", name.as_str());
            self.problems.error(invalid(name.place(), message).field("as"));
        }
        let items = self.list(&for_each.items, scope);
        CheckedForEach { items, max_iterations: for_each.max_iterations, concurrency: for_each.concurrency }
    }

    /// A ref to a list, whose items `@item` is from here on.
    pub(crate) fn list(&mut self, text: &PlacedText, scope: RefScope<'_>) -> Value {
        let template = InputTemplate::read_text(text, "forEach", self.problems);
        let mut template = self.template(template, "forEach", scope);
        let item = match &template.node {
            TemplateNode::Ref(_) => self.item_of(&mut template, scope),
            TemplateNode::Broken => ValueType::Broken,
            _ => {
                let message = "`forEach` is a ref to a list, as `@input.users`";
                self.problems.error(invalid(text.place(), message).field("forEach"));
                ValueType::Broken
            }
        };
        self.flow.set_item(item);
        self.data(&template)
    }

    fn item_of(&mut self, template: &mut InputTemplate, scope: RefScope<'_>) -> ValueType {
        let field = FieldPath::of("forEach");
        let TemplateNode::Ref(slot) = &template.node else { return ValueType::Broken };
        let Some(found) = self.flow.type_of(slot, &field, self.problems) else { return ValueType::Broken };
        let written = slot.reference.written.as_str();
        if !found.is_known {
            return ValueType::Unsaid(format!("what `{written}` is a list of is not known"));
        }
        let spot = ValueSpot { place: slot.place, field: field.text(), reference: Some(written) };
        if found.optional && scope.phase.is_some() {
            let message = format!("`{written}` may be absent, and a list is required here");
            let problem = DocumentProblem::new(ProblemCode::TypeMismatch, slot.place, message);
            let actual = format!("{} | undefined", found.known.schema);
            self.problems.error(crate::flow::spotted(problem, &spot).types("unknown[]", actual));
        }
        let errors = self.problems.errors.len();
        let list = JsonSchema::any().list_of();
        self.flow.compare(&found.known, &list, &spot, self.problems);
        if self.problems.errors.len() > errors || !self.flow.spend(found.known.schema.size() as u64) {
            return ValueType::Broken;
        }
        // An empty list has no items, and nothing is asked of them.
        found.known.element().map_or_else(ValueType::Unsaid, ValueType::Known)
    }

    fn action(&mut self, step: &DraftedStep, input: &ValueType, scope: RefScope<'_>) -> StepAction {
        match &step.action {
            Some(DraftedAction::Tool { connection, tool }) => StepAction::Tool {
                connection: connection.as_str().to_owned(),
                tool: tool.as_str().to_owned(),
                input: self.input(step, input, scope),
            },
            Some(DraftedAction::Transform(source)) => StepAction::Transform {
                source: source.as_str().to_owned(),
                input: self.input(step, input, scope),
            },
            Some(DraftedAction::SleepFor(ms)) => StepAction::SleepFor { ms: *ms },
            Some(DraftedAction::SleepUntil(until)) => self.sleep_until(until, scope),
            Some(DraftedAction::WaitForSignal { name, schema }) => StepAction::WaitForSignal {
                signal: name.as_str().to_owned(),
                schema: schema.as_ref().map(PlacedJson::to_value),
            },
            None => {
                // Refs are looked at in any case: all errors at once.
                self.input(step, &ValueType::Broken, scope);
                StepAction::SleepFor { ms: 0 }
            }
        }
    }

    fn input(&mut self, step: &DraftedStep, target: &ValueType, scope: RefScope<'_>) -> Value {
        let template = match &step.input {
            Some(json) => InputTemplate::read(json, &mut FieldPath::of("input"), self.problems),
            None => InputTemplate::empty(step.place),
        };
        let mut template = self.template(template, "input", scope);
        self.feed(&mut template, "input", target, false);
        self.data(&template)
    }

    fn sleep_until(&mut self, until: &PlacedText, scope: RefScope<'_>) -> StepAction {
        let template = InputTemplate::read_text(until, "sleep.until", self.problems);
        if let TemplateNode::Scalar(Value::String(text)) = &template.node {
            return match text.parse::<jiff::Timestamp>() {
                Ok(moment) => StepAction::SleepUntil { at_ms: moment.as_millisecond() },
                Err(_) => {
                    let message = "`sleep.until` is a moment such as `2027-01-31T09:00:00Z`, or a ref to one";
                    self.problems.error(invalid(until.place(), message).field("sleep.until"));
                    StepAction::SleepUntil { at_ms: 0 }
                }
            };
        }
        let mut template = self.template(template, "sleep.until", scope);
        let moment = JsonSchema::read(&json!({ "type": ["string", "number"] }));
        let moment = moment.map_or(ValueType::Broken, |schema| ValueType::Known(schema.into()));
        self.feed(&mut template, "sleep.until", &moment, false);
        StepAction::SleepUntilComputed { moment: self.data(&template) }
    }

    /// Finds what the refs of a template begin with.
    pub(crate) fn template(
        &mut self,
        mut template: InputTemplate,
        base: &'static str,
        scope: RefScope<'_>,
    ) -> InputTemplate {
        let (names, problems) = (&mut self.names, &mut *self.problems);
        template.for_each_ref(&mut FieldPath::of(base), &mut |slot, field| {
            names.resolve(slot, field, scope, problems);
        });
        template
    }

    /// Compares what a template builds with what it feeds.
    pub(crate) fn feed(
        &mut self,
        template: &mut InputTemplate,
        base: &'static str,
        target: &ValueType,
        is_trigger: bool,
    ) {
        let target = match target {
            ValueType::Known(known) => Some(&known.schema),
            ValueType::Unsaid(_) | ValueType::Broken => None,
        };
        let field = FieldPath::of(base);
        BuiltCheck { flow: &mut self.flow, problems: self.problems, field, is_trigger }
            .check(template, target);
    }

    pub(crate) fn data(&self, template: &InputTemplate) -> Value {
        template.to_data(&|step| self.names.name(step).to_owned())
    }
}

/// What later steps see of a step. A failure that the run survives leaves no value; in a forEach, `null` for its item.
fn step_output(step: &DraftedStep, call: ValueType) -> StepOutput {
    if step.for_each.is_none() {
        return StepOutput { value: call, optional: step.continue_on_error };
    }
    let value = match call {
        ValueType::Known(known) if step.continue_on_error => {
            ValueType::Known(known.map(|schema| schema.or_null().list_of()))
        }
        ValueType::Known(known) => ValueType::Known(known.map(JsonSchema::list_of)),
        other => other,
    };
    StepOutput { value, optional: false }
}
