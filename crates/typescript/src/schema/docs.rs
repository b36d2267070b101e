//! Comments that describe what follows them.

use std::collections::BTreeMap;

use oxc::ast::ast::Program;

/// The texts of `/** … */` comments, by where that begins which they describe.
pub(crate) struct DocComments(BTreeMap<u32, String>);

impl DocComments {
    pub(crate) fn of(program: &Program<'_>, source: &str) -> Self {
        let comments = program.comments.iter().filter(|comment| comment.is_jsdoc());
        let texts =
            comments.map(|comment| (comment.attached_to, text(comment.content_span().source_text(source))));
        DocComments(texts.filter(|(_, text)| !text.is_empty()).collect())
    }

    pub(crate) fn at(&self, start: u32) -> Option<&str> {
        self.0.get(&start).map(String::as_str)
    }
}

/// A comment without its stars and tags. An empty line stays: it separates paragraphs.
fn text(comment: &str) -> String {
    let lines = comment.trim_start_matches('*').lines().map(|line| {
        let line = line.trim();
        line.strip_prefix('*').unwrap_or(line).trim()
    });
    let lines: Vec<&str> = lines.take_while(|line| !line.starts_with('@')).collect();
    lines.join("\n").trim().to_owned()
}
