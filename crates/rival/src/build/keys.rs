//! The names under which a definition holds its functions.

use std::collections::BTreeMap;

use super::Built;
use super::outline::join;
use super::uses::Use;
use crate::error::BuildError;
use crate::function::{Bound, Erased, Identity};

/// Which function has which name. Plans name functions by them, so they come from the code, never from an order.
#[derive(Default)]
pub(super) struct Keys {
    by_identity: BTreeMap<Identity, String>,
    functions: BTreeMap<String, Erased>,
}

impl Keys {
    /// Names every function: by its own name, or if another function has that one, by the name given here.
    pub(super) fn assign(uses: &[Use<'_>], problems: &mut Vec<BuildError>) -> Self {
        let mut keys = Self::default();
        // Some can take another name than their function's, so the others choose first.
        let (fixed, flexible): (Vec<&Use<'_>>, Vec<_>) =
            uses.iter().partition(|use_| use_.is_bound_to_its_name());
        for use_ in fixed.into_iter().chain(flexible) {
            keys.claim(use_, problems);
        }
        keys
    }

    fn claim(&mut self, use_: &Use<'_>, problems: &mut Vec<BuildError>) {
        let function = &use_.draft.function;
        if self.by_identity.contains_key(&function.identity) {
            return;
        }
        let wanted = use_.names();
        let Some(first) = wanted.first() else {
            problems.push(nameless(use_));
            return;
        };
        match wanted.iter().find(|key| !self.functions.contains_key(*key)) {
            Some(key) => self.insert(key, function),
            None => problems.push(taken(first, use_)),
        }
    }

    fn insert(&mut self, key: &str, function: &Erased) {
        self.by_identity.insert(function.identity, key.to_owned());
        self.functions.insert(key.to_owned(), function.clone());
    }

    /// Takes in a nested workflow's functions; gives the new names of those that have another one here.
    pub(super) fn merge(&mut self, node: &str, nested: &Built) -> BTreeMap<String, String> {
        let mut renamed = BTreeMap::new();
        for (key, bound) in &nested.functions {
            let new = self.take_in(node, key, &bound.function);
            if new != *key {
                renamed.insert(key.clone(), new);
            }
        }
        renamed
    }

    /// A function keeps its own name if that is free. One without is known by its path: if the first of several such
    /// workflows had the short name, another order would call another function.
    fn take_in(&mut self, node: &str, key: &str, function: &Erased) -> String {
        let new = match function.identity {
            Identity::Value(_) => join(node, key),
            Identity::Item(_) | Identity::Mapped(_) => match self.by_identity.get(&function.identity) {
                Some(known) => return known.clone(),
                None => self.free(node, key),
            },
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
    pub(super) fn of(&self, function: &Erased) -> String {
        // A function without a name was reported; its plan is never used.
        self.by_identity.get(&function.identity).cloned().unwrap_or_default()
    }

    /// The functions by name, each knowing the names of those whose output it asks for.
    pub(super) fn bind(self) -> BTreeMap<String, Bound> {
        let bind = |function: &Erased| {
            function.bind(|ask| match self.by_identity.get(&Identity::Item(ask.step)) {
                Some(key) => key.clone(),
                // A step of a workflow around this one: no function here can have such a name.
                None => format!("../{}", ask.name),
            })
        };
        self.functions.iter().map(|(key, function)| (key.clone(), bind(function))).collect()
    }
}

fn nameless(use_: &Use<'_>) -> BuildError {
    let message = "closures, fn pointers and generic functions have no durable name: \
                   write a `#[step] fn`, or name it with `.named(\"..\")`";
    BuildError::new(message, use_.location)
}

fn taken(key: &str, use_: &Use<'_>) -> BuildError {
    let message = format!(
        "{use_}: another function is called `{key}`: give one of them another name with `.named(\"..\")`"
    );
    BuildError::new(message, use_.location)
}
