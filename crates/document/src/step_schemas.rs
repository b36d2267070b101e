//! The schemas of steps: of tools, of transforms, of signals. Each tool and each source is asked for once.

use std::collections::HashMap;

use rival_core::plan::check_id;
use rival_schema::JsonSchema;
use serde_json::{Value, json};

use crate::catalog::{CheckContext, ToolLookup};
use crate::checked::StepSchemas;
use crate::decode::invalid;
use crate::draft::{DraftedAction, DraftedStep};
use crate::fields::listed;
use crate::json::{PlacedJson, PlacedText};
use crate::known_type::{KnownType, ValueType};
use crate::place::SourcePlace;
use crate::problem::{DocumentProblem, ProblemCode, ProblemList};
use crate::read_json::shortened;

/// The types of one call of a step.
#[derive(Clone, Debug)]
pub(crate) struct CallTypes {
    pub(crate) input: ValueType,
    pub(crate) output: ValueType,
    /// As they were given, to be kept with the document.
    pub(crate) written: StepSchemas,
}

impl CallTypes {
    /// Nothing is known of it, because of an error that was reported.
    pub(crate) fn broken() -> Self {
        let written = StepSchemas { input: json!({}), output: json!({}) };
        CallTypes { input: ValueType::Broken, output: ValueType::Broken, written }
    }
}

/// Finds the types of steps.
pub(crate) struct SchemaFinder<'a> {
    context: CheckContext<'a>,
    tools: HashMap<(String, String), Result<CallTypes, DocumentProblem>>,
    transforms: HashMap<String, CallTypes>,
    /// What signals carry: they are checked by their name when they are sent.
    signals: HashMap<String, Value>,
}

impl<'a> SchemaFinder<'a> {
    pub(crate) fn new(context: CheckContext<'a>) -> Self {
        SchemaFinder { context, tools: HashMap::new(), transforms: HashMap::new(), signals: HashMap::new() }
    }

    pub(crate) fn types(&mut self, step: &DraftedStep, problems: &mut ProblemList) -> CallTypes {
        match &step.action {
            None => CallTypes::broken(),
            Some(DraftedAction::Tool { connection, tool }) => self.tool(connection, tool, problems),
            Some(DraftedAction::Transform(source)) => self.transform(source, problems),
            Some(DraftedAction::SleepFor(_) | DraftedAction::SleepUntil(_)) => {
                let output = json!({ "type": "null" });
                CallTypes {
                    input: ValueType::Broken,
                    output: read_schema(&output).unwrap_or(ValueType::Broken),
                    written: StepSchemas { input: json!({}), output },
                }
            }
            Some(DraftedAction::WaitForSignal { name, schema }) => {
                self.signal(name, schema.as_ref(), problems);
                signal(step, schema.as_ref(), problems)
            }
        }
    }

    fn tool(&mut self, connection: &PlacedText, tool: &PlacedText, problems: &mut ProblemList) -> CallTypes {
        let key = (connection.as_str().to_owned(), tool.as_str().to_owned());
        let context = self.context;
        let found = self.tools.entry(key).or_insert_with(|| {
            find_tool(context.tools.tool(connection.as_str(), tool.as_str()), connection, tool)
        });
        match found {
            Ok(types) => types.clone(),
            Err(problem) => {
                // The same tool elsewhere is wrong there, too.
                let is_connection = problem.code == ProblemCode::UnknownConnection;
                let place = if is_connection { connection.place() } else { tool.place() };
                problems.error(DocumentProblem { place, ..problem.clone() });
                CallTypes::broken()
            }
        }
    }

    /// The name of a signal, and whether other steps expect the same of it.
    fn signal(&mut self, name: &PlacedText, schema: Option<&PlacedJson>, problems: &mut ProblemList) {
        if let Err(error) = check_id("a signal", name.as_str()) {
            problems.error(invalid(name.place(), error.to_string()).field("waitForSignal.name"));
        }
        let Some(schema) = schema else { return };
        let value = schema.to_value();
        let first = self.signals.entry(name.as_str().to_owned()).or_insert_with(|| value.clone());
        if *first != value {
            let name = shortened(name.as_str());
            let message = format!("another step waits for signal `{name}` with another `schema`");
            problems.error(invalid(schema.place, message).field("waitForSignal.schema"));
        }
    }

    fn transform(&mut self, source: &PlacedText, problems: &mut ProblemList) -> CallTypes {
        if let Some(types) = self.transforms.get(source.as_str()) {
            return types.clone();
        }
        match self.context.transforms.read(source.as_str()) {
            Ok(schemas) => {
                let types = CallTypes {
                    input: read_schema(&schemas.input).unwrap_or_else(ValueType::Unsaid),
                    output: KnownType::of_script(&schemas.output)
                        .map_or_else(ValueType::Unsaid, ValueType::Known),
                    written: StepSchemas { input: schemas.input, output: schemas.output },
                };
                self.transforms.insert(source.as_str().to_owned(), types.clone());
                types
            }
            Err(found) => {
                for problem in found {
                    let place = source.place_at(offset_of(source.as_str(), problem.place));
                    let message = format!("in the transform, at {}: {}", problem.place, problem.message);
                    let problem = DocumentProblem::new(ProblemCode::InvalidTypescript, place, message);
                    problems.error(problem.field("transform"));
                }
                CallTypes::broken()
            }
        }
    }
}

fn find_tool(
    lookup: ToolLookup,
    connection: &PlacedText,
    tool: &PlacedText,
) -> Result<CallTypes, DocumentProblem> {
    let (connection_name, tool_name) = (connection.as_str(), tool.as_str());
    let problem = |code, text: &PlacedText, message: String, field: &str| {
        Err(DocumentProblem::new(code, text.place(), message).field(field))
    };
    let schemas = match lookup {
        ToolLookup::Known(schemas) => schemas,
        ToolLookup::UnknownTool { known } => {
            let help = suggestion(tool_name, &known);
            let message = format!("connection `{connection_name}` has no tool `{tool_name}`; {help}");
            return problem(ProblemCode::UnknownTool, tool, message, "tool.toolName");
        }
        ToolLookup::UnknownConnection { known } => {
            let help = suggestion(connection_name, &known);
            let message = format!("there is no connection `{connection_name}`; {help}");
            return problem(ProblemCode::UnknownConnection, connection, message, "tool.connectionId");
        }
        ToolLookup::Unavailable { why } => {
            let message = format!("the tools of connection `{connection_name}` are not known: {why}");
            return problem(ProblemCode::MissingSchema, tool, message, "tool.toolName");
        }
    };
    let input = match read_schema(&schemas.input) {
        Ok(input) => input,
        Err(why) => {
            let message = format!("the input schema of tool `{tool_name}` cannot be read: {why}");
            return problem(ProblemCode::InvalidSchema, tool, message, "tool.toolName");
        }
    };
    let unsaid = || {
        let whose = format!("tool `{tool_name}` of connection `{connection_name}`");
        ValueType::Unsaid(format!("{whose} does not say what it gives (it has no output schema)"))
    };
    let output = schemas.output.as_ref().and_then(|schema| read_schema(schema).ok()).unwrap_or_else(unsaid);
    let written = StepSchemas { input: schemas.input, output: schemas.output.unwrap_or_else(|| json!({})) };
    Ok(CallTypes { input, output, written })
}

fn signal(step: &DraftedStep, schema: Option<&PlacedJson>, problems: &mut ProblemList) -> CallTypes {
    let written = |output| StepSchemas { input: json!({}), output };
    let Some(schema) = schema else {
        let name = step.name.as_ref().map_or("", |name| name.as_str());
        let why = format!("step `{name}` does not say what its signal carries (it has no `schema`)");
        return CallTypes {
            input: ValueType::Broken,
            output: ValueType::Unsaid(why),
            written: written(json!({})),
        };
    };
    let output = own_schema(schema, "waitForSignal.schema", problems);
    CallTypes { input: ValueType::Broken, output, written: written(schema.to_value()) }
}

/// A schema that is part of the document.
pub(crate) fn own_schema(json: &PlacedJson, field: &str, problems: &mut ProblemList) -> ValueType {
    match read_schema(&json.to_value()) {
        Ok(schema) => schema,
        Err(why) => {
            let problem = DocumentProblem::new(ProblemCode::InvalidSchema, json.place, why);
            problems.error(problem.field(field));
            ValueType::Broken
        }
    }
}

pub(crate) fn read_schema(schema: &Value) -> Result<ValueType, String> {
    let read = JsonSchema::read(schema).map_err(|error| error.to_string())?;
    Ok(ValueType::Known(read.into()))
}

/// The name that was probably meant, or those that there are.
pub(crate) fn suggestion(name: &str, known: &[String]) -> String {
    const CANDIDATES_MAX: usize = 1_000;
    let short = name.len() <= crate::refs::PART_MAX;
    let candidates = known.iter().map(String::as_str).take(if short { CANDIDATES_MAX } else { 0 });
    match rival_schema::nearest(name, candidates) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("there is {}", listed(known.iter().map(String::as_str))),
    }
}

/// The byte of a text at a line and a column in UTF-16 units.
fn offset_of(text: &str, place: SourcePlace) -> usize {
    let before: usize =
        text.split_inclusive('\n').take(place.line.saturating_sub(1) as usize).map(str::len).sum();
    let mut column = 1;
    for (at, c) in text[before..].char_indices() {
        if column >= place.column as usize {
            return before + at;
        }
        column += c.len_utf16();
    }
    text.len()
}
