//! What a module imports and exports, once its types are gone.

use std::collections::{BTreeMap, BTreeSet};

use oxc::ast::ast::{
    BindingIdentifier, Declaration, ExportDefaultDeclarationKind, ImportDeclaration,
    ImportDeclarationSpecifier, ModuleExportName, Program, Statement, StringLiteral,
};
use oxc::span::GetSpan;

use crate::module::{ModuleRequest, RequestedBy};
use crate::place::{LineIndex, TextPosition};

/// The static part of a module.
#[derive(Default)]
pub(crate) struct ModuleStatics {
    pub(crate) requests: Vec<ModuleRequest>,
    /// With where each is named.
    pub(crate) exports: BTreeMap<String, TextPosition>,
    /// It imports or exports something.
    pub(crate) is_es: bool,
}

impl ModuleStatics {
    /// Reads a program without types; import attributes go, as modules are data when they reach a script host.
    pub(crate) fn of(program: &mut Program<'_>, lines: &LineIndex<'_>) -> Self {
        let mut statics = ModuleStatics::default();
        for statement in &mut program.body {
            statics.statement(statement, lines);
        }
        statics
    }

    fn statement(&mut self, statement: &mut Statement<'_>, lines: &LineIndex<'_>) {
        match statement {
            Statement::ImportDeclaration(import) => {
                import.with_clause = None;
                let names = imported(import, lines);
                self.request(&import.source, names, false, lines);
            }
            Statement::ExportAllDeclaration(export) => {
                export.with_clause = None;
                self.request(&export.source, Vec::new(), export.exported.is_none(), lines);
                self.exports.extend(export.exported.as_ref().map(|name| named(name, lines)));
            }
            Statement::ExportFromDeclaration(export) => {
                export.with_clause = None;
                let names = export.specifiers.iter().map(|it| named(&it.local, lines)).collect();
                self.request(&export.source, names, false, lines);
                self.exports.extend(export.specifiers.iter().map(|it| named(&it.exported, lines)));
            }
            Statement::ExportNamedDeclaration(export) => {
                self.exports.extend(export.specifiers.iter().map(|it| named(&it.exported, lines)));
            }
            Statement::ExportDeclaration(export) => self.exports.extend(declared(&export.declaration, lines)),
            Statement::ExportDefaultDeclaration(export) => {
                self.exports.insert("default".to_owned(), lines.place(export.span.start));
            }
            _ => return,
        }
        self.is_es = true;
    }

    fn request(
        &mut self,
        source: &StringLiteral<'_>,
        names: Vec<(String, TextPosition)>,
        star: bool,
        lines: &LineIndex<'_>,
    ) {
        let (specifier, place) = (source.value.to_string(), lines.place(source.span.start));
        self.requests.push(ModuleRequest { specifier, by: RequestedBy::Import, place, names, star });
    }
}

fn imported(import: &ImportDeclaration<'_>, lines: &LineIndex<'_>) -> Vec<(String, TextPosition)> {
    let specifiers = import.specifiers.iter().flatten();
    let names = specifiers.filter_map(|specifier| match specifier {
        ImportDeclarationSpecifier::ImportSpecifier(it) => Some(named(&it.imported, lines)),
        ImportDeclarationSpecifier::ImportDefaultSpecifier(it) => {
            Some(("default".to_owned(), lines.place(it.span.start)))
        }
        ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => None,
    });
    names.collect()
}

fn named(name: &ModuleExportName<'_>, lines: &LineIndex<'_>) -> (String, TextPosition) {
    (name.name().to_string(), lines.place(name.span().start))
}

/// The names that a declaration brings.
fn declared(declaration: &Declaration<'_>, lines: &LineIndex<'_>) -> Vec<(String, TextPosition)> {
    names(declaration).into_iter().map(|id| (id.name.to_string(), lines.place(id.span.start))).collect()
}

fn names<'p>(declaration: &'p Declaration<'_>) -> Vec<&'p BindingIdentifier<'p>> {
    match declaration {
        Declaration::VariableDeclaration(variables) => {
            variables.declarations.iter().flat_map(|it| it.id.get_binding_identifiers()).collect()
        }
        other => other.id().into_iter().collect(),
    }
}

/// The names that a program with types exports as types only.
pub(crate) fn types(program: &Program<'_>) -> BTreeSet<String> {
    let mut types = BTreeSet::new();
    for statement in &program.body {
        match statement {
            Statement::ExportDeclaration(export) if export.declaration.is_type() => {
                types.extend(names(&export.declaration).into_iter().map(|id| id.name.to_string()));
            }
            Statement::ExportNamedDeclaration(export) => {
                let all = export.export_kind.is_type();
                let typed = export.specifiers.iter().filter(|it| all || it.export_kind.is_type());
                types.extend(typed.map(|it| it.exported.name().to_string()));
            }
            Statement::ExportFromDeclaration(export) => {
                let all = export.export_kind.is_type();
                let typed = export.specifiers.iter().filter(|it| all || it.export_kind.is_type());
                types.extend(typed.map(|it| it.exported.name().to_string()));
            }
            Statement::ExportDefaultDeclaration(export) => {
                if matches!(export.declaration, ExportDefaultDeclarationKind::TSInterfaceDeclaration(_)) {
                    types.insert("default".to_owned());
                }
            }
            _ => {}
        }
    }
    types
}
