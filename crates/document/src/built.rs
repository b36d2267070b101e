//! What templates build: their types, compared part by part with those that they feed.

use rival_schema::{JsonSchema, ObjectField, PathSegment, SchemaLookup};
use serde_json::{Value, json};

use crate::flow::{TypeFlow, ValueSpot, spotted};
use crate::json::PlacedText;
use crate::known_type::KnownType;
use crate::place::SourcePlace;
use crate::problem::{DocumentProblem, ProblemCode, ProblemList};
use crate::read_json::shortened;
use crate::refs::PART_MAX;
use crate::template::{FieldPath, InputTemplate, RefSlot, TemplateNode, TemplatePart};

/// What the type of a literal takes.
const SCALAR_WORK: u64 = 50;

/// What happens where a ref leads to no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AbsenceRule {
    /// The field is left out.
    Omit,
    /// The step fails; a schema asks for the value.
    Fail,
    /// The step fails; nothing is known of what the value is for.
    FailUnsaid,
    /// The trigger is skipped.
    Skip,
}

/// What a part of a template is.
struct BuiltValue {
    schema: JsonSchema,
    required: bool,
    /// Whether all of it is known.
    is_known: bool,
}

impl BuiltValue {
    fn unknown() -> Self {
        BuiltValue { schema: JsonSchema::any(), required: true, is_known: false }
    }

    fn known(schema: JsonSchema) -> Self {
        BuiltValue { schema, required: true, is_known: true }
    }
}

/// A template that is compared with what it feeds.
pub(crate) struct BuiltCheck<'a> {
    pub(crate) flow: &'a mut TypeFlow,
    pub(crate) problems: &'a mut ProblemList,
    pub(crate) field: FieldPath,
    /// Refs without a value skip the trigger.
    pub(crate) is_trigger: bool,
}

impl BuiltCheck<'_> {
    /// Compares the whole template.
    pub(crate) fn check(&mut self, template: &mut InputTemplate, target: Option<&JsonSchema>) {
        let before = self.problems.count();
        let rule = if target.is_some() { AbsenceRule::Fail } else { AbsenceRule::FailUnsaid };
        let built = self.value(template, target, rule);
        let Some(target) = target else { return };
        let is_whole = matches!(template.node, TemplateNode::List(_) | TemplateNode::Object(_));
        if is_whole && built.is_known && self.problems.count() == before {
            let spot = ValueSpot { place: template.place, field: self.field.text(), reference: None };
            self.flow.compare(&built.schema.into(), target, &spot, self.problems);
        }
    }

    fn value(
        &mut self,
        template: &mut InputTemplate,
        target: Option<&JsonSchema>,
        rule: AbsenceRule,
    ) -> BuiltValue {
        let place = template.place;
        match &mut template.node {
            TemplateNode::Broken => BuiltValue::unknown(),
            // That not all was checked is said of the document; refs are looked at in any case.
            TemplateNode::Scalar(_) if !self.flow.spend(SCALAR_WORK) => BuiltValue::unknown(),
            TemplateNode::Scalar(value) => self.scalar(value, place, target),
            TemplateNode::Ref(slot) => self.reference(slot, target, rule),
            TemplateNode::Text(parts) => self.text(parts, place, target),
            TemplateNode::List(items) => self.list(items, place, target),
            TemplateNode::Object(fields) => self.object(fields, place, target),
        }
    }

    fn compare(
        &mut self,
        known: KnownType,
        target: Option<&JsonSchema>,
        place: SourcePlace,
        reference: Option<&str>,
    ) -> BuiltValue {
        if let Some(target) = target {
            let spot = ValueSpot { place, field: self.field.text(), reference };
            self.flow.compare(&known, target, &spot, self.problems);
        }
        BuiltValue::known(known.schema)
    }

    fn scalar(&mut self, value: &Value, place: SourcePlace, target: Option<&JsonSchema>) -> BuiltValue {
        match JsonSchema::read(&json!({ "const": value })) {
            Ok(schema) => self.compare(schema.into(), target, place, None),
            Err(_) => BuiltValue::unknown(),
        }
    }

    fn reference(
        &mut self,
        slot: &mut RefSlot,
        target: Option<&JsonSchema>,
        rule: AbsenceRule,
    ) -> BuiltValue {
        let rule = if self.is_trigger { AbsenceRule::Skip } else { rule };
        slot.omit = rule == AbsenceRule::Omit;
        let Some(found) = self.flow.type_of(slot, &self.field, self.problems) else {
            return BuiltValue::unknown();
        };
        if !found.is_known {
            return BuiltValue::unknown();
        }
        let written = slot.reference.written.as_str();
        let spot = ValueSpot { place: slot.place, field: self.field.text(), reference: Some(written) };
        if found.optional && rule == AbsenceRule::Fail {
            let message = format!("`{written}` may be absent, and a value is required here");
            let problem = DocumentProblem::new(ProblemCode::TypeMismatch, slot.place, message);
            let actual = format!("{} | undefined", found.known.schema);
            let expected = target.map_or_else(|| "unknown".to_owned(), ToString::to_string);
            self.problems.error(spotted(problem, &spot).types(expected, actual));
        } else if found.optional && rule == AbsenceRule::FailUnsaid {
            let message = format!("`{written}` may be absent, and the step fails without it");
            let problem = DocumentProblem::new(ProblemCode::Unproven, slot.place, message);
            self.problems.warn(spotted(problem, &spot));
        }
        let required = !(found.optional && rule == AbsenceRule::Omit);
        BuiltValue { required, ..self.compare(found.known, target, slot.place, Some(written)) }
    }

    /// A text with refs: what is no text is written as JSON, so any type will do.
    fn text(
        &mut self,
        parts: &mut [TemplatePart],
        place: SourcePlace,
        target: Option<&JsonSchema>,
    ) -> BuiltValue {
        let mut length = 0;
        for part in parts {
            match part {
                TemplatePart::Words(words) => length += words.chars().count(),
                TemplatePart::Ref(slot) => {
                    _ = self.reference(slot, None, AbsenceRule::Fail);
                }
            }
        }
        match JsonSchema::read(&json!({ "type": "string", "minLength": length })) {
            Ok(schema) => self.compare(schema.into(), target, place, None),
            Err(_) => BuiltValue::unknown(),
        }
    }

    fn list(
        &mut self,
        items: &mut [InputTemplate],
        place: SourcePlace,
        target: Option<&JsonSchema>,
    ) -> BuiltValue {
        if target.is_some_and(|target| !target.allows_lists()) {
            return self.refuse(place, target, "unknown[]");
        }
        let (mut schemas, mut is_known) = (Vec::with_capacity(items.len()), true);
        let segments: Vec<PathSegment> = (0..items.len()).map(PathSegment::Index).collect();
        let targets = self.flow.look_inside(target, &segments);
        for ((item, segment), found) in items.iter_mut().zip(segments).zip(targets) {
            let inner = match found {
                Some(SchemaLookup::Found { schema, .. }) => Some(schema),
                // That a list is too long is said of the list.
                _ => None,
            };
            let rule = if inner.is_some() { AbsenceRule::Fail } else { AbsenceRule::FailUnsaid };
            self.field.enter(segment);
            let built = self.value(item, inner.as_ref(), rule);
            self.field.leave();
            is_known &= built.is_known;
            schemas.push(built.schema);
        }
        // What is not known in part is compared in parts only.
        if is_known { BuiltValue::known(JsonSchema::tuple(&schemas)) } else { BuiltValue::unknown() }
    }

    fn object(
        &mut self,
        fields: &mut [(PlacedText, InputTemplate)],
        place: SourcePlace,
        target: Option<&JsonSchema>,
    ) -> BuiltValue {
        if target.is_some_and(|target| !target.allows_objects()) {
            return self.refuse(place, target, "object");
        }
        if let Some(target) = target {
            self.required_fields(fields, place, target);
        }
        let (mut built_fields, mut is_known) = (Vec::with_capacity(fields.len()), true);
        let segments: Vec<PathSegment> =
            fields.iter().map(|(key, _)| PathSegment::Key(looked_up(key).to_owned())).collect();
        let targets = self.flow.look_inside(target, &segments);
        for ((key, value), found) in fields.iter_mut().zip(targets) {
            let name = key.as_str().to_owned();
            let (inner, rule) = self.field_target(key, target, found);
            self.field.enter(PathSegment::Key(name.clone()));
            let built = self.value(value, inner.as_ref(), rule);
            self.field.leave();
            is_known &= built.is_known;
            built_fields.push(ObjectField { name, schema: built.schema, required: built.required });
        }
        if is_known {
            BuiltValue::known(JsonSchema::closed_object(built_fields))
        } else {
            BuiltValue::unknown()
        }
    }

    /// Fields that the target asks for and the document does not give.
    fn required_fields(
        &mut self,
        fields: &[(PlacedText, InputTemplate)],
        place: SourcePlace,
        target: &JsonSchema,
    ) {
        if !self.flow.spend(target.size() as u64) {
            return;
        }
        let given: std::collections::HashSet<&str> = fields.iter().map(|(key, _)| key.as_str()).collect();
        for property in target.properties() {
            if !property.required || given.contains(property.name.as_str()) {
                continue;
            }
            let expected = match self.flow.look(target, &[PathSegment::Key(property.name.clone())]) {
                SchemaLookup::Found { schema, .. } => schema.to_string(),
                SchemaLookup::Missing { .. } | SchemaLookup::Unknown { .. } => "unknown".to_owned(),
            };
            let message = format!("`{}` is not there, and is required: `{expected}`", property.name);
            let problem = DocumentProblem::new(ProblemCode::TypeMismatch, place, message);
            let field = self.field.text_inside(PathSegment::Key(property.name));
            self.problems.error(problem.field(field).types(expected, "undefined"));
        }
    }

    /// The type that a field feeds, and what happens without a value.
    fn field_target(
        &mut self,
        key: &PlacedText,
        target: Option<&JsonSchema>,
        found: Option<SchemaLookup>,
    ) -> (Option<JsonSchema>, AbsenceRule) {
        match found {
            Some(SchemaLookup::Found { schema, optional }) => {
                (Some(schema), if optional { AbsenceRule::Omit } else { AbsenceRule::Fail })
            }
            Some(SchemaLookup::Missing { why, nearest, excluded }) => {
                let help = nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
                let name = shortened(key.as_str());
                let message = format!("`{name}` is not a field that is expected: {why}{help}");
                let code = if excluded { ProblemCode::TypeMismatch } else { ProblemCode::UnknownField };
                let field = self.field.text_inside(PathSegment::Key(name));
                let problem = DocumentProblem::new(code, key.place(), message).field(field);
                match target {
                    Some(target) if excluded => self.problems.error(problem.types(target, "object")),
                    Some(_) | None => self.problems.warn(problem),
                }
                (None, AbsenceRule::FailUnsaid)
            }
            Some(SchemaLookup::Unknown { .. }) | None => (None, AbsenceRule::FailUnsaid),
        }
    }

    fn refuse(&mut self, place: SourcePlace, target: Option<&JsonSchema>, actual: &str) -> BuiltValue {
        if let Some(target) = target {
            let message = format!("expected `{target}`, but the value is `{actual}`");
            let problem = DocumentProblem::new(ProblemCode::TypeMismatch, place, message);
            self.problems.error(problem.field(self.field.text()).types(target, actual));
        }
        BuiltValue::unknown()
    }
}

/// A key as it is looked up: names that were probably meant are looked for among all others, so those that no author typed
/// are cut.
fn looked_up(key: &PlacedText) -> &str {
    let text = key.as_str();
    &text[..text.floor_char_boundary(PART_MAX)]
}
