//! The names under which a definition holds its functions.

use std::collections::{BTreeMap, BTreeSet};

use super::BuiltWorkflow;
use super::draft::NodePart;
use super::outline::{PlanOutline, join};
use super::uses::FunctionUse;
use crate::error::BuildError;
use crate::function::{BoundFunction, ErasedFunction, FunctionIdentity};

/// How functions are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyScheme {
    /// By names that no other change of the workflow can give to another function.
    Now,
    /// As version 0.1 did, so that its runs find their functions.
    Former,
}

/// Which function has which name. Plans name functions by them, so they come from the code, never from an order.
pub(super) struct FunctionKeys {
    pub(super) scheme: KeyScheme,
    by_identity: BTreeMap<FunctionIdentity, String>,
    functions: BTreeMap<String, ErasedFunction>,
    /// Names that several functions have, here or in nested workflows: each of these is known by its whole path.
    contested: BTreeSet<&'static str>,
}

impl FunctionKeys {
    /// Names every function.
    pub(super) fn assign(
        uses: &[FunctionUse<'_>],
        outline: &PlanOutline<'_>,
        problems: &mut Vec<BuildError>,
    ) -> Self {
        let mut keys = Self::new(KeyScheme::Now, contested(uses, outline));
        // Which function has a node that is called after it.
        let mut plain: BTreeMap<&str, FunctionIdentity> = BTreeMap::new();
        for use_ in uses {
            let function = &use_.draft.function;
            if let Some(own) = function.name.filter(|_| use_.is_called_after_its_function())
                && *plain.entry(own).or_insert(function.identity) != function.identity
            {
                problems.push(taken(own, use_));
                continue;
            }
            keys.claim(use_, problems);
        }
        keys
    }

    fn claim(&mut self, use_: &FunctionUse<'_>, problems: &mut Vec<BuildError>) {
        let function = &use_.draft.function;
        if self.by_identity.contains_key(&function.identity) {
            return;
        }
        let Some(key) = self.own_name(function).or_else(|| use_.name()) else {
            problems.push(nameless(use_));
            return;
        };
        match self.functions.get(&key) {
            // Closures that hold the same are the same.
            Some(known) if known.fingerprint.is_none() || known.fingerprint != function.fingerprint => {
                problems.push(taken(&key, use_));
            }
            Some(_) | None => self.insert(&key, function),
        }
    }

    /// The name that a function has wherever it is used, if it has one.
    fn own_name(&self, function: &ErasedFunction) -> Option<String> {
        let own = function.name?;
        Some(match function.identity {
            _ if !self.contested.contains(own) => own.to_owned(),
            FunctionIdentity::Mapped(_) => format!("{}[mapped]", function.path),
            FunctionIdentity::Item(_) | FunctionIdentity::Value(_) => function.path.to_owned(),
        })
    }

    /// Names every function as version 0.1 did: by its own name, or if another function had that one, by the one that
    /// was given here.
    pub(super) fn former(uses: &[FunctionUse<'_>]) -> Self {
        let mut keys = Self::new(KeyScheme::Former, BTreeSet::new());
        let (fixed, flexible): (Vec<&FunctionUse<'_>>, Vec<_>) =
            uses.iter().partition(|use_| use_.former_names().len() == 1);
        for use_ in fixed.into_iter().chain(flexible) {
            let function = &use_.draft.function;
            let free = use_.former_names().into_iter().find(|key| !keys.functions.contains_key(key));
            if let Some(key) = free.filter(|_| !keys.by_identity.contains_key(&function.identity)) {
                keys.insert(&key, function);
            }
        }
        keys
    }

    fn new(scheme: KeyScheme, contested: BTreeSet<&'static str>) -> Self {
        Self { scheme, by_identity: BTreeMap::new(), functions: BTreeMap::new(), contested }
    }

    fn insert(&mut self, key: &str, function: &ErasedFunction) {
        self.by_identity.insert(function.identity, key.to_owned());
        self.functions.insert(key.to_owned(), function.clone());
    }

    /// Takes in a nested workflow's functions; gives the new names of those that have another one here.
    pub(super) fn merge(&mut self, node: &str, nested: &BuiltWorkflow) -> BTreeMap<String, String> {
        let mut renamed = BTreeMap::new();
        for (key, bound) in nested.functions_of(self.scheme) {
            let new = self.take_in(node, key, &bound.function);
            if new != *key {
                renamed.insert(key.clone(), new);
            }
        }
        renamed
    }

    /// A function keeps its own name if that is free. One without is known by its path: if the first of several such
    /// workflows had the short name, another order would call another function.
    fn take_in(&mut self, node: &str, key: &str, function: &ErasedFunction) -> String {
        let new = match function.identity {
            FunctionIdentity::Value(_) => join(node, key),
            FunctionIdentity::Item(_) | FunctionIdentity::Mapped(_) => {
                match self.by_identity.get(&function.identity) {
                    Some(known) => return known.clone(),
                    None if self.scheme == KeyScheme::Former => self.free(node, key),
                    None => self.free(node, &self.own_name(function).unwrap_or_else(|| key.to_owned())),
                }
            }
        };
        self.insert(&new, function);
        new
    }

    fn free(&self, node: &str, key: &str) -> String {
        let mut new = key.to_owned();
        while self.functions.contains_key(&new) {
            new = format!("{node}/{new}");
        }
        new
    }

    /// The name of a function.
    pub(super) fn of(&self, function: &ErasedFunction) -> String {
        // A function without a name was reported; its plan is never used.
        self.by_identity.get(&function.identity).cloned().unwrap_or_default()
    }

    /// What each function is called by others, by its name here.
    pub(super) fn names_in(&self, others: &Self) -> BTreeMap<String, String> {
        let names = self.functions.iter().map(|(key, function)| (key.clone(), others.of(function)));
        names.collect()
    }

    /// The functions by name, each knowing the names of those whose output it asks for.
    pub(super) fn bind(self) -> BTreeMap<String, BoundFunction> {
        let bind = |function: &ErasedFunction| {
            function.bind(|ask| match self.by_identity.get(&FunctionIdentity::Item(ask.step)) {
                Some(key) => key.clone(),
                // A step of a workflow around this one: no function here can have such a name.
                None => format!("../{}", ask.name),
            })
        };
        self.functions.iter().map(|(key, function)| (key.clone(), bind(function))).collect()
    }
}

/// The names that more than one function has, here or in nested workflows.
fn contested(uses: &[FunctionUse<'_>], outline: &PlanOutline<'_>) -> BTreeSet<&'static str> {
    let mut owners: BTreeMap<&'static str, BTreeSet<FunctionIdentity>> = BTreeMap::new();
    let nested = outline.nodes.iter().filter_map(|site| match &site.part.part {
        NodePart::Nested { nested, .. } => Some(nested.built.functions_of(KeyScheme::Now).values()),
        _ => None,
    });
    let nested = nested.flatten().map(|bound| &bound.function);
    for function in uses.iter().map(|use_| &use_.draft.function).chain(nested) {
        if let Some(name) = function.name {
            owners.entry(name).or_default().insert(function.identity);
        }
    }
    owners.into_iter().filter(|(_, owners)| owners.len() > 1).map(|(name, _)| name).collect()
}

fn nameless(use_: &FunctionUse<'_>) -> BuildError {
    let message = "closures, fn pointers and generic functions have no durable name: \
                   write a `#[step] fn`, or name it with `.named(\"..\")`";
    BuildError::new(message, use_.location)
}

fn taken(key: &str, use_: &FunctionUse<'_>) -> BuildError {
    let message = format!(
        "{use_}: another function is called `{key}`: give one of them another name with `.named(\"..\")`"
    );
    BuildError::new(message, use_.location)
}
