//! Flags for the settings, made from the list of settings.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use super::keys::{KEYS, Key, Kind, Place};

/// What the flags said, by the setting's name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given(BTreeMap<&'static str, String>);

impl Given {
    pub(super) fn get(&self, key: &Key) -> Option<&str> {
        self.0.get(key.name).map(String::as_str)
    }

    /// Adds what other flags said.
    pub(crate) fn and(&mut self, other: &Self) {
        self.0.extend(other.0.iter().map(|(name, value)| (*name, value.clone())));
    }
}

/// Which settings a group of flags is for.
pub(crate) trait Group {
    const HEADING: &str;
    const GLOBAL: bool = false;

    fn has(place: Place) -> bool;
}

/// Flags that every command has.
#[derive(Clone, Debug)]
pub(crate) struct Everywhere;

impl Group for Everywhere {
    const HEADING: &str = "Global options";
    const GLOBAL: bool = true;

    fn has(place: Place) -> bool {
        place == Place::Everywhere
    }
}

/// Flags of commands that start a server.
#[derive(Clone, Debug)]
pub(crate) struct Server;

impl Group for Server {
    const HEADING: &str = "Settings";

    fn has(place: Place) -> bool {
        matches!(place, Place::Server | Place::Tokens)
    }
}

/// Flags of commands that deal with tokens.
#[derive(Clone, Debug)]
pub(crate) struct Tokens;

impl Group for Tokens {
    const HEADING: &str = "Settings";

    fn has(place: Place) -> bool {
        place == Place::Tokens
    }
}

/// The flags of a group.
#[derive(Clone, Debug)]
pub(crate) struct Flags<G> {
    pub(crate) given: Given,
    group: PhantomData<G>,
}

pub(crate) type GlobalFlags = Flags<Everywhere>;
pub(crate) type ServerFlags = Flags<Server>;
pub(crate) type TokenFlags = Flags<Tokens>;

fn keys<G: Group>() -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(|key| G::has(key.place))
}

fn argument<G: Group>(key: &'static Key) -> Arg {
    let argument = Arg::new(key.name)
        .long(key.flag())
        .value_name(key.kind.placeholder())
        .help(key.doc)
        .help_heading(G::HEADING)
        .global(G::GLOBAL);
    match key.kind {
        Kind::Switch => argument.num_args(0..=1).require_equals(true).default_missing_value("true"),
        _ => argument,
    }
}

impl<G: Group> Args for Flags<G> {
    fn augment_args(command: Command) -> Command {
        command.args(keys::<G>().map(argument::<G>))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<G: Group> FromArgMatches for Flags<G> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = keys::<G>().filter_map(|key| {
            // Flags of a group are only there where the group is.
            let value = matches.try_get_one::<String>(key.name).ok().flatten()?;
            Some((key.name, value.clone()))
        });
        Ok(Self { given: Given(given.collect()), group: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
