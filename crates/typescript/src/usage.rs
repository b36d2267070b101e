//! What a step function uses of the context that it is given, so that no more than that is read and sent for a call.
//!
//! The function's text is all there is. Whatever cannot be followed counts as used: the worst that a wrong guess may do
//! is to send too much.

use std::collections::BTreeSet;

use oxc::allocator::Allocator;
use oxc::ast::AstKind;
use oxc::ast::ast::{
    BindingPattern, Expression, FormalParameters, ObjectPattern, ObjectPropertyKind, Program, Statement,
};
use oxc::parser::{ParseOptions, Parser};
use oxc::semantic::{NodeId, Semantic, SemanticBuilder, SymbolId};
use oxc::span::{GetSpan, SourceType};

use crate::roomy::roomy;

/// What a function uses of its context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextUsage {
    /// Earlier results.
    pub steps: StepsUse,
    /// `lastStep`.
    pub last_step: bool,
    /// `loop`.
    pub iteration: bool,
    /// `loop.items`.
    pub items: bool,
    /// `durable`.
    pub durable: bool,
    /// `run.abortSignal`.
    pub abort: bool,
    /// Steps without which it cannot work; empty if the earlier results that it reads cannot be told.
    pub wanted: Vec<WantedStep>,
}

/// An earlier step that a function takes for granted: it reads `steps.find.result`, and neither `steps.find?.result` nor
/// anything else that would do without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedStep {
    /// Its name.
    pub name: String,
    /// Where the function names it first, in bytes.
    pub at: u32,
}

/// Which earlier results a function reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepsUse {
    /// None.
    None,
    /// Those of these steps, in alphabetical order.
    Named(Vec<String>),
    /// It cannot be told.
    Any,
}

impl ContextUsage {
    /// It uses everything, as far as can be told.
    fn everything() -> Self {
        ContextUsage {
            steps: StepsUse::Any,
            last_step: true,
            iteration: true,
            items: true,
            durable: true,
            abort: true,
            wanted: Vec::new(),
        }
    }

    fn nothing() -> Self {
        ContextUsage {
            steps: StepsUse::None,
            last_step: false,
            iteration: false,
            items: false,
            durable: false,
            abort: false,
            wanted: Vec::new(),
        }
    }
}

/// What a function, as `Function.prototype.toString` shows it, uses of its first parameter.
pub fn usage(function_source: &str) -> ContextUsage {
    // A function expression, or else a method.
    let texts = [(1, format!("({function_source}\n)")), (2, format!("({{{function_source}\n}})"))];
    let read = || texts.iter().find_map(|(before, text)| read(text, *before));
    roomy(function_source, read).flatten().unwrap_or_else(ContextUsage::everything)
}

/// The names that a function uses and neither makes itself nor finds in every script: what they mean depends on where
/// the function was made. A text that cannot be read is one such name itself.
pub fn outer_names(function_source: &str) -> BTreeSet<String> {
    let texts = [format!("({function_source}\n)"), format!("({{{function_source}\n}})")];
    let read = || texts.iter().find_map(|text| free_names(text));
    let unreadable = || BTreeSet::from([function_source.to_owned()]);
    roomy(function_source, read).flatten().unwrap_or_else(unreadable)
}

/// What every script has, and no author would make anew.
const EVERYWHERE: &[&str] = &[
    "AbortController",
    "AbortSignal",
    "Array",
    "BigInt",
    "Boolean",
    "Date",
    "Error",
    "Headers",
    "Infinity",
    "JSON",
    "Map",
    "Math",
    "NaN",
    "Number",
    "Object",
    "Promise",
    "RangeError",
    "RegExp",
    "Request",
    "Response",
    "Set",
    "String",
    "Symbol",
    "TypeError",
    "URL",
    "URLSearchParams",
    "clearTimeout",
    "console",
    "crypto",
    "decodeURIComponent",
    "encodeURIComponent",
    "fetch",
    "globalThis",
    "isFinite",
    "isNaN",
    "parseFloat",
    "parseInt",
    "performance",
    "process",
    "setTimeout",
    "structuredClone",
    "undefined",
];

fn free_names(text: &str) -> Option<BTreeSet<String>> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::mjs()).parse();
    if parsed.panicked || parsed.diagnostics.has_errors() {
        return None;
    }
    let semantic = SemanticBuilder::new().build(&parsed.program).semantic;
    let free = semantic.scoping().root_unresolved_references();
    let names = free.keys().map(ToString::to_string).filter(|name| !EVERYWHERE.contains(&name.as_str()));
    Some(names.collect())
}

/// `before` is how many bytes of the text are not the function's.
fn read(text: &str, before: u32) -> Option<ContextUsage> {
    let allocator = Allocator::default();
    let options = ParseOptions { preserve_parens: false, ..ParseOptions::default() };
    let parsed = Parser::new(&allocator, text, SourceType::mjs()).with_options(options).parse();
    if parsed.panicked || parsed.diagnostics.has_errors() {
        return None;
    }
    let semantic = SemanticBuilder::new().with_build_nodes(true).build(&parsed.program).semantic;
    let parameters = parameters(&parsed.program)?;
    let mut uses = Uses {
        semantic: &semantic,
        usage: ContextUsage::nothing(),
        steps: Vec::new(),
        seen: BTreeSet::new(),
    };
    uses.function(parameters);
    let Uses { mut usage, steps, .. } = uses;
    if usage.steps == StepsUse::None && !steps.is_empty() {
        let wanted = steps.iter().filter(|step| step.is_read && !step.is_optional);
        usage.wanted = wanted
            .map(|step| WantedStep { name: step.name.clone(), at: step.at.saturating_sub(before) })
            .collect();
        let names: BTreeSet<String> = steps.into_iter().map(|step| step.name).collect();
        usage.steps = StepsUse::Named(names.into_iter().collect());
    }
    Some(usage)
}

/// The parameters of the only function in the program.
fn parameters<'p>(program: &'p Program<'_>) -> Option<&'p FormalParameters<'p>> {
    let [Statement::ExpressionStatement(statement)] = program.body.as_slice() else { return None };
    let function = match &statement.expression {
        Expression::ObjectExpression(object) => match object.properties.as_slice() {
            [ObjectPropertyKind::ObjectProperty(property)] => &property.value,
            _ => return None,
        },
        other => other,
    };
    match function {
        Expression::FunctionExpression(function) => Some(&function.params),
        Expression::ArrowFunctionExpression(function) => Some(&function.params),
        _ => None,
    }
}

/// What a value in the function is.
#[derive(Clone, Copy)]
enum ValueKind {
    Context,
    Steps,
    /// An earlier step, by its place among those that were named.
    Step(usize),
    Loop,
    Run,
}

/// An earlier step that the function names.
struct NamedStep {
    name: String,
    at: u32,
    /// Something is taken out of it, which fails if it is not there.
    is_read: bool,
    /// The function may do without it.
    is_optional: bool,
}

/// Follows the context through a function.
struct Uses<'s, 'a> {
    semantic: &'s Semantic<'a>,
    usage: ContextUsage,
    steps: Vec<NamedStep>,
    seen: BTreeSet<SymbolId>,
}

impl Uses<'_, '_> {
    fn function(&mut self, parameters: &FormalParameters<'_>) {
        let free = self.semantic.scoping().root_unresolved_references();
        let hidden = ["arguments", "eval"].iter().any(|name| free.contains_key(*name));
        match parameters.items.first() {
            _ if hidden => self.escape(ValueKind::Context),
            Some(parameter) => self.pattern(ValueKind::Context, &parameter.pattern),
            None if parameters.rest.is_some() => self.escape(ValueKind::Context),
            None => {}
        }
    }

    /// A value goes where it cannot be followed.
    fn escape(&mut self, kind: ValueKind) {
        match kind {
            ValueKind::Context => self.usage = ContextUsage::everything(),
            ValueKind::Steps => self.usage.steps = StepsUse::Any,
            ValueKind::Step(step) => self.steps[step].is_optional = true,
            ValueKind::Loop => self.usage.items = true,
            ValueKind::Run => self.usage.abort = true,
        }
    }

    /// A property is read, which is named at a place; what it is, if that is to be followed.
    fn property(&mut self, kind: ValueKind, name: &str, at: u32) -> Option<ValueKind> {
        match (kind, name) {
            (ValueKind::Context, "steps") => return Some(ValueKind::Steps),
            // What error handlers are given.
            (ValueKind::Context, "workflowState") => return Some(ValueKind::Context),
            (ValueKind::Context, "run") => return Some(ValueKind::Run),
            (ValueKind::Context, "loop") => {
                self.usage.iteration = true;
                return Some(ValueKind::Loop);
            }
            (ValueKind::Context, "lastStep") => self.usage.last_step = true,
            (ValueKind::Context, "durable") => self.usage.durable = true,
            (ValueKind::Steps, _) => return Some(ValueKind::Step(self.step(name, at))),
            (ValueKind::Step(step), _) => self.steps[step].is_read = true,
            (ValueKind::Loop, "items") => self.usage.items = true,
            (ValueKind::Run, "abortSignal") => self.usage.abort = true,
            _ => {}
        }
        None
    }

    /// The place of a step among those that were named.
    fn step(&mut self, name: &str, at: u32) -> usize {
        if let Some(known) = self.steps.iter().position(|step| step.name == name) {
            return known;
        }
        self.steps.push(NamedStep { name: name.to_owned(), at, is_read: false, is_optional: false });
        self.steps.len() - 1
    }

    /// A value is bound to names.
    fn pattern(&mut self, kind: ValueKind, pattern: &BindingPattern<'_>) {
        match pattern {
            BindingPattern::BindingIdentifier(identifier) => match identifier.symbol_id.get() {
                Some(symbol) => self.symbol(kind, symbol),
                None => self.escape(kind),
            },
            BindingPattern::ObjectPattern(object) => self.object_pattern(kind, object),
            BindingPattern::AssignmentPattern(assignment) => {
                if let ValueKind::Step(step) = kind {
                    self.steps[step].is_optional = true;
                }
                self.pattern(kind, &assignment.left);
            }
            BindingPattern::ArrayPattern(_) => self.escape(kind),
        }
    }

    fn object_pattern(&mut self, kind: ValueKind, object: &ObjectPattern<'_>) {
        for property in &object.properties {
            match property.key.static_name() {
                Some(name) => {
                    if let Some(kind) = self.property(kind, &name, property.key.span().start) {
                        self.pattern(kind, &property.value);
                    }
                }
                None => self.escape(kind),
            }
        }
        if let Some(rest) = &object.rest {
            // The rest of a context is one, with less in it; the rest of other things is all of it.
            match kind {
                ValueKind::Context => self.pattern(kind, &rest.argument),
                _ => self.escape(kind),
            }
        }
    }

    /// A value is known by a name: look at each mention of it.
    fn symbol(&mut self, kind: ValueKind, symbol: SymbolId) {
        if !self.seen.insert(symbol) {
            return;
        }
        let mentions = self.semantic.scoping().get_resolved_references(symbol);
        let mentions: Vec<(NodeId, bool)> = mentions.map(|it| (it.node_id(), it.is_write())).collect();
        for (node, written) in mentions {
            if written {
                self.escape(kind);
            } else {
                self.value(kind, node);
            }
        }
    }

    /// What becomes of a value at a place in the function.
    fn value(&mut self, kind: ValueKind, node: NodeId) {
        let nodes = self.semantic.nodes();
        let parent = nodes.parent_id(node);
        let span = nodes.kind(node).span();
        if matches!(kind, ValueKind::Step(_)) && self.does_without(node) {
            return self.escape(kind);
        }
        let property = match nodes.kind(parent) {
            AstKind::ChainExpression(_) => return self.value(kind, parent),
            AstKind::ExpressionStatement(_) => return,
            AstKind::StaticMemberExpression(member) => {
                Some((member.property.name.to_string(), member.property.span.start))
            }
            AstKind::ComputedMemberExpression(member) if member.object.span() == span => {
                member.static_property_name().map(|name| (name.to_string(), member.expression.span().start))
            }
            AstKind::VariableDeclarator(declarator) => return self.pattern(kind, &declarator.id),
            _ => None,
        };
        match property {
            Some((name, at)) => {
                if let Some(kind) = self.property(kind, &name, at) {
                    self.value(kind, parent);
                }
            }
            None => self.escape(kind),
        }
    }

    /// Whether the function goes on if there is no value at a place: it asks for it with `?.`, or catches the error.
    fn does_without(&self, node: NodeId) -> bool {
        let nodes = self.semantic.nodes();
        let is_asked = match nodes.parent_kind(node) {
            AstKind::StaticMemberExpression(member) => member.optional,
            AstKind::ComputedMemberExpression(member) => member.optional,
            _ => false,
        };
        is_asked || nodes.ancestor_kinds(node).any(|kind| matches!(kind, AstKind::TryStatement(_)))
    }
}
