//! From the text of a file to JavaScript, and what the text alone says about it.

use std::path::Path;

use oxc::allocator::Allocator;
use oxc::ast::ast::Program;
use oxc::codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc::diagnostics::{Diagnostics, OxcDiagnostic};
use oxc::parser::{ParseOptions, Parser, ParserReturn};
use oxc::semantic::{Scoping, SemanticBuilder};
use oxc::span::SourceType;
use oxc::transformer::{TransformOptions, Transformer};

use crate::module::{FileKind, RequestedBy, SourceModule, in_package};
use crate::place::{LineIndex, TextPosition, number};
use crate::problem::Problem;
use crate::roomy::roomy;
use crate::scan::scan;
use crate::stack::SourceMap;
use crate::statics;

/// One mistake causes many errors; more than this many do not help the author.
const MOST_FAULTS: usize = 10;

/// The file without its types. What is wrong with it is in its `faults`.
pub(crate) fn compile(path: &Path, source: String) -> SourceModule {
    let compiled = roomy(&source, || match path.extension().and_then(|it| it.to_str()) {
        Some("json") => json(path, &source),
        _ => script(path, &source),
    });
    let mut module = compiled.unwrap_or_else(|| {
        let fault = Problem::new(path, TextPosition::START, "the compiler cannot deal with this file");
        SourceModule {
            faults: vec![fault.advise("Write it more simply, and report this.")],
            ..SourceModule::empty(path)
        }
    });
    module.source = Some(source);
    module
}

/// A JSON file as a module with a default export.
fn json(path: &Path, source: &str) -> SourceModule {
    let mut module = SourceModule { kind: FileKind::Json, ..SourceModule::empty(path) };
    match serde_json::from_str::<&serde_json::value::RawValue>(source) {
        Ok(_) => {
            // As a string: in an object literal, the key `__proto__` would mean something else.
            let text = serde_json::Value::from(source).to_string().replace('\u{2028}', "\\u2028");
            module.code = format!("export default JSON.parse({});\n", text.replace('\u{2029}', "\\u2029"));
            module.exports.insert("default".to_owned());
        }
        Err(error) => {
            let place = TextPosition { line: number(error.line()), column: number(error.column()) };
            let problem = Problem::new(path, place, format!("this is not JSON: {error}"));
            module.faults.push(problem.advise("JSON has no comments, and its keys are in double quotes."));
        }
    }
    module
}

fn script(path: &Path, source: &str) -> SourceModule {
    if !may_be_common_js(path) {
        return es_module(path, source);
    }
    let module = es_module(path, source);
    // Many packages do not say which of their files are ES modules; a file with neither imports nor exports is none.
    match module.kind == FileKind::CommonJs || module.is_broken() {
        true => Some(common_js(path, source))
            .filter(|it| !it.is_broken() || !module.is_broken())
            .unwrap_or(module),
        false => module,
    }
}

fn may_be_common_js(path: &Path) -> bool {
    in_package(path) && matches!(path.extension().and_then(|it| it.to_str()), Some("js" | "cjs"))
}

fn es_module(path: &Path, source: &str) -> SourceModule {
    let allocator = Allocator::default();
    let lines = LineIndex::new(source);
    let mut module = SourceModule::empty(path);
    let (mut program, scoping) = match parse(&allocator, source_type(path), source) {
        Ok(parsed) => parsed,
        Err(diagnostics) => {
            module.faults = faults(path, &lines, &diagnostics);
            return module;
        }
    };
    let found = scan(&program, &scoping, path, &lines);
    let types = statics::types(&program);
    let transformed = Transformer::new(&allocator, path, &TransformOptions::default())
        .build_with_scoping(scoping, &mut program);
    module.faults = faults(path, &lines, &transformed.diagnostics);
    let statics = statics::ModuleStatics::of(&mut program, &lines);
    if may_be_common_js(path) && !statics.is_es {
        return SourceModule { kind: FileKind::CommonJs, ..SourceModule::empty(path) };
    }
    if !in_package(path) {
        module.faults.extend(found.faults);
    }
    // What an ES module calls `require` is its own.
    let asked = found.requests.into_iter().filter(|request| request.by != RequestedBy::Require);
    module.requests = statics.requests.into_iter().chain(asked).collect();
    module.exports = statics.exports.keys().cloned().collect();
    module.export_places = statics.exports;
    module.types = types;
    (module.step_names, module.step_places) = found.steps.into_iter().unzip();
    if !module.is_broken() {
        (module.code, module.map) = print(&program);
    }
    module
}

/// A CommonJS module as the function that Node.js would make of it. What it declares at its top is then its own, and it is
/// strict only if it says so.
fn common_js(path: &Path, source: &str) -> SourceModule {
    let allocator = Allocator::default();
    let lines = LineIndex::new(source);
    let mut module = SourceModule { kind: FileKind::CommonJs, ..SourceModule::empty(path) };
    match parse(&allocator, SourceType::cjs(), source) {
        Ok((program, scoping)) => {
            module.requests = scan(&program, &scoping, path, &lines).requests;
            let (code, map) = print(&program);
            module.code =
                format!("(function (exports, require, module, __filename, __dirname) {{{code}\n}})");
            module.map = map;
        }
        Err(diagnostics) => module.faults = faults(path, &lines, &diagnostics),
    }
    module
}

/// The syntax tree and what its names mean.
pub(crate) fn parse<'a>(
    allocator: &'a Allocator,
    kind: SourceType,
    source: &'a str,
) -> Result<(Program<'a>, Scoping), Diagnostics> {
    let options =
        ParseOptions { parse_regular_expression: true, preserve_parens: false, ..ParseOptions::default() };
    let parsed: ParserReturn<'a> = Parser::new(allocator, source, kind).with_options(options).parse();
    if parsed.panicked || parsed.diagnostics.has_errors() {
        return Err(parsed.diagnostics);
    }
    let checked = SemanticBuilder::new_compiler().with_enum_eval(true).build(&parsed.program);
    if checked.diagnostics.has_errors() {
        return Err(checked.diagnostics);
    }
    let scoping = checked.semantic.into_scoping();
    Ok((parsed.program, scoping))
}

pub(crate) fn source_type(path: &Path) -> SourceType {
    match path.extension().and_then(|it| it.to_str()) {
        Some("js" | "mjs" | "cjs") => SourceType::mjs(),
        _ => SourceType::ts(),
    }
}

/// JavaScript, and where its pieces come from.
pub(crate) fn print(program: &Program<'_>) -> (String, SourceMap) {
    let options = CodegenOptions {
        comments: CommentOptions::disabled(),
        // Asks for the table; the path is nowhere seen.
        source_map_path: Some("module".into()),
        ..CodegenOptions::default()
    };
    let printed = Codegen::new().with_options(options).build(program);
    let map = printed.map.map(|map| {
        SourceMap::new(
            map.get_tokens()
                .map(|it| [it.get_dst_line(), it.get_dst_col(), it.get_src_line(), it.get_src_col()]),
        )
    });
    (printed.code, map.unwrap_or_default())
}

/// What the parser found, as problems of a file.
pub(crate) fn faults(path: &Path, lines: &LineIndex<'_>, diagnostics: &Diagnostics) -> Vec<Problem> {
    diagnostics.errors().take(MOST_FAULTS).map(|diagnostic| fault(path, lines, diagnostic)).collect()
}

fn fault(path: &Path, lines: &LineIndex<'_>, diagnostic: &OxcDiagnostic) -> Problem {
    // Of two declarations, the second is the mistake.
    let twice = diagnostic.message.ends_with("has already been declared");
    let label = if twice { diagnostic.labels.last() } else { diagnostic.labels.first() };
    let place = label.map_or(TextPosition::START, |label| lines.place(label.span().start));
    let problem = Problem::new(path, place, diagnostic.message.to_string());
    match (&diagnostic.help, lines.text(place.line).trim()) {
        (Some(help), _) => problem.advise(help.to_string()),
        (None, "") => problem.advise("Something above is opened and not closed.".to_owned()),
        (None, line) => problem.advise(format!("The line is: {line}")),
    }
}
