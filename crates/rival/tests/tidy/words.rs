//! Comments and documents name their subjects.

use crate::{files_under, read};

/// Words that hide who acts, or that stand for something with another name.
const UNCLEAR: [&str; 8] =
    ["whoever", "nobody", "somebody", "everybody", "anybody", "errand", "errands", "how-manieth"];

/// Where the words themselves are the subject.
const ABOUT_WORDS: [&str; 2] = ["docs/glossary.md", "crates/rival/tests/tidy/words.rs"];

fn comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if ["//", "/*", "*"].iter().any(|mark| line.starts_with(mark)) { Some(line) } else { None }
}

fn unclear_word(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '-');
    words.find_map(|word| UNCLEAR.into_iter().find(|unclear| *unclear == word))
}

#[test]
fn comments_and_documents_name_their_subjects() {
    let mut found = Vec::new();
    let code = ["crates", "rigs", "packages", "examples"];
    let files = code.map(|folder| files_under(folder, &[".rs", ".ts", ".mjs"])).concat();
    for path in files {
        let text = read(&path);
        for (at, line) in text.lines().enumerate() {
            if let Some(word) = comment(line).and_then(unclear_word) {
                found.push(format!("{path}:{}: {word}", at + 1));
            }
        }
    }
    let documents = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(str::to_owned);
    for path in documents.into_iter().chain(files_under("docs", &[".md"])) {
        let text = read(&path);
        let lines = text.lines().enumerate();
        let unclear =
            lines.filter_map(|(at, line)| Some(format!("{path}:{}: {}", at + 1, unclear_word(line)?)));
        found.extend(unclear);
    }
    found.retain(|place| !ABOUT_WORDS.iter().any(|path| place.starts_with(path)));
    assert!(found.is_empty(), "name the subject instead (docs/glossary.md): {found:#?}");
}
