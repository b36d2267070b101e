//! What the body of a file shows, before its types are gone: modules that are mentioned in calls, the names in `steps`,
//! and what no script host can run.

use std::collections::BTreeMap;
use std::path::Path;

use oxc::ast::ast::{
    AccessorProperty, ArrayExpressionElement, AssignmentExpression, AssignmentTarget, CallExpression,
    Declaration, Decorator, Expression, IdentifierReference, ImportDeclarationSpecifier, ImportExpression,
    Program, Statement, TSExportAssignment, TSImportEqualsDeclaration, TSModuleReference,
    VariableDeclaration,
};
use oxc::ast_visit::{Visit, walk};
use oxc::semantic::{Scoping, SymbolId};
use oxc::span::{GetSpan, Span};

use crate::module::{ModuleRequest, RequestedBy};
use crate::place::{LineIndex, TextPosition};
use crate::problem::Problem;

/// What was found.
#[derive(Default)]
pub(crate) struct ScanResult {
    pub(crate) requests: Vec<ModuleRequest>,
    /// The elements of the exported `steps`: identifiers, and where they are.
    pub(crate) steps: Vec<(Option<String>, TextPosition)>,
    pub(crate) faults: Vec<Problem>,
}

/// Looks through a program.
pub(crate) fn scan(
    program: &Program<'_>,
    scoping: &Scoping,
    path: &Path,
    lines: &LineIndex<'_>,
) -> ScanResult {
    let mut scan = Scan { found: ScanResult::default(), scoping, path, lines, rival: rival_names(program) };
    scan.visit_program(program);
    scan.found.steps = steps(program, lines);
    scan.found
}

struct Scan<'s> {
    found: ScanResult,
    scoping: &'s Scoping,
    path: &'s Path,
    lines: &'s LineIndex<'s>,
    /// What names imported from `rival` mean; `*` is the whole module.
    rival: BTreeMap<SymbolId, String>,
}

impl Scan<'_> {
    fn fault(&mut self, span: Span, message: &str, advice: &str) {
        self.found.faults.push(Problem::new(self.path, self.lines.place(span.start), message).advise(advice));
    }

    fn request(&mut self, specifier: &str, by: RequestedBy, span: Span) {
        let place = self.lines.place(span.start);
        self.found.requests.push(ModuleRequest {
            specifier: specifier.to_owned(),
            by,
            place,
            names: Vec::new(),
            star: false,
        });
    }

    /// The name that an identifier has in `rival`.
    fn name_in_rival(&self, identifier: &IdentifierReference<'_>) -> Option<&str> {
        let reference = identifier.reference_id.get()?;
        let symbol = self.scoping.get_reference(reference).symbol_id()?;
        self.rival.get(&symbol).map(String::as_str)
    }

    /// Nothing in the file declares it.
    fn is_free(&self, expression: &Expression<'_>, name: &str) -> bool {
        let Expression::Identifier(identifier) = expression else { return false };
        let known = identifier.reference_id.get().and_then(|it| self.scoping.get_reference(it).symbol_id());
        identifier.name == name && known.is_none()
    }

    /// The function of `rival` that is called: its name, and whether it can only be that one.
    fn called<'b>(&'b self, call: &'b CallExpression<'_>) -> Option<(&'b str, bool)> {
        match &call.callee {
            Expression::Identifier(identifier) => Some((self.name_in_rival(identifier)?, true)),
            Expression::StaticMemberExpression(member) => {
                let whole = matches!(&member.object, Expression::Identifier(it) if self.name_in_rival(it) == Some("*"));
                // `createWorkflow('x').workflow('./y.ts')`: the object can be any expression.
                (whole || !self.rival.is_empty()).then_some((member.property.name.as_str(), whole))
            }
            _ => None,
        }
    }

    fn rival_call(&mut self, call: &CallExpression<'_>) {
        let Some((name, sure)) = self.called(call) else { return };
        let by = match name {
            "workflow" => RequestedBy::Workflow,
            "registerWorkflowFile" => RequestedBy::Registration,
            _ => return,
        };
        let name = name.to_owned();
        match call.arguments.first().and_then(|it| literal(it.as_expression())) {
            Some((path, span)) if path.starts_with('.') || path.starts_with('/') => {
                self.request(&path, by, span);
            }
            Some((path, span)) if sure => {
                let message = format!("`{name}('{path}')` does not name a file");
                self.fault(span, &message, &format!("Write the path from this file: `{name}('./{path}')`."));
            }
            None if sure => {
                let span = call.arguments.first().map_or(call.span, GetSpan::span);
                let message = format!("`{name}()` takes the path of a file, written out");
                let advice = "Files are found before anything runs. Write `workflow('./file.ts')`; to use a workflow \
                              that is a value, put the value itself into `steps`.";
                self.fault(span, &message, &advice.replace("workflow(", &format!("{name}(")));
            }
            _ => {}
        }
    }
}

impl<'a> Visit<'a> for Scan<'_> {
    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        self.rival_call(call);
        if self.is_free(&call.callee, "require") {
            let asked = call.arguments.first().and_then(|it| literal(it.as_expression()));
            if let Some((specifier, span)) = &asked {
                self.request(specifier, RequestedBy::Require, *span);
            }
            let name = asked.map_or_else(|| "…".to_owned(), |(name, _)| name);
            self.fault(call.span, "there is no `require` here", &format!("Write `import x from '{name}'`."));
        }
        walk::walk_call_expression(self, call);
    }

    fn visit_assignment_expression(&mut self, assignment: &AssignmentExpression<'a>) {
        if let AssignmentTarget::StaticMemberExpression(member) = &assignment.left
            && (self.is_free(&member.object, "module") && member.property.name == "exports"
                || self.is_free(&member.object, "exports"))
        {
            self.fault(assignment.span, "this file is a CommonJS module", "Write `export` instead.");
        }
        walk::walk_assignment_expression(self, assignment);
    }

    fn visit_import_expression(&mut self, import: &ImportExpression<'a>) {
        match literal(Some(&import.source)) {
            Some((path, span)) => self.request(&path, RequestedBy::Call, span),
            None => self.fault(
                import.span,
                "`import()` takes the name of a module, written out",
                "Files are found before anything runs. Import each of them: `await import('./file.ts')`.",
            ),
        }
        walk::walk_import_expression(self, import);
    }

    fn visit_decorator(&mut self, decorator: &Decorator<'a>) {
        self.fault(
            decorator.span,
            "decorators are not supported",
            "Call the decorator as a function instead.",
        );
    }

    fn visit_ts_import_equals_declaration(&mut self, import: &TSImportEqualsDeclaration<'a>) {
        if matches!(import.module_reference, TSModuleReference::ExternalModuleReference(_)) {
            self.fault(import.span, "there is no `require` here", "Write `import x from '…'`.");
        }
    }

    fn visit_ts_export_assignment(&mut self, export: &TSExportAssignment<'a>) {
        self.fault(export.span, "`export =` is for CommonJS modules", "Write `export default` instead.");
    }

    fn visit_accessor_property(&mut self, accessor: &AccessorProperty<'a>) {
        self.fault(accessor.span, "`accessor` is not supported", "Write `get` and `set`, or a plain field.");
    }

    fn visit_variable_declaration(&mut self, variables: &VariableDeclaration<'a>) {
        if variables.kind.is_using() {
            self.fault(variables.span, "`using` is not supported", "Write `try { … } finally { … }`.");
        }
        walk::walk_variable_declaration(self, variables);
    }
}

/// A string that is written out.
fn literal(expression: Option<&Expression<'_>>) -> Option<(String, Span)> {
    match expression?.get_inner_expression() {
        Expression::StringLiteral(it) => Some((it.value.to_string(), it.span)),
        Expression::TemplateLiteral(it) => Some((it.single_quasi()?.to_string(), it.span)),
        _ => None,
    }
}

fn rival_names(program: &Program<'_>) -> BTreeMap<SymbolId, String> {
    let imports = program.body.iter().filter_map(|statement| match statement {
        Statement::ImportDeclaration(import) if import.source.value == "rival" => Some(import),
        _ => None,
    });
    let specifiers = imports.flat_map(|import| import.specifiers.iter().flatten());
    let named = specifiers.filter_map(|specifier| {
        let name = match specifier {
            ImportDeclarationSpecifier::ImportSpecifier(it) => it.imported.name().to_string(),
            ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => "default".to_owned(),
            ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => "*".to_owned(),
        };
        Some((specifier.local().symbol_id.get()?, name))
    });
    named.collect()
}

/// The list that is exported as `steps`.
fn steps(program: &Program<'_>, lines: &LineIndex<'_>) -> Vec<(Option<String>, TextPosition)> {
    let local = program.body.iter().find_map(|statement| match statement {
        Statement::ExportNamedDeclaration(export) => {
            export.specifiers.iter().find(|it| it.exported.name() == "steps").map(|it| it.local.name())
        }
        _ => None,
    });
    let name = local.map_or("steps", |name| name.as_str());
    let variables = program.body.iter().filter_map(|statement| match statement {
        Statement::VariableDeclaration(variables) if local.is_some() => Some(variables),
        Statement::ExportDeclaration(export) => match &export.declaration {
            Declaration::VariableDeclaration(variables) => Some(variables),
            _ => None,
        },
        _ => None,
    });
    let mut declared = variables.flat_map(|it| &it.declarations);
    let init = declared.find(|it| it.id.get_binding_identifier().is_some_and(|id| id.name == name));
    match init.and_then(|it| it.init.as_ref()).map(Expression::get_inner_expression) {
        Some(Expression::ArrayExpression(list)) => {
            // What comes after `...more` has no known place.
            let known = list.elements.iter().take_while(|it| !it.is_spread());
            known.map(|it| (element_name(it), lines.place(it.span().start))).collect()
        }
        _ => Vec::new(),
    }
}

fn element_name(element: &ArrayExpressionElement<'_>) -> Option<String> {
    match element.as_expression()?.get_inner_expression() {
        Expression::Identifier(identifier) => Some(identifier.name.to_string()),
        _ => None,
    }
}
