//! The shape of a document: JSON to steps and triggers, with everything that is wrong on the way.

use crate::draft::{
    DraftedAction, DraftedDocument, DraftedForEach, DraftedStep, DraftedTrigger, RetrySettings,
};
use crate::fields::{ObjectFields, WHOLE_MAX, listed};
use crate::json::{JsonNode, PlacedJson, PlacedText};
use crate::place::SourcePlace;
use crate::problem::{DocumentProblem, ProblemCode, ProblemList, ProblemOwner};
use crate::read_json::shortened;

/// How many steps a document may have.
const STEPS_MAX: usize = 10_000;
/// How many triggers a document may have.
const TRIGGERS_MAX: usize = 1_000;
/// What refs begin with, and steps cannot be called.
const RESERVED: [&str; 4] = ["input", "item", "index", "output"];

const DOCUMENT_FIELDS: [&str; 6] = ["name", "description", "inputSchema", "steps", "triggers", "_schemas"];
const KINDS: [&str; 4] = ["tool", "transform", "sleep", "waitForSignal"];
const STEP_FIELDS: [&str; 13] = [
    "name",
    "tool",
    "transform",
    "sleep",
    "waitForSignal",
    "input",
    "forEach",
    "as",
    "maxIterations",
    "concurrency",
    "retry",
    "timeout",
    "onError",
];
const TRIGGER_FIELDS: [&str; 5] = ["workflowId", "inputs", "forEach", "workflow_timeout_ms", "max_retries"];
const MAX_ITERATIONS: u32 = 100;

/// Reads the shape of a document.
pub(crate) fn decode(json: &PlacedJson, problems: &mut ProblemList) -> Option<DraftedDocument> {
    let fields = ObjectFields::read(json, "a document", "", &DOCUMENT_FIELDS, problems)?;
    let name = required_text(&fields, "name", "a document", json.place, problems);
    if let Some(name) = &name
        && let Err(error) = rival_core::plan::check_id("a workflow", name.as_str())
    {
        problems.error(invalid(name.place(), error.to_string()).field("name"));
    }
    let description = optional_text(&fields, "description", problems);
    let input_schema = fields.get("inputSchema").cloned();
    let mut decoder = DocumentDecoder { steps: Vec::new(), problems };
    match fields.get("steps") {
        Some(steps) => decoder.phases(steps),
        None => decoder.problems.error(invalid(json.place, "a document has `steps`").field("steps")),
    }
    let steps = decoder.steps;
    problems.owner = ProblemOwner::Document;
    let triggers = fields.get("triggers").map(|json| decode_triggers(json, problems)).unwrap_or_default();
    problems.owner = ProblemOwner::Document;
    Some(DraftedDocument { name, description, input_schema, steps, triggers })
}

pub(crate) fn invalid(place: SourcePlace, message: impl Into<String>) -> DocumentProblem {
    DocumentProblem::new(ProblemCode::InvalidDocument, place, message)
}

fn required_text(
    fields: &ObjectFields<'_>,
    name: &str,
    what: &str,
    place: SourcePlace,
    problems: &mut ProblemList,
) -> Option<PlacedText> {
    if fields.get(name).is_none() {
        problems.error(invalid(place, format!("{what} has a `{name}`")).field(name));
    }
    fields.text(name, problems).cloned()
}

/// A text that may be empty, too.
fn optional_text(fields: &ObjectFields<'_>, name: &str, problems: &mut ProblemList) -> Option<String> {
    let json = fields.get(name)?;
    if let JsonNode::Text(text) = &json.node {
        return Some(text.as_str().to_owned());
    }
    problems
        .error(invalid(json.place, format!("`{name}` is a text, and this is {}", json.kind())).field(name));
    None
}

fn list<'a>(json: &'a PlacedJson, what: &str, field: &str, problems: &mut ProblemList) -> &'a [PlacedJson] {
    match &json.node {
        JsonNode::List(items) => items,
        _ => {
            let message = format!("{what}, and this is {}", json.kind());
            problems.error(invalid(json.place, message).field(field));
            &[]
        }
    }
}

struct DocumentDecoder<'a> {
    steps: Vec<DraftedStep>,
    problems: &'a mut ProblemList,
}

impl DocumentDecoder<'_> {
    fn phases(&mut self, json: &PlacedJson) {
        let phases = list(json, "`steps` is a list of phases, each a list of steps", "steps", self.problems);
        if phases.is_empty() && matches!(json.node, JsonNode::List(_)) {
            self.problems.error(invalid(json.place, "a document has at least one step").field("steps"));
        }
        for (phase, json) in phases.iter().enumerate() {
            self.problems.owner = ProblemOwner::Document;
            let field = format!("steps[{phase}]");
            let steps = list(json, "a phase is a list of steps", &field, self.problems);
            if steps.is_empty() && matches!(json.node, JsonNode::List(_)) {
                self.problems.error(invalid(json.place, "a phase has at least one step").field(field));
            }
            for json in steps {
                if self.steps.len() == STEPS_MAX {
                    self.problems.owner = ProblemOwner::Document;
                    let message = format!("a document has at most {STEPS_MAX} steps");
                    self.problems.error(invalid(json.place, message).field("steps"));
                    return;
                }
                self.step(json, phase);
            }
        }
    }

    fn step(&mut self, json: &PlacedJson, phase: usize) {
        self.problems.owner = step_owner(json);
        let problems = &mut *self.problems;
        let Some(fields) = ObjectFields::read(json, "a step", "", &STEP_FIELDS, problems) else { return };
        let name = required_text(&fields, "name", "a step", json.place, problems)
            .filter(|name| is_step_name(name, problems));
        let action = action(&fields, json.place, problems);
        let input = fields.get("input").filter(|input| is_input(input, "input", problems)).cloned();
        let step = DraftedStep {
            place: json.place,
            name,
            phase,
            input,
            for_each: for_each(&fields, problems),
            retry: fields.get("retry").and_then(|json| retry(json, problems)),
            timeout_ms: fields.whole("timeout", (1, WHOLE_MAX), problems),
            continue_on_error: on_error(&fields, problems),
            action,
        };
        self.settings_fit(&step, &fields);
        self.steps.push(step);
    }

    /// A setting that has no effect is one that the author expects something of.
    fn settings_fit(&mut self, step: &DraftedStep, fields: &ObjectFields<'_>) {
        let Some(action) = &step.action else { return };
        let mut refuse = |field: &str, message: String| {
            if let Some(json) = fields.get(field) {
                self.problems.error(invalid(json.place, message).field(field));
            }
        };
        let (is_tool, word) = match action {
            DraftedAction::Tool { .. } => (true, "tool"),
            DraftedAction::Transform(_) => (false, "transform"),
            DraftedAction::SleepFor(_) | DraftedAction::SleepUntil(_) => (false, "sleep"),
            DraftedAction::WaitForSignal { .. } => (false, "waitForSignal"),
        };
        if !is_tool {
            refuse("retry", format!("only a `tool` step is retried, and this is a `{word}` step"));
        }
        if matches!(word, "sleep" | "waitForSignal") {
            refuse("input", format!("a `{word}` step takes no `input`"));
        }
        if word == "sleep" {
            refuse("timeout", "a `sleep` step has no `timeout`: it ends at its time".to_owned());
        }
        if fields.get("forEach").is_none() {
            refuse("concurrency", "`concurrency` is for a step with `forEach`".to_owned());
        }
    }
}

/// The name of a step as far as it has one, so that problems of its other fields name it.
fn step_owner(json: &PlacedJson) -> ProblemOwner {
    match json.find("/name").map(|name| &name.node) {
        Some(JsonNode::Text(name)) => ProblemOwner::Step(shortened(name.as_str())),
        _ => ProblemOwner::Document,
    }
}

/// Whether a step may have this name: refs must be able to say it.
fn is_step_name(name: &PlacedText, problems: &mut ProblemList) -> bool {
    let text = name.as_str();
    let message = if RESERVED.contains(&text) {
        format!("a step cannot be called `{text}`: refs use the name for something else")
    } else if !is_name(text) {
        let shown = shortened(text);
        format!("`{shown}` is not a name for a step: use 1 to 128 letters, digits, `_` or `-`")
    } else {
        return true;
    };
    problems.error(invalid(name.place(), message).field("name"));
    false
}

fn is_name(text: &str) -> bool {
    text.chars().count() <= 128 && text.chars().all(is_name_char)
}

/// What names of steps and items are made of.
pub(crate) fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

fn action(
    fields: &ObjectFields<'_>,
    place: SourcePlace,
    problems: &mut ProblemList,
) -> Option<DraftedAction> {
    let kinds: Vec<&str> = KINDS.into_iter().filter(|kind| fields.get(kind).is_some()).collect();
    let [kind] = kinds.as_slice() else {
        let found = if kinds.is_empty() { "none of them".to_owned() } else { listed(kinds) };
        let message = format!("a step has exactly one of {}, and this one has {found}", listed(KINDS));
        problems.error(invalid(place, message));
        return None;
    };
    let json = fields.get(kind)?;
    match *kind {
        "tool" => {
            let fields =
                ObjectFields::read(json, "`tool`", "tool.", &["connectionId", "toolName"], problems)?;
            let connection = required_text(&fields, "connectionId", "`tool`", json.place, problems);
            let tool = required_text(&fields, "toolName", "`tool`", json.place, problems);
            Some(DraftedAction::Tool { connection: connection?, tool: tool? })
        }
        "transform" => fields.text(kind, problems).cloned().map(DraftedAction::Transform),
        "sleep" => sleep(json, problems),
        _ => {
            let what = "`waitForSignal`";
            let fields = ObjectFields::read(json, what, "waitForSignal.", &["name", "schema"], problems)?;
            let name = required_text(&fields, "name", what, json.place, problems)?;
            Some(DraftedAction::WaitForSignal { name, schema: fields.get("schema").cloned() })
        }
    }
}

fn sleep(json: &PlacedJson, problems: &mut ProblemList) -> Option<DraftedAction> {
    let fields = ObjectFields::read(json, "`sleep`", "sleep.", &["ms", "until"], problems)?;
    if fields.get("ms").is_some() == fields.get("until").is_some() {
        problems.error(invalid(json.place, "`sleep` has either `ms` or `until`").field("sleep"));
        return None;
    }
    match fields.text("until", problems) {
        Some(until) => Some(DraftedAction::SleepUntil(until.clone())),
        None => fields.whole("ms", (0, WHOLE_MAX), problems).map(DraftedAction::SleepFor),
    }
}

fn for_each(fields: &ObjectFields<'_>, problems: &mut ProblemList) -> Option<DraftedForEach> {
    // Programs that fill in defaults write these two at steps without a forEach, too: they are read in any case.
    let item_name = fields.text("as", problems).cloned().filter(|name| {
        let text = name.as_str();
        let is_good = text == "item" || (is_name(text) && !RESERVED.contains(&text));
        if !is_good {
            let shown = shortened(text);
            let message = format!(
                "`{shown}` is not a name for an item: use 1 to 128 letters, digits, `_` or `-`, and no word of refs"
            );
            problems.error(invalid(name.place(), message).field("as"));
        }
        is_good
    });
    let max_iterations = fields.small("maxIterations", 1, problems);
    let concurrency = fields.small("concurrency", 1, problems);
    let items = fields.text("forEach", problems)?.clone();
    Some(DraftedForEach {
        items,
        item_name,
        max_iterations: max_iterations.unwrap_or(MAX_ITERATIONS),
        concurrency: concurrency.unwrap_or(1),
    })
}

fn retry(json: &PlacedJson, problems: &mut ProblemList) -> Option<RetrySettings> {
    let fields = ObjectFields::read(json, "`retry`", "retry.", &["maxAttempts", "backoffMs"], problems)?;
    let max_attempts = fields.small("maxAttempts", 1, problems).unwrap_or(3);
    let backoff_ms = fields.whole("backoffMs", (0, WHOLE_MAX), problems).unwrap_or(1_000);
    Some(RetrySettings { max_attempts, backoff_ms })
}

fn on_error(fields: &ObjectFields<'_>, problems: &mut ProblemList) -> bool {
    let Some(word) = fields.text("onError", problems) else { return false };
    if !["fail", "continue"].contains(&word.as_str()) {
        let message = format!("`onError` is `fail` or `continue`, not `{}`", shortened(word.as_str()));
        problems.error(invalid(word.place(), message).field("onError"));
    }
    word.as_str() == "continue"
}

fn is_input(json: &PlacedJson, field: &str, problems: &mut ProblemList) -> bool {
    let is_object = matches!(json.node, JsonNode::Object(_));
    if !is_object {
        let message = format!("`{field}` is an object, and this is {}", json.kind());
        problems.error(invalid(json.place, message).field(field));
    }
    is_object
}

/// Reads the shape of a list of triggers.
pub(crate) fn decode_triggers(json: &PlacedJson, problems: &mut ProblemList) -> Vec<DraftedTrigger> {
    let triggers = list(json, "`triggers` is a list", "triggers", problems);
    if triggers.len() > TRIGGERS_MAX {
        let message = format!("a document has at most {TRIGGERS_MAX} triggers");
        problems.error(invalid(json.place, message).field("triggers"));
        return Vec::new();
    }
    let decode = |(number, json): (usize, &PlacedJson)| {
        problems.owner = ProblemOwner::Trigger(number);
        let fields = ObjectFields::read(json, "a trigger", "", &TRIGGER_FIELDS, problems)?;
        if fields.get("inputs").is_none() {
            problems.error(invalid(json.place, "a trigger has `inputs`").field("inputs"));
        }
        Some(DraftedTrigger {
            number,
            place: json.place,
            workflow: required_text(&fields, "workflowId", "a trigger", json.place, problems),
            inputs: fields.get("inputs").filter(|json| is_input(json, "inputs", problems)).cloned(),
            for_each: fields.text("forEach", problems).cloned(),
            timeout_ms: fields.whole("workflow_timeout_ms", (1, WHOLE_MAX), problems),
            max_retries: fields.small("max_retries", 0, problems),
        })
    };
    triggers.iter().enumerate().filter_map(decode).collect()
}
