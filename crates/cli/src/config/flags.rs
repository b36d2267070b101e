//! Flags for the settings, made from the list of settings.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use super::keys::{FlagScope, KEYS, SettingKey, SettingKind};

/// What the flags said, by the setting's name.
#[derive(Clone, Debug, Default)]
pub(crate) struct GivenFlags(BTreeMap<&'static str, String>);

impl GivenFlags {
    pub(super) fn get(&self, key: &SettingKey) -> Option<&str> {
        self.0.get(key.name).map(String::as_str)
    }

    /// Adds what other flags said.
    pub(crate) fn and(&mut self, other: &Self) {
        self.0.extend(other.0.iter().map(|(name, value)| (*name, value.clone())));
    }
}

/// Which settings a group of flags is for.
pub(crate) trait FlagGroup {
    const HEADING: &str;
    const GLOBAL: bool = false;

    fn has(place: FlagScope) -> bool;
}

/// Flags that every command has.
#[derive(Clone, Debug)]
pub(crate) struct GlobalGroup;

impl FlagGroup for GlobalGroup {
    const HEADING: &str = "Global options";
    const GLOBAL: bool = true;

    fn has(place: FlagScope) -> bool {
        place == FlagScope::Everywhere
    }
}

/// Flags of commands that start a server.
#[derive(Clone, Debug)]
pub(crate) struct ServerGroup;

impl FlagGroup for ServerGroup {
    const HEADING: &str = "Settings";

    fn has(place: FlagScope) -> bool {
        matches!(place, FlagScope::Server | FlagScope::Tokens)
    }
}

/// Flags of commands that deal with tokens.
#[derive(Clone, Debug)]
pub(crate) struct TokenGroup;

impl FlagGroup for TokenGroup {
    const HEADING: &str = "Settings";

    fn has(place: FlagScope) -> bool {
        place == FlagScope::Tokens
    }
}

/// The flags of a group.
#[derive(Clone, Debug)]
pub(crate) struct GroupFlags<G> {
    pub(crate) given: GivenFlags,
    group: PhantomData<G>,
}

pub(crate) type GlobalFlags = GroupFlags<GlobalGroup>;
pub(crate) type ServerFlags = GroupFlags<ServerGroup>;
pub(crate) type TokenFlags = GroupFlags<TokenGroup>;

fn keys<G: FlagGroup>() -> impl Iterator<Item = &'static SettingKey> {
    KEYS.iter().filter(|key| G::has(key.place))
}

fn argument<G: FlagGroup>(key: &'static SettingKey) -> Arg {
    let argument = Arg::new(key.name)
        .long(key.flag())
        .value_name(key.kind.placeholder())
        .help(key.doc)
        .help_heading(G::HEADING)
        .global(G::GLOBAL);
    match key.kind {
        SettingKind::Switch => argument.num_args(0..=1).require_equals(true).default_missing_value("true"),
        _ => argument,
    }
}

impl<G: FlagGroup> Args for GroupFlags<G> {
    fn augment_args(command: Command) -> Command {
        command.args(keys::<G>().map(argument::<G>))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<G: FlagGroup> FromArgMatches for GroupFlags<G> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = keys::<G>().filter_map(|key| {
            // Flags of a group are only there where the group is.
            let value = matches.try_get_one::<String>(key.name).ok().flatten()?;
            Some((key.name, value.clone()))
        });
        Ok(Self { given: GivenFlags(given.collect()), group: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
