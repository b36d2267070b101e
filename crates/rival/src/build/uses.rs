//! Every use of a function in a workflow, with what is needed to name and check it.

use std::fmt;

use rival_core::plan::TEXT_MARK;

use super::draft::{HeadDraft, NodePart, SourceLocation, TestDraft};
use super::outline::{NodeSite, PlanOutline, join};
use crate::config::StepConfig;
use crate::delay::DelayWait;
use crate::step::StepDraft;

/// One use of a function.
#[derive(Clone, Copy)]
pub(super) struct FunctionUse<'a> {
    pub(super) draft: &'a StepDraft,
    pub(super) role: UseRole,
    /// The node's number; `None` for the workflow's own handler.
    pub(super) node: Option<usize>,
    /// The node's path, or the workflow's name for its handler.
    pub(super) path: &'a str,
    /// The path of the block that the node is in.
    block: &'a str,
    /// The node has a name that its author gave it.
    is_named: bool,
    pub(super) location: SourceLocation,
}

/// What a function is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UseRole {
    Step,
    Handler,
    Compensation,
    WorkflowHandler,
    Mapper,
    Delay,
    Choose,
    Until,
    While,
    Items,
    Finally,
}

impl UseRole {
    /// What the functions of a block are called: its name is given, so they need none of their own.
    fn word(self) -> Option<&'static str> {
        match self {
            Self::Choose => Some("choose"),
            Self::Until => Some("until"),
            Self::While => Some("while"),
            Self::Items => Some("items"),
            Self::Finally => Some("finally"),
            Self::Step
            | Self::Handler
            | Self::Compensation
            | Self::WorkflowHandler
            | Self::Mapper
            | Self::Delay => None,
        }
    }
}

impl FunctionUse<'_> {
    /// The name in the plan of a function that has none itself: the one it is given here under the path of its block,
    /// else what the place where it is used is called, else what it is. All come from the code, none from an order.
    pub(super) fn name(&self) -> Option<String> {
        let given = self.draft.named.as_deref().map(|name| join(self.block, name));
        given.or_else(|| match self.role {
            UseRole::Step => {
                let (kind, text) = (self.draft.default_name?, self.draft.function.fingerprint.as_ref()?);
                Some(join(self.block, &format!("{kind}{TEXT_MARK}{text}")))
            }
            UseRole::Delay => self.is_named.then(|| self.path.to_owned()),
            role => role.word().map(|word| format!("{}[{word}]", self.path)),
        })
    }

    /// The names that version 0.1 chose from, the best first. Some had the number of an unnamed node in them.
    pub(super) fn former_names(&self) -> Vec<String> {
        let own = self.draft.function.name.map(str::to_owned);
        let given = self.draft.named.as_deref().map(|name| join(self.block, name));
        let place = match self.role {
            UseRole::Step => self.draft.default_name.map(|_| self.path.to_owned()),
            UseRole::Delay => Some(self.path.to_owned()),
            role => role.word().map(|word| format!("{}[{word}]", self.path)),
        };
        own.into_iter().chain(given).chain(place).collect()
    }

    /// Whether the function's own name is the only one that there is.
    pub(super) fn is_called_after_its_function(&self) -> bool {
        self.former_names().len() == 1
    }

    /// Whether options are set that mean nothing for this use.
    pub(super) fn has_idle_options(&self) -> bool {
        let StepDraft { config, continue_on_error, on_error, compensate, after, .. } = self.draft;
        let idle = *continue_on_error || on_error.is_some() || compensate.is_some() || !after.is_empty();
        match self.role {
            UseRole::Step => false,
            // It is tried again and has a timeout like a step.
            UseRole::Compensation => {
                let StepConfig { on_timeout, at_most_once, .. } = config;
                let default = StepConfig::default();
                idle || *on_timeout != default.on_timeout || *at_most_once
            }
            _ => idle || *config != StepConfig::default(),
        }
    }

    pub(super) fn is_handler(&self) -> bool {
        matches!(self.role, UseRole::Handler | UseRole::WorkflowHandler)
    }
}

/// As messages begin: ``step `chop_tree` ``.
impl fmt::Display for FunctionUse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = self.draft.named.as_deref().or(self.draft.function.name);
        let own = own.map_or_else(String::new, |name| format!(" `{name}`"));
        let path = self.path;
        match self.role {
            UseRole::Step => write!(f, "step `{path}`"),
            UseRole::Handler => write!(f, "error handler{own} of step `{path}`"),
            UseRole::Compensation => write!(f, "compensation{own} of step `{path}`"),
            UseRole::WorkflowHandler => write!(f, "error handler{own} of workflow `{path}`"),
            UseRole::Mapper => write!(f, "input function{own} of workflow `{path}`"),
            UseRole::Delay => write!(f, "delay `{path}`"),
            UseRole::Choose => write!(f, "choice{own} of branch `{path}`"),
            UseRole::Until | UseRole::While => write!(f, "test{own} of loop `{path}`"),
            UseRole::Items => write!(f, "items function{own} of forEach `{path}`"),
            UseRole::Finally => write!(f, "finally{own} of parallel `{path}`"),
        }
    }
}

/// Every use, in the order of the workflow.
pub(super) fn uses<'a>(draft: &'a HeadDraft, outline: &'a PlanOutline<'a>) -> Vec<FunctionUse<'a>> {
    let mut uses = Vec::new();
    for (number, site) in outline.nodes.iter().enumerate() {
        let (path, block) = (site.path.as_str(), outline.blocks[site.block].path.as_str());
        let location = site.part.location;
        of_node(site, |draft, role| {
            let is_named = matches!(&site.part.part, NodePart::Sleep(delay) if delay.named.is_some());
            uses.push(FunctionUse { draft, role, node: Some(number), path, block, is_named, location });
        });
    }
    if let Some((handler, location)) = &draft.on_error {
        let (path, role) = (draft.name.as_str(), UseRole::WorkflowHandler);
        uses.push(FunctionUse {
            draft: handler,
            role,
            node: None,
            path,
            block: "",
            is_named: true,
            location,
        });
    }
    uses
}

fn of_node<'a>(site: &NodeSite<'a>, mut add: impl FnMut(&'a StepDraft, UseRole)) {
    match &site.part.part {
        NodePart::Step(step) => {
            add(step, UseRole::Step);
            if let Some(handler) = &step.on_error {
                add(handler, UseRole::Handler);
            }
            if let Some(undo) = &step.compensate {
                add(undo, UseRole::Compensation);
            }
        }
        NodePart::Sleep(delay) => match &delay.wait {
            DelayWait::Given(_) => {}
            DelayWait::Computed(function) => add(function, UseRole::Delay),
        },
        NodePart::Signal(_) => {}
        NodePart::Nested { input, .. } => {
            if let Some(input) = input {
                add(input, UseRole::Mapper);
            }
        }
        NodePart::Branch(branch) => add(&branch.choose, UseRole::Choose),
        NodePart::Loop(each) => match &each.test {
            TestDraft::Until(test) => add(test, UseRole::Until),
            TestDraft::While(test) => add(test, UseRole::While),
        },
        NodePart::Each(each) => add(&each.items, UseRole::Items),
        NodePart::Parallel(parallel) => {
            if let Some(finally) = &parallel.finally {
                add(finally, UseRole::Finally);
            }
        }
    }
}
