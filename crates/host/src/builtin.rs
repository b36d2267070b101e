//! The modules that the host brings along, by name.

use crate::assets;

/// Its default export is a function from what Rust can do to what the loop calls.
pub(crate) const PRELUDE: (&str, &str) = ("rival:prelude", assets::PRELUDE);

/// zod's messages in other languages, evaluated when one is asked for.
pub(crate) const LOCALES: (&str, &str) = ("rival:locales", assets::ZOD_LOCALES);

/// What files import by name.
const MODULES: &[(&str, &str)] =
    &[("rival", assets::RIVAL), ("zod", assets::ZOD), ("rival/test", assets::TEST)];

/// The module of this name, if it is one of the host's own.
pub(crate) fn find(name: &str) -> Option<(&'static str, &'static str)> {
    MODULES.iter().find(|(own, _)| *own == name).copied()
}

pub(crate) fn is_one(name: &str) -> bool {
    name == PRELUDE.0 || find(name).is_some()
}
