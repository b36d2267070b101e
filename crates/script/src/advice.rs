//! What to do about errors that a file's own code throws while it is loaded.

use std::collections::BTreeSet;

use rival_script_host::frame::ScriptError;
use rival_typescript::nearest;

use crate::types::RIVAL;

/// What is told where nothing more is known.
const THROWN: &str = "it was thrown while the file was loaded: catch it, or do this inside of a step";

/// Globals of browsers and of other programs that run JavaScript.
const ELSEWHERE: [&str; 10] = [
    "window",
    "document",
    "navigator",
    "localStorage",
    "sessionStorage",
    "XMLHttpRequest",
    "Deno",
    "Bun",
    "__dirname",
    "__filename",
];

/// What to do about an error, in a file with this text.
pub(crate) fn on_thrown(error: &ScriptError, text: Option<&str>) -> String {
    if error.name != "ReferenceError" {
        return THROWN.to_owned();
    }
    if let Some(name) = error.message.strip_suffix(" is not initialized") {
        return format!("`{name}` is used above the line that makes it: move that line up");
    }
    match error.message.strip_suffix(" is not defined") {
        Some(name) => on_undefined(name, text.unwrap_or_default()),
        None => THROWN.to_owned(),
    }
}

fn on_undefined(name: &str, text: &str) -> String {
    let ours = exports_of_rival();
    if name == "z" {
        return "import it: `import { z } from 'zod'`".to_owned();
    }
    if ours.contains(name) {
        return format!("import it: `import {{ {name} }} from 'rival'`");
    }
    if ELSEWHERE.contains(&name) {
        return "it is no part of the language, and not here; docs/typescript.md says what is".to_owned();
    }
    let known = declared(text);
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            format!("nothing in this file is called `{name}`: declare it, import it, or mend its spelling")
        }
    }
}

/// What can be imported from `rival`, but for types.
fn exports_of_rival() -> BTreeSet<&'static str> {
    let kinds = ["export function ", "export class ", "export const ", "export declare const "];
    let declared = RIVAL.lines().filter_map(|line| kinds.iter().find_map(|kind| line.strip_prefix(kind)));
    declared.map(|rest| rest.split(|c: char| !is_of_name(c)).next().unwrap_or_default()).collect()
}

/// The names that a text declares or imports, as far as its words show.
fn declared(text: &str) -> BTreeSet<&str> {
    const KEYWORDS: [&str; 5] = ["function", "const", "let", "class", "var"];
    let words: Vec<&str> = text.split(|c: char| !is_of_name(c)).filter(|word| !word.is_empty()).collect();
    let declared = words.windows(2).filter(|pair| KEYWORDS.contains(&pair[0])).map(|pair| pair[1]);
    let imports = text.lines().filter(|line| line.trim_start().starts_with("import"));
    let imported = imports.flat_map(|line| line.split(|c: char| !is_of_name(c)));
    let no_name = ["import", "from", "as", "type", ""];
    declared.chain(imported.filter(|word| !no_name.contains(word))).collect()
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(name: &str, message: &str, text: &str) -> String {
        let error =
            ScriptError { name: name.to_owned(), message: message.to_owned(), ..ScriptError::default() };
        on_thrown(&error, Some(text))
    }

    #[test]
    fn a_name_that_is_not_there_is_told_what_was_probably_meant() {
        let text = "import { z } from 'zod'\nfunction chopTree() {}\nexport const steps = [chopTre]\n";
        let undefined = |name: &str| advice("ReferenceError", &format!("{name} is not defined"), text);
        assert_eq!(undefined("chopTre"), "did you mean `chopTree`?");
        assert_eq!(undefined("sleep"), "import it: `import { sleep } from 'rival'`");
        assert_eq!(undefined("StepError"), "import it: `import { StepError } from 'rival'`");
        assert_eq!(undefined("z"), "import it: `import { z } from 'zod'`");
        assert!(undefined("Deno").contains("not here"));
        assert!(undefined("nobody").starts_with("nothing in this file is called `nobody`"));
        let early = advice("ReferenceError", "late is not initialized", text);
        assert_eq!(early, "`late` is used above the line that makes it: move that line up");
        assert_eq!(advice("TypeError", "cannot read property 'x' of undefined", text), THROWN);
    }
}
