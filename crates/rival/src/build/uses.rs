//! Every use of a function in a workflow, with what is needed to name and check it.

use std::fmt;

use super::{Draft, NodePart, Place};
use crate::config::StepConfig;
use crate::delay::DelayWait;
use crate::step::StepDraft;

/// One use of a function.
#[derive(Clone, Copy)]
pub(super) struct Use<'a> {
    pub(super) draft: &'a StepDraft,
    pub(super) role: Role,
    /// The node's id, or the workflow's name for its handler.
    pub(super) node: &'a str,
    /// How many nodes come before it.
    pub(super) position: usize,
    pub(super) location: Place,
}

/// What a function is used for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Step,
    Handler,
    WorkflowHandler,
    Mapper,
    Delay,
}

impl Use<'_> {
    /// Functions whose name is not their own are called like the node, if they are its main function.
    pub(super) fn node_name(&self) -> Option<&str> {
        let named = match self.role {
            Role::Step => self.draft.named.is_some() || self.draft.kind_name.is_some(),
            Role::Delay => true,
            Role::Handler | Role::WorkflowHandler | Role::Mapper => false,
        };
        named.then_some(self.node)
    }

    /// Whether options are set that mean nothing for this use.
    pub(super) fn has_idle_options(&self) -> bool {
        let StepDraft { config, continue_on_error, on_error, .. } = self.draft;
        self.role != Role::Step
            && (*config != StepConfig::default() || *continue_on_error || on_error.is_some())
    }

    pub(super) fn is_handler(&self) -> bool {
        matches!(self.role, Role::Handler | Role::WorkflowHandler)
    }
}

/// As messages begin: ``step `chop_tree` ``.
impl fmt::Display for Use<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = self.draft.named.as_deref().or(self.draft.function.name).unwrap_or("closure");
        match self.role {
            Role::Step => write!(f, "step `{}`", self.node),
            Role::Handler => write!(f, "error handler `{own}` of step `{}`", self.node),
            Role::WorkflowHandler => write!(f, "error handler `{own}` of workflow `{}`", self.node),
            Role::Mapper => write!(f, "input function `{own}` of workflow `{}`", self.node),
            Role::Delay => write!(f, "delay `{}`", self.node),
        }
    }
}

/// Every use, in the order of the workflow.
pub(super) fn uses<'a>(draft: &'a Draft, ids: &'a [String]) -> Vec<Use<'a>> {
    let mut uses = Vec::new();
    for (position, (part, node)) in draft.parts.iter().zip(ids).enumerate() {
        let location = part.location;
        let of = |draft, role| Use { draft, role, node, position, location };
        match &part.part {
            NodePart::Step(step) => {
                uses.push(of(step, Role::Step));
                uses.extend(step.on_error.as_deref().map(|handler| of(handler, Role::Handler)));
            }
            NodePart::Sleep(delay) => match &delay.wait {
                DelayWait::Given(_) => {}
                DelayWait::Computed(function) => uses.push(of(function, Role::Delay)),
            },
            NodePart::Nested { input, .. } => {
                uses.extend(input.as_ref().map(|input| of(input, Role::Mapper)))
            }
        }
    }
    if let Some((handler, location)) = &draft.on_error {
        let (node, position) = (draft.name.as_str(), draft.parts.len());
        uses.push(Use { draft: handler, role: Role::WorkflowHandler, node, position, location });
    }
    uses
}
