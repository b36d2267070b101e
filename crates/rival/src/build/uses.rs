//! Every use of a function in a workflow, with what is needed to name and check it.

use std::fmt;

use rival_core::plan::TEXT_MARK;

use super::draft::{HeadDraft, NodePart, Place, TestDraft};
use super::outline::{Outline, Site, join};
use crate::config::StepConfig;
use crate::delay::DelayWait;
use crate::step::StepDraft;

/// One use of a function.
#[derive(Clone, Copy)]
pub(super) struct Use<'a> {
    pub(super) draft: &'a StepDraft,
    pub(super) role: Role,
    /// The node's number; `None` for the workflow's own handler.
    pub(super) node: Option<usize>,
    /// The node's path, or the workflow's name for its handler.
    pub(super) path: &'a str,
    /// The path of the block that the node is in.
    block: &'a str,
    /// The node has a name that its author gave it.
    is_named: bool,
    pub(super) location: Place,
}

/// What a function is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
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

impl Role {
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

impl Use<'_> {
    /// The name in the plan of a function that has none itself: the one it is given here under the path of its block,
    /// else what the place where it is used is called, else what it is. All come from the code, none from an order.
    pub(super) fn name(&self) -> Option<String> {
        let given = self.draft.named.as_deref().map(|name| join(self.block, name));
        given.or_else(|| match self.role {
            Role::Step => {
                let (kind, text) = (self.draft.default_name?, self.draft.function.fingerprint.as_ref()?);
                Some(join(self.block, &format!("{kind}{TEXT_MARK}{text}")))
            }
            Role::Delay => self.is_named.then(|| self.path.to_owned()),
            role => role.word().map(|word| format!("{}[{word}]", self.path)),
        })
    }

    /// The names that version 0.1 chose from, the best first. Some had the number of an unnamed node in them.
    pub(super) fn former_names(&self) -> Vec<String> {
        let own = self.draft.function.name.map(str::to_owned);
        let given = self.draft.named.as_deref().map(|name| join(self.block, name));
        let place = match self.role {
            Role::Step => self.draft.default_name.map(|_| self.path.to_owned()),
            Role::Delay => Some(self.path.to_owned()),
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
            Role::Step => false,
            // It is tried again and has a timeout like a step.
            Role::Compensation => {
                let StepConfig { on_timeout, at_most_once, .. } = config;
                let default = StepConfig::default();
                idle || *on_timeout != default.on_timeout || *at_most_once
            }
            _ => idle || *config != StepConfig::default(),
        }
    }

    pub(super) fn is_handler(&self) -> bool {
        matches!(self.role, Role::Handler | Role::WorkflowHandler)
    }
}

/// As messages begin: ``step `chop_tree` ``.
impl fmt::Display for Use<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = self.draft.named.as_deref().or(self.draft.function.name);
        let own = own.map_or_else(String::new, |name| format!(" `{name}`"));
        let path = self.path;
        match self.role {
            Role::Step => write!(f, "step `{path}`"),
            Role::Handler => write!(f, "error handler{own} of step `{path}`"),
            Role::Compensation => write!(f, "compensation{own} of step `{path}`"),
            Role::WorkflowHandler => write!(f, "error handler{own} of workflow `{path}`"),
            Role::Mapper => write!(f, "input function{own} of workflow `{path}`"),
            Role::Delay => write!(f, "delay `{path}`"),
            Role::Choose => write!(f, "choice{own} of branch `{path}`"),
            Role::Until | Role::While => write!(f, "test{own} of loop `{path}`"),
            Role::Items => write!(f, "items function{own} of forEach `{path}`"),
            Role::Finally => write!(f, "finally{own} of parallel `{path}`"),
        }
    }
}

/// Every use, in the order of the workflow.
pub(super) fn uses<'a>(draft: &'a HeadDraft, outline: &'a Outline<'a>) -> Vec<Use<'a>> {
    let mut uses = Vec::new();
    for (number, site) in outline.nodes.iter().enumerate() {
        let (path, block) = (site.path.as_str(), outline.blocks[site.block].path.as_str());
        let location = site.part.location;
        of_node(site, |draft, role| {
            let is_named = matches!(&site.part.part, NodePart::Sleep(delay) if delay.named.is_some());
            uses.push(Use { draft, role, node: Some(number), path, block, is_named, location });
        });
    }
    if let Some((handler, location)) = &draft.on_error {
        let (path, role) = (draft.name.as_str(), Role::WorkflowHandler);
        uses.push(Use { draft: handler, role, node: None, path, block: "", is_named: true, location });
    }
    uses
}

fn of_node<'a>(site: &Site<'a>, mut add: impl FnMut(&'a StepDraft, Role)) {
    match &site.part.part {
        NodePart::Step(step) => {
            add(step, Role::Step);
            if let Some(handler) = &step.on_error {
                add(handler, Role::Handler);
            }
            if let Some(undo) = &step.compensate {
                add(undo, Role::Compensation);
            }
        }
        NodePart::Sleep(delay) => match &delay.wait {
            DelayWait::Given(_) => {}
            DelayWait::Computed(function) => add(function, Role::Delay),
        },
        NodePart::Signal(_) => {}
        NodePart::Nested { input, .. } => {
            if let Some(input) = input {
                add(input, Role::Mapper);
            }
        }
        NodePart::Branch(branch) => add(&branch.choose, Role::Choose),
        NodePart::Loop(each) => match &each.test {
            TestDraft::Until(test) => add(test, Role::Until),
            TestDraft::While(test) => add(test, Role::While),
        },
        NodePart::Each(each) => add(&each.items, Role::Items),
        NodePart::Parallel(parallel) => {
            if let Some(finally) = &parallel.finally {
                add(finally, Role::Finally);
            }
        }
    }
}
