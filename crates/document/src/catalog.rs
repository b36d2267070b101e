//! What a document refers to, as its checker asks for it.

use serde_json::Value;

use crate::place::SourcePlace;

/// The tools that connections offer.
pub trait ToolCatalog {
    /// What is known of a tool.
    fn tool(&self, connection: &str, tool: &str) -> ToolLookup;
}

/// What is known of a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolLookup {
    /// It is there.
    Known(ToolSchemas),
    /// The connection is there, and has no such tool.
    UnknownTool {
        /// The tools that it has.
        known: Vec<String>,
    },
    /// There is no such connection.
    UnknownConnection {
        /// Those that are there.
        known: Vec<String>,
    },
    /// The connection is there, and it could not be asked yet what tools it has.
    Unavailable {
        /// Why.
        why: String,
    },
}

/// The schemas of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSchemas {
    /// What it takes.
    pub input: Value,
    /// What it gives, if it says.
    pub output: Option<Value>,
}

/// Reads the source of transforms.
pub trait TransformReader {
    /// The schemas of `Input` and `Output`, or everything that is wrong with the source.
    fn read(&self, source: &str) -> Result<TransformSchemas, Vec<TransformProblem>>;
}

/// The schemas of a transform.
#[derive(Clone, Debug, PartialEq)]
pub struct TransformSchemas {
    /// What it takes.
    pub input: Value,
    /// What it gives.
    pub output: Value,
}

/// Something wrong in the source of a transform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct TransformProblem {
    /// Where in the source.
    pub place: SourcePlace,
    /// What, and what to do about it.
    pub message: String,
}

/// The workflows that triggers can start.
pub trait WorkflowCatalog {
    /// What is known of a workflow.
    fn workflow(&self, name: &str) -> WorkflowLookup;
}

/// What is known of a workflow.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkflowLookup {
    /// It is there.
    Known {
        /// What it takes, if it says.
        input_schema: Option<Value>,
        /// The workflows that its own triggers start.
        triggers: Vec<String>,
    },
    /// It is not there.
    Unknown {
        /// Those that are there.
        known: Vec<String>,
    },
}

/// Everything that a document may refer to.
#[derive(Clone, Copy)]
pub struct CheckContext<'a> {
    /// Tools.
    pub tools: &'a dyn ToolCatalog,
    /// Transforms.
    pub transforms: &'a dyn TransformReader,
    /// Targets of triggers.
    pub workflows: &'a dyn WorkflowCatalog,
}

impl std::fmt::Debug for CheckContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckContext").finish_non_exhaustive()
    }
}

/// Transforms in TypeScript, as they are run.
#[derive(Clone, Copy, Debug, Default)]
pub struct TypescriptTransforms;

impl TransformReader for TypescriptTransforms {
    fn read(&self, source: &str) -> Result<TransformSchemas, Vec<TransformProblem>> {
        let problem = |problem: rival_typescript::Problem| TransformProblem {
            place: SourcePlace { line: problem.line, column: problem.column },
            message: match problem.advice {
                Some(advice) => format!("{}. {advice}", problem.message),
                None => problem.message,
            },
        };
        match rival_typescript::transform(source) {
            Ok(read) => Ok(TransformSchemas { input: read.input_schema, output: read.output_schema }),
            Err(problems) => Err(problems.into_iter().map(problem).collect()),
        }
    }
}
