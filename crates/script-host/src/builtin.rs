//! The modules that the host brings along, by name.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::assets;

/// A module: its name and its code.
type Module = (&'static str, &'static str);

/// Its default export is a function from what Rust can do to what the loop calls.
pub(crate) const PRELUDE: Module = ("rival:prelude", assets::PRELUDE);

/// Before the name of each module of `zod`, which files import by that name alone.
const PART_OF_ZOD: &str = "zod:";

/// What others import by name.
static MODULES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let own = [
        ("rival", assets::RIVAL),
        ("rival/document", assets::DOCUMENT),
        ("rival/test", assets::TEST),
        ("rival:subtle", assets::SUBTLE),
        ("zod:locales", assets::ZOD_LOCALES),
    ];
    own.into_iter().chain(parts(assets::ZOD)).chain(parts(assets::NODE)).chain(parts(assets::INTL)).collect()
});

/// The modules that are in one text, each after a line with its name.
fn parts(text: &'static str) -> impl Iterator<Item = Module> {
    text.split("\n//@ ").skip(1).filter_map(|part| part.split_once('\n'))
}

/// The module of this name, if it is one of the host's own.
pub(crate) fn find(name: &str) -> Option<Module> {
    MODULES.get_key_value(name).map(|(name, code)| (*name, *code))
}

/// A part of `zod` that is evaluated when it is asked for.
pub(crate) fn find_later(name: &str) -> Option<Module> {
    find(name).filter(|(name, _)| name.starts_with(PART_OF_ZOD))
}

pub(crate) fn is_one(name: &str) -> bool {
    name == PRELUDE.0 || MODULES.contains_key(name)
}
