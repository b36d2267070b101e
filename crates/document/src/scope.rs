//! What refs may begin with: the input, items, and steps of earlier phases.

use std::collections::HashMap;

use rival_schema::{PathSegment, nearest};

use crate::draft::DraftedStep;
use crate::fields::listed;
use crate::problem::{DocumentProblem, ProblemCode, ProblemList, ProblemOwner};
use crate::template::{FieldPath, RefRoot, RefSlot};

/// How many names are suggested in one document, and among how many: a suggestion looks at all names.
const SUGGESTIONS_MAX: usize = 64;
const CANDIDATES_MAX: usize = 1_000;

/// All steps by name.
pub(crate) struct StepNames<'a> {
    by_name: HashMap<&'a str, usize>,
    /// In the order of phases; a step without a good name is `""`.
    names: Vec<&'a str>,
    phases: Vec<usize>,
    suggestions: usize,
}

/// Where refs are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RefScope<'a> {
    /// The phase of the step; none in a trigger.
    pub(crate) phase: Option<usize>,
    /// Whether there is an item.
    pub(crate) has_item: bool,
    /// The other name of the item.
    pub(crate) item_name: Option<&'a str>,
}

impl<'a> StepNames<'a> {
    /// Reports names that are there twice.
    pub(crate) fn read(steps: &'a [DraftedStep], problems: &mut ProblemList) -> Self {
        let mut by_name = HashMap::new();
        for (number, step) in steps.iter().enumerate() {
            let Some(name) = &step.name else { continue };
            if by_name.contains_key(name.as_str()) {
                problems.owner = ProblemOwner::Step(name.as_str().to_owned());
                let message =
                    format!("two steps are called `{}`: give one of them another name", name.as_str());
                let problem = DocumentProblem::new(ProblemCode::DuplicateName, name.place(), message);
                problems.error(problem.field("name"));
            } else {
                by_name.insert(name.as_str(), number);
            }
        }
        problems.owner = ProblemOwner::Document;
        let names = steps.iter().map(|step| step.name.as_ref().map_or("", |name| name.as_str()));
        let phases = steps.iter().map(|step| step.phase).collect();
        StepNames { by_name, names: names.collect(), phases, suggestions: SUGGESTIONS_MAX }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    pub(crate) fn name(&self, step: usize) -> &'a str {
        self.names.get(step).copied().unwrap_or_default()
    }

    /// Finds what a ref begins with, or reports it.
    pub(crate) fn resolve(
        &mut self,
        slot: &mut RefSlot,
        field: &FieldPath,
        scope: RefScope<'_>,
        problems: &mut ProblemList,
    ) {
        match self.root(slot, scope) {
            Ok(root) => slot.root = Some(root),
            Err(message) => {
                let problem = DocumentProblem::new(ProblemCode::MissingRef, slot.place, message);
                problems.error(problem.field(field.text()).reference(&slot.reference.written));
            }
        }
    }

    fn root(&mut self, slot: &RefSlot, scope: RefScope<'_>) -> Result<RefRoot, String> {
        let (root, path) = (slot.reference.root.as_str(), slot.reference.path.as_slice());
        let is_item = root == "item" || scope.item_name == Some(root);
        match root {
            "input" => Ok(RefRoot::Input),
            _ if is_item && scope.has_item => Ok(RefRoot::Item),
            "index" if scope.has_item && path.is_empty() => Ok(RefRoot::Index),
            "index" if scope.has_item => {
                Err("`@index` is a number: there is nothing inside of it".to_owned())
            }
            "item" | "index" => Err(format!("`@{root}` is there only in a forEach")),
            "output" if scope.phase.is_none() => Ok(RefRoot::Output),
            "output" => {
                Err("`@output` is the output of the workflow, for triggers; a step's is `@name.output`"
                    .to_owned())
            }
            _ => self.step(root, path, scope),
        }
    }

    fn step(&mut self, root: &str, path: &[PathSegment], scope: RefScope<'_>) -> Result<RefRoot, String> {
        let Some(phase) = scope.phase else {
            let items = if scope.has_item { ", `@item` and `@index`" } else { "" };
            return Err(format!(
                "a trigger sees `@output` and `@input`{items}; `{root}` is none of them: let the last phase give it on"
            ));
        };
        let earlier = self.phases.partition_point(|it| *it < phase);
        match self.by_name.get(root) {
            Some(&step) if step < earlier => match path.first() {
                Some(PathSegment::Key(key)) if key == "output" => Ok(RefRoot::Step(step)),
                _ => Err(format!("what a step gave is its `output`: `@{root}.output`")),
            },
            Some(&step) => {
                let when = if self.phases[step] == phase { "the same" } else { "a later" };
                let available = self.available(earlier);
                Err(format!(
                    "step `{root}` is in {when} phase, and a step sees earlier phases only; available: {available}"
                ))
            }
            None => {
                let help = match self.suggestion(root, earlier, scope) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("available: {}", self.available(earlier)),
                };
                Err(format!("step `{root}` is not found in previous phases; {help}"))
            }
        }
    }

    fn available(&self, earlier: usize) -> String {
        listed(self.names[..earlier].iter().copied().filter(|name| !name.is_empty()))
    }

    fn suggestion(&mut self, root: &str, earlier: usize, scope: RefScope<'_>) -> Option<String> {
        self.suggestions = self.suggestions.checked_sub(1)?;
        let others = ["input"].into_iter().chain(scope.item_name.filter(|_| scope.has_item));
        let names = self.names[..earlier].iter().copied().filter(|name| !name.is_empty());
        nearest(root, names.take(CANDIDATES_MAX).chain(others)).map(str::to_owned)
    }
}
