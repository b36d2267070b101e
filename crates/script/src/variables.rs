//! Which environment variables files read, as far as their text says it by name.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rival_typescript::ScriptProgram;

/// The names in `process.env.NAME` and `process.env['NAME']`, each with a file that has it. Packages ask for many that are
/// not meant for them, and are left out.
pub(crate) fn read_by(program: &ScriptProgram) -> BTreeMap<String, PathBuf> {
    let own =
        program.modules.values().filter(|module| !module.path.iter().any(|part| part == "node_modules"));
    own.flat_map(|module| names(&module.code).map(|name| (name, module.path.clone()))).collect()
}

fn names(code: &str) -> impl Iterator<Item = String> {
    let after = code.split("process.env").skip(1);
    after.filter_map(|rest| {
        let rest = rest.trim_start();
        let rest = rest.strip_prefix("?.").or_else(|| rest.strip_prefix('.')).unwrap_or(rest);
        let rest = rest.strip_prefix("['").or_else(|| rest.strip_prefix("[\"")).unwrap_or(rest);
        let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        (!name.is_empty()).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_the_text() {
        let code = "fetch(url, process.env.API_KEY, process.env[\"OTHER\"] ?? process.env?.THIRD); keys(process.env)";
        assert_eq!(names(code).collect::<Vec<_>>(), ["API_KEY", "OTHER", "THIRD"]);
    }
}
