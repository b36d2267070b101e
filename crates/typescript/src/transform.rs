//! Transforms: a pure function in TypeScript, with its types as schemas.

use std::path::Path;

use oxc::allocator::Allocator;
use oxc::ast::ast::{
    ArrowFunctionExpression, AwaitExpression, Declaration, ExportDefaultDeclarationKind, Expression,
    ForOfStatement, Function, IdentifierReference, ImportExpression, ImportMeta, Program, Statement,
    StaticMemberExpression,
};
use oxc::ast_visit::{Visit, walk};
use oxc::semantic::{ScopeFlags, Scoping};
use oxc::span::{GetSpan, Span};
use oxc::transformer::{TransformOptions, Transformer};
use serde_json::Value;

use crate::compile::{faults, parse, print, source_type};
use crate::place::LineIndex;
use crate::problem::Problem;
use crate::roomy::{LONGEST_SAFE, roomy};
use crate::schema::{DeclaredTypes, NAME, SchemaEmitter, nowhere, too_much};
use crate::stack::{SourceMap, from_bytes};

/// A transform, ready to run.
#[derive(Clone, Debug)]
pub struct Transform {
    /// An ES module without imports whose default export is the function.
    pub code: String,
    /// What the function takes: the JSON Schema of `Input`.
    pub input_schema: Value,
    /// What it returns: the JSON Schema of `Output`.
    pub output_schema: Value,
    map: SourceMap,
}

impl Transform {
    /// The line and column in TypeScript of a place in the code, where columns count bytes. All from 1.
    pub fn origin(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        let place = self.map.origin(from_bytes(&self.code, line, column))?;
        Some((place.line, place.column))
    }
}

/// Reads a transform: declarations of `Input` and `Output`, and one function, the default export. What is not pure and
/// synchronous is refused, as far as the text shows it; the sandbox sees to the rest.
pub fn transform(source: &str) -> Result<Transform, Vec<Problem>> {
    if source.len() > LONGEST_SAFE {
        let message = format!("a transform has at most {LONGEST_SAFE} bytes");
        return Err(vec![nowhere(Path::new(NAME), message, "Make it shorter.".to_owned())]);
    }
    roomy(source, || read(source)).unwrap_or_else(|| Err(vec![too_much()]))
}

fn read(source: &str) -> Result<Transform, Vec<Problem>> {
    let allocator = Allocator::default();
    let (path, lines) = (Path::new(NAME), LineIndex::new(source));
    let (mut program, scoping) =
        parse(&allocator, source_type(path), source).map_err(|found| faults(path, &lines, &found))?;
    let mut purity = Purity { scoping: &scoping, path, lines: &lines, problems: Vec::new() };
    purity.program(&program);
    let mut problems = purity.problems;
    let declared = DeclaredTypes::of(&program, &scoping, source);
    let mut schema = |name| match SchemaEmitter::new(&declared, &lines, path).root(name) {
        Ok(schema) => schema,
        Err(found) => {
            problems.extend(found);
            Value::Null
        }
    };
    let (input_schema, output_schema) = (schema("Input"), schema("Output"));
    drop(declared);
    let stripped = Transformer::new(&allocator, path, &TransformOptions::default())
        .build_with_scoping(scoping, &mut program);
    problems.extend(faults(path, &lines, &stripped.diagnostics));
    if !problems.is_empty() {
        problems.sort();
        problems.dedup();
        return Err(problems);
    }
    let (code, map) = print(&program);
    Ok(Transform { code, input_schema, output_schema, map })
}

/// Looks for what a pure, synchronous function cannot have.
struct Purity<'s> {
    scoping: &'s Scoping,
    path: &'s Path,
    lines: &'s LineIndex<'s>,
    problems: Vec<Problem>,
}

impl Purity<'_> {
    fn refuse(&mut self, span: Span, message: impl Into<String>, advice: &str) {
        self.problems.push(Problem::new(self.path, self.lines.place(span.start), message).advise(advice));
    }

    fn program(&mut self, program: &Program<'_>) {
        let mut exported = false;
        for statement in &program.body {
            match statement {
                Statement::ImportDeclaration(import) => self.refuse_import(import.span),
                Statement::ExportDefaultDeclaration(export) => {
                    exported = true;
                    self.default_export(&export.declaration, program);
                }
                Statement::ExportDeclaration(export) if export.declaration.is_type() => {}
                Statement::ExportNamedDeclaration(export) if export.export_kind.is_type() => {}
                Statement::ExportDeclaration(_)
                | Statement::ExportNamedDeclaration(_)
                | Statement::ExportFromDeclaration(_)
                | Statement::ExportAllDeclaration(_)
                | Statement::TSExportAssignment(_) => {
                    let advice = "Leave `export` out; others cannot see it.";
                    self.refuse(statement.span(), "a transform exports its function only", advice);
                }
                _ => {}
            }
        }
        if !exported {
            let message = "a transform exports one function as its default".to_owned();
            let advice = "Write `export default (input: Input): Output => …`.".to_owned();
            self.problems.push(nowhere(self.path, message, advice));
        }
        self.visit_program(program);
    }

    fn refuse_import(&mut self, span: Span) {
        self.refuse(span, "a transform cannot import anything", "Put the code that it needs into it.");
    }

    fn default_export(&mut self, export: &ExportDefaultDeclarationKind<'_>, program: &Program<'_>) {
        let function = match export {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => !function.generator,
            other => match other.as_expression().map(Expression::get_inner_expression) {
                Some(Expression::Identifier(name)) => is_function(program, &name.name),
                Some(expression) => is_plain_function(expression),
                None => false,
            },
        };
        if !function {
            let advice = "Write `export default (input: Input): Output => …`.";
            self.refuse(export.span(), "the default export is not a plain function", advice);
        }
    }

    fn refuse_async(&mut self, span: Span) {
        self.refuse(span, "a transform is synchronous", "Leave `async` and `await` out; do I/O in a step.");
    }
}

fn is_plain_function(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::ArrowFunctionExpression(_) => true,
        Expression::FunctionExpression(function) => !function.generator,
        _ => false,
    }
}

/// Whether a name is that of a function.
fn is_function(program: &Program<'_>, name: &str) -> bool {
    program.body.iter().any(|statement| match statement.as_declaration() {
        Some(Declaration::FunctionDeclaration(function)) => {
            function.id.as_ref().is_some_and(|id| id.name == name) && !function.generator
        }
        Some(Declaration::VariableDeclaration(variables)) => variables.declarations.iter().any(|it| {
            let init = it.init.as_ref().map(Expression::get_inner_expression);
            it.id.get_binding_identifier().is_some_and(|id| id.name == name)
                && init.is_some_and(is_plain_function)
        }),
        _ => false,
    })
}

impl<'a> Visit<'a> for Purity<'_> {
    fn visit_function(&mut self, function: &Function<'a>, flags: ScopeFlags) {
        if function.r#async {
            self.refuse_async(function.span);
        }
        walk::walk_function(self, function, flags);
    }

    fn visit_arrow_function_expression(&mut self, function: &ArrowFunctionExpression<'a>) {
        if function.r#async {
            self.refuse_async(function.span);
        }
        walk::walk_arrow_function_expression(self, function);
    }

    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        self.refuse_async(it.span);
        walk::walk_await_expression(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        if it.r#await {
            self.refuse_async(it.span);
        }
        walk::walk_for_of_statement(self, it);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.refuse_import(it.span);
    }

    fn visit_import_meta(&mut self, it: &ImportMeta) {
        self.refuse(it.span, "a transform has no `import.meta`", "It is not a file.");
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        if it.object.is_specific_id("Math") && it.property.name == "random" {
            self.refuse(it.span, "a transform has no randomness", "Take the value as input.");
        }
        walk::walk_static_member_expression(self, it);
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        let reference = it.reference_id.get().map(|id| self.scoping.get_reference(id));
        // Types may be called what they like, and so may what the text declares itself.
        if !reference.is_some_and(|it| it.symbol_id().is_none() && it.is_value()) {
            return;
        }
        let (message, advice) = match it.name.as_str() {
            "eval" | "Function" => ("a transform cannot make code from text", "Write the code out."),
            "Date" | "performance" => ("a transform has no clock", "Take the time as input."),
            "crypto" => ("a transform has no randomness", "Take the value as input."),
            "fetch" | "XMLHttpRequest" | "WebSocket" | "process" | "require" | "console" => {
                ("a transform does no I/O", "Do it in a step, and take what comes of it as input.")
            }
            "setTimeout" | "setInterval" | "setImmediate" | "queueMicrotask" => {
                ("a transform is synchronous", "Do it at once, or wait in a step.")
            }
            _ => return,
        };
        self.refuse(it.span, format!("{message}: there is no `{}`", it.name), advice);
    }
}
