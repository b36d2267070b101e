//! The types that a text declares.

use std::collections::BTreeMap;

use oxc::ast::ast::{
    Declaration, Program, Statement, TSEnumDeclaration, TSEnumMemberName, TSInterfaceDeclaration,
    TSTypeAliasDeclaration,
};
use oxc::semantic::Scoping;
use oxc::span::{GetSpan, Span};
use oxc::syntax::constant_value::ConstantValue;
use serde_json::Value;

use super::docs::DocComments;

/// All declarations of a text, by name.
pub(crate) struct DeclaredTypes<'a> {
    pub(super) types: BTreeMap<&'a str, NamedType<'a>>,
    pub(super) docs: DocComments,
    pub(super) source: &'a str,
    /// By enum and member.
    pub(super) enums: BTreeMap<(&'a str, &'a str), Value>,
}

/// A name's declaration, with its description.
pub(super) struct NamedType<'a> {
    pub(super) what: DeclaredAs<'a>,
    pub(super) doc: Option<String>,
    pub(super) span: Span,
}

/// What a name is declared as.
pub(super) enum DeclaredAs<'a> {
    /// Interfaces of one name are one.
    Interface(Vec<&'a TSInterfaceDeclaration<'a>>),
    Alias(&'a TSTypeAliasDeclaration<'a>),
    /// The names of its members.
    Enum(Vec<&'a str>),
    Class,
    Imported,
}

impl<'a> DeclaredTypes<'a> {
    pub(crate) fn of(program: &'a Program<'a>, scoping: &Scoping, source: &'a str) -> Self {
        let docs = DocComments::of(program, source);
        let mut declared = DeclaredTypes { types: BTreeMap::new(), docs, source, enums: BTreeMap::new() };
        for statement in &program.body {
            match statement {
                Statement::ImportDeclaration(import) => {
                    for specifier in import.specifiers.iter().flatten() {
                        declared.add(specifier.local().name.as_str(), DeclaredAs::Imported, import.span);
                    }
                }
                Statement::ExportDeclaration(export) => {
                    declared.declaration(&export.declaration, export.span, scoping);
                }
                other => {
                    if let Some(declaration) = other.as_declaration() {
                        declared.declaration(declaration, declaration.span(), scoping);
                    }
                }
            }
        }
        declared
    }

    fn declaration(&mut self, declaration: &'a Declaration<'a>, span: Span, scoping: &Scoping) {
        match declaration {
            Declaration::TSInterfaceDeclaration(interface) => {
                let name = interface.id.name.as_str();
                match self.types.get_mut(name) {
                    Some(NamedType { what: DeclaredAs::Interface(all), .. }) => all.push(interface),
                    _ => self.add(name, DeclaredAs::Interface(vec![interface]), span),
                }
            }
            Declaration::TSTypeAliasDeclaration(alias) => {
                self.add(alias.id.name.as_str(), DeclaredAs::Alias(alias), span);
            }
            Declaration::TSEnumDeclaration(it) => self.enumeration(it, span, scoping),
            Declaration::ClassDeclaration(class) => {
                if let Some(id) = &class.id {
                    self.add(id.name.as_str(), DeclaredAs::Class, span);
                }
            }
            _ => {}
        }
    }

    fn enumeration(&mut self, declaration: &'a TSEnumDeclaration<'a>, span: Span, scoping: &Scoping) {
        let name = declaration.id.name.as_str();
        let scope = declaration.body.scope_id.get();
        let mut members = Vec::new();
        for member in &declaration.body.members {
            let member = match &member.id {
                TSEnumMemberName::Identifier(it) => it.name.as_str(),
                TSEnumMemberName::String(it) | TSEnumMemberName::ComputedString(it) => it.value.as_str(),
                TSEnumMemberName::ComputedTemplateString(_) => continue,
            };
            let symbol = scope.and_then(|scope| scoping.get_bindings(scope).get(member).copied());
            let value = symbol.and_then(|symbol| scoping.get_enum_member_value(symbol)).and_then(constant);
            self.enums.extend(value.map(|value| ((name, member), value)));
            members.push(member);
        }
        match self.types.get_mut(name) {
            Some(NamedType { what: DeclaredAs::Enum(known), .. }) => known.extend(members),
            _ => self.add(name, DeclaredAs::Enum(members), span),
        }
    }

    fn add(&mut self, name: &'a str, what: DeclaredAs<'a>, span: Span) {
        let doc = self.docs.at(span.start).map(str::to_owned);
        self.types.entry(name).or_insert(NamedType { what, doc, span });
    }
}

fn constant(value: &ConstantValue) -> Option<Value> {
    match value {
        ConstantValue::Number(number) => Some(number_value(*number)),
        ConstantValue::String(text) => Some(Value::from(text.as_str())),
    }
}

/// A number as JSON has it: `1`, not `1.0`.
pub(super) fn number_value(number: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number within 2^53")]
        return Value::from(number as i64);
    }
    Value::from(number)
}
