//! From what a file says of itself to definitions that an engine runs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use rival_core::event::CallRole;
use rival_core::{Path, Plan};
use rival_engine::{
    Definition, FormerPlan, FunctionNeeds, InputCheck, UserFunction, WorkflowKind, WorkflowOrigin,
};
use rival_typescript::{ContextUsage, StepsUse, WantedStep, outer_names, usage};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::check::ZodCheck;
use crate::function::{ScriptFunction, ScriptTarget};
use crate::registry::LaunchArgs;
use crate::triggers::DescribedTrigger;

/// What a file defines, as the host tells it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub(crate) struct FileDescription {
    pub(crate) workflows: Vec<DescribedWorkflow>,
    /// Folders and files that an entry registers.
    pub(crate) directories: Vec<PathBuf>,
    pub(crate) files: Vec<PathBuf>,
    /// Runs that an entry starts.
    pub(crate) launches: Vec<LaunchArgs>,
    /// Tests of a test file.
    pub(crate) tests: Vec<DescribedTest>,
}

/// A workflow.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DescribedWorkflow {
    pub(crate) name: String,
    /// The module that defines it.
    pub(crate) module: PathBuf,
    /// The export that it is, if it was made with `createWorkflow`.
    pub(crate) exported: Option<String>,
    pub(crate) plan: Plan,
    description: Option<String>,
    pub(crate) input_schema: Option<Json>,
    /// It has a zod schema, which says more than its JSON Schema.
    #[serde(default)]
    parses: bool,
    #[serde(default)]
    signal_schemas: BTreeMap<String, Json>,
    #[serde(default)]
    nested_schemas: BTreeMap<String, Json>,
    pub(crate) functions: BTreeMap<String, DescribedFunction>,
    #[serde(default)]
    pub(crate) triggers: Vec<DescribedTrigger>,
    /// The plan as version 0.1 made it, if that differs.
    former: Option<DescribedFormer>,
    /// Functions of one text that are told apart by nothing.
    #[serde(default)]
    twins: Vec<Twins>,
}

#[derive(Deserialize)]
struct DescribedFormer {
    plan: Plan,
    /// Today's names of functions, by those in the plan.
    functions: BTreeMap<String, String>,
}

/// Two functions of one text.
#[derive(Deserialize)]
struct Twins {
    /// Which.
    what: String,
    texts: Vec<String>,
}

#[derive(Deserialize)]
pub(crate) struct DescribedFunction {
    /// The text that says what it uses.
    source: String,
    role: CallRole,
    /// If it is not its author's: the texts of the author's functions that it calls with its own context.
    #[serde(default)]
    texts: Vec<String>,
    /// What the author's functions use, in their order.
    #[serde(skip)]
    usages: OnceLock<Vec<ContextUsage>>,
}

impl DescribedFunction {
    fn texts(&self) -> &[String] {
        if self.texts.is_empty() { std::slice::from_ref(&self.source) } else { &self.texts }
    }

    fn usages(&self) -> &[ContextUsage] {
        self.usages.get_or_init(|| self.texts().iter().map(|text| usage(text)).collect())
    }

    /// What the engine has to have ready for it.
    fn needs(&self) -> FunctionNeeds {
        match self.usages() {
            [own] if self.texts.is_empty() => needs(own),
            _ => needs(&usage(&self.source)),
        }
    }

    /// The steps that it cannot work without, each with the text that names it.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = (&str, &WantedStep)> {
        let texts = self.texts().iter().zip(self.usages());
        texts.flat_map(|(text, usage)| usage.wanted.iter().map(|wanted| (text.as_str(), wanted)))
    }
}

/// A test.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct DescribedTest {
    pub(crate) name: String,
    pub(crate) key: String,
}

impl DescribedWorkflow {
    /// What is wrong if functions without a name could be mistaken for each other: they have one text and use something
    /// from around it, which may be another thing for each.
    pub(crate) fn mistakable(&self) -> Option<String> {
        self.twins.iter().find_map(|twins| {
            let name = twins.texts.iter().find_map(|text| outer_names(text).into_iter().next())?;
            Some(format!("{} have the same text, which uses `{name}` from around it", twins.what))
        })
    }

    /// The definition, whose functions are at `place`.
    pub(crate) fn define(self, target: &Arc<ScriptTarget>) -> Definition {
        let check = self.parses.then(|| Arc::new(ZodCheck(Arc::clone(target))) as Arc<dyn InputCheck>);
        let functions = self.functions.into_iter().map(|(key, function)| {
            let (target, needs) = (Arc::clone(target), function.needs());
            let function = ScriptFunction { target, key: key.clone(), role: function.role, needs };
            (key, Arc::new(function) as Arc<dyn UserFunction>)
        });
        Definition {
            plan: self.plan,
            functions: functions.collect(),
            former: self
                .former
                .map(|former| FormerPlan { hash: former.plan.hash(), functions: former.functions }),
            input_schema: self.input_schema,
            input_check: check,
            nested_schemas: self.nested_schemas.into_iter().map(|(path, it)| (Path::new(path), it)).collect(),
            signal_schemas: self.signal_schemas,
            description: self.description,
            resources: Vec::new(),
            origin: WorkflowOrigin {
                kind: WorkflowKind::Typescript,
                file: Some(target.file.display().to_string()),
            },
        }
    }
}

/// What the engine has to have ready for a function that uses these parts of its context.
fn needs(usage: &ContextUsage) -> FunctionNeeds {
    let steps = match &usage.steps {
        StepsUse::Named(names) => names.clone(),
        // Looked up when they are asked for.
        StepsUse::None | StepsUse::Any => Vec::new(),
    };
    FunctionNeeds {
        outputs: Vec::new(),
        steps,
        last_step: usage.last_step,
        cancellation: usage.abort,
        iteration: usage.iteration,
        durable: usage.durable,
        items: usage.items,
        elsewhere: true,
    }
}
