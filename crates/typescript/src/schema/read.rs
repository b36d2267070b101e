//! Reading one layer of a type.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use oxc::ast::ast::{
    Expression, TSLiteral, TSTupleElement, TSType, TSTypeName, TSTypeOperatorOperator,
    TSTypeParameterDeclaration, TSTypeParameterInstantiation, TSTypeReference, UnaryOperator,
};
use oxc::span::{GetSpan, Span};
use serde_json::Value;

use super::declared::{DeclaredAs, DeclaredTypes, number_value};
use super::types::{LazyType, ObjectShape, TupleType, TypeEnv, TypeForm};
use crate::nearest::nearest;
use crate::place::LineIndex;
use crate::problem::Problem;

/// Layers that may be open at once: more is a type that never ends.
const DEEPEST: usize = 300;
/// Layers that may be read for one schema.
const MOST: usize = 50_000;
/// Combinations that an intersection of unions may have.
const MOST_PAIRS: usize = 256;

/// Reads types, and collects what is wrong with them.
pub(crate) struct TypeReader<'a> {
    pub(super) declared: &'a DeclaredTypes<'a>,
    lines: &'a LineIndex<'a>,
    path: &'a Path,
    pub(super) problems: Vec<Problem>,
    depth: usize,
    read: usize,
}

impl<'a> TypeReader<'a> {
    pub(super) fn new(declared: &'a DeclaredTypes<'a>, lines: &'a LineIndex<'a>, path: &'a Path) -> Self {
        TypeReader { declared, lines, path, problems: Vec::new(), depth: 0, read: 0 }
    }

    /// Notes what is wrong; the type counts as anything, so that the rest can be looked at too.
    pub(super) fn refuse(&mut self, span: Span, message: impl Into<String>, advice: &str) -> TypeForm<'a> {
        let problem = Problem::new(self.path, self.lines.place(span.start), message).advise(advice);
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
        TypeForm::Any
    }

    /// Said once: whatever is inside of such a type is one, too.
    pub(super) fn refuse_endless(&mut self, span: Span) {
        const MESSAGE: &str = "this type is too large, or never ends";
        if !self.problems.iter().any(|problem| problem.message == MESSAGE) {
            self.refuse(span, MESSAGE, "Give its parts names, and make it smaller.");
        }
    }

    /// One more layer, if that is not too much.
    pub(super) fn deeper<T>(&mut self, span: Span, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.read += 1;
        if self.depth >= DEEPEST || self.read >= MOST {
            self.refuse_endless(span);
            return None;
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        Some(done)
    }

    /// The outermost layer of a type.
    pub(super) fn form(&mut self, ty: &LazyType<'a>) -> TypeForm<'a> {
        match ty {
            LazyType::Known(form) => form.as_ref().clone(),
            LazyType::Written(node, env) => {
                self.deeper(node.span(), |reader| reader.written(node, env)).unwrap_or(TypeForm::Any)
            }
            LazyType::All(all) => {
                let span = all.first().map(span_of).unwrap_or_default();
                self.deeper(span, |reader| reader.intersection(all)).unwrap_or(TypeForm::Any)
            }
        }
    }

    fn written(&mut self, node: &'a TSType<'a>, env: &TypeEnv<'a>) -> TypeForm<'a> {
        let ty = |node: &'a TSType<'a>| LazyType::Written(node, Rc::clone(env));
        match node {
            TSType::TSAnyKeyword(_) | TSType::TSUnknownKeyword(_) => TypeForm::Any,
            TSType::TSNeverKeyword(_) => TypeForm::Never,
            TSType::TSNullKeyword(_) => TypeForm::Null,
            TSType::TSUndefinedKeyword(_) | TSType::TSVoidKeyword(_) => TypeForm::Undefined,
            TSType::TSBooleanKeyword(_) => TypeForm::Boolean,
            TSType::TSNumberKeyword(_) => TypeForm::Number,
            TSType::TSStringKeyword(_) => TypeForm::String,
            TSType::TSObjectKeyword(_) => TypeForm::Object,
            TSType::TSArrayType(array) => TypeForm::Array(ty(&array.element_type)),
            TSType::TSTupleType(tuple) => self.tuple(&tuple.element_types, env),
            TSType::TSUnionType(union) => TypeForm::Union(union.types.iter().map(ty).collect()),
            TSType::TSIntersectionType(all) => {
                self.intersection(&all.types.iter().map(ty).collect::<Vec<_>>())
            }
            TSType::TSParenthesizedType(inner) => self.written(&inner.type_annotation, env),
            TSType::TSLiteralType(literal) => self.literal(&literal.literal),
            TSType::TSTypeLiteral(literal) => TypeForm::Shape(self.members(&literal.members, env)),
            TSType::TSMappedType(mapped) => self.mapped(mapped, env),
            TSType::TSIndexedAccessType(access) => {
                self.access(&ty(&access.object_type), &ty(&access.index_type), access.span)
            }
            TSType::TSTypeOperatorType(operator) => match operator.operator {
                TSTypeOperatorOperator::Keyof => self.keys(&ty(&operator.type_annotation), operator.span),
                TSTypeOperatorOperator::Readonly => self.written(&operator.type_annotation, env),
                TSTypeOperatorOperator::Unique => self.unsupported(node),
            },
            TSType::TSTypeReference(reference) => self.reference(reference, env),
            _ => self.unsupported(node),
        }
    }

    /// What has no meaning in JSON, or would need a type checker.
    fn unsupported(&mut self, node: &TSType<'_>) -> TypeForm<'a> {
        let (what, advice) = match node {
            TSType::TSFunctionType(_) | TSType::TSConstructorType(_) => {
                ("a function is not JSON", "Leave it out.")
            }
            TSType::TSBigIntKeyword(_) => ("a bigint is not JSON", "Write `number` or `string`."),
            TSType::TSSymbolKeyword(_) | TSType::TSTypeOperatorType(_) => {
                ("a symbol is not JSON", "Write `string`.")
            }
            TSType::TSConditionalType(_) | TSType::TSInferType(_) => {
                ("conditional types are not supported", "Write out the type that is meant.")
            }
            TSType::TSTypeQuery(_) => {
                ("`typeof` is not supported in types", "Write out the type of the value.")
            }
            TSType::TSImportType(_) => ("types of other files are not followed", "Declare the type here."),
            TSType::TSTemplateLiteralType(_) => {
                ("template types are not supported", "Write `string`, or a union of the texts.")
            }
            TSType::TSThisType(_) => ("`this` is not supported in types", "Write the name of the interface."),
            _ => ("this kind of type is not supported", "Write out an interface."),
        };
        self.refuse(node.span(), what, advice)
    }

    fn literal(&mut self, literal: &TSLiteral<'_>) -> TypeForm<'a> {
        let value = match literal {
            TSLiteral::BooleanLiteral(it) => Some(Value::from(it.value)),
            TSLiteral::NumericLiteral(it) => Some(number_value(it.value)),
            TSLiteral::StringLiteral(it) => Some(Value::from(it.value.as_str())),
            TSLiteral::TemplateLiteral(it) => it.single_quasi().map(|text| Value::from(text.as_str())),
            TSLiteral::UnaryExpression(it) => match (&it.operator, &it.argument) {
                (UnaryOperator::UnaryNegation, Expression::NumericLiteral(number)) => {
                    Some(number_value(-number.value))
                }
                _ => None,
            },
            TSLiteral::BigIntLiteral(_) => None,
        };
        match value {
            Some(value) => TypeForm::Literal(value),
            None => self.refuse(literal.span(), "this literal is not JSON", "Write a number or a string."),
        }
    }

    fn tuple(&mut self, elements: &'a [TSTupleElement<'a>], env: &TypeEnv<'a>) -> TypeForm<'a> {
        let mut tuple = TupleType::default();
        for element in elements {
            self.element(&mut tuple, element, false, env);
        }
        TypeForm::Tuple(tuple)
    }

    fn element(
        &mut self,
        tuple: &mut TupleType<'a>,
        element: &'a TSTupleElement<'a>,
        optional: bool,
        env: &TypeEnv<'a>,
    ) {
        if tuple.rest.is_some() {
            self.refuse(element.span(), "nothing may follow the rest of a tuple", "Put `...` last.");
            return;
        }
        let ty = |node: &'a TSType<'a>| LazyType::Written(node, Rc::clone(env));
        match element {
            TSTupleElement::TSOptionalType(it) => tuple.items.push((ty(&it.type_annotation), true)),
            TSTupleElement::TSNamedTupleMember(it) => self.element(tuple, &it.element_type, it.optional, env),
            TSTupleElement::TSRestType(it) => {
                // `...names: string[]` has its name inside of the rest.
                let inner = match &it.type_annotation {
                    TSType::TSNamedTupleMember(named) => named.element_type.as_ts_type(),
                    other => Some(other),
                };
                match inner.map(|inner| self.form(&ty(inner))) {
                    Some(TypeForm::Array(item)) => tuple.rest = Some(item),
                    Some(TypeForm::Tuple(inner)) => {
                        tuple.items.extend(inner.items);
                        tuple.rest = inner.rest;
                    }
                    _ => {
                        self.refuse(it.span, "the rest of a tuple must be an array", "Write `...T[]`.");
                    }
                }
            }
            other => match other.as_ts_type() {
                Some(node) => tuple.items.push((ty(node), optional)),
                None => {
                    self.refuse(other.span(), "this element is not supported", "Write a type.");
                }
            },
        }
    }

    /// The members of a union, of unions in it too.
    pub(super) fn members_of(&mut self, ty: &LazyType<'a>) -> Vec<LazyType<'a>> {
        match self.form(ty) {
            TypeForm::Union(members) => {
                let span = members.first().map(span_of).unwrap_or_default();
                let inner = |reader: &mut Self| members.iter().flat_map(|it| reader.members_of(it)).collect();
                self.deeper(span, inner).unwrap_or_default()
            }
            TypeForm::Never => Vec::new(),
            _ => vec![ty.clone()],
        }
    }

    /// The members of a type without `undefined`, and whether that was one.
    pub(super) fn defined(&mut self, ty: &LazyType<'a>) -> (Vec<LazyType<'a>>, bool) {
        let members = self.members_of(ty);
        let all = members.len();
        let rest: Vec<LazyType<'a>> =
            members.into_iter().filter(|it| !matches!(self.form(it), TypeForm::Undefined)).collect();
        let undefined = rest.len() < all;
        (rest, undefined)
    }

    /// A type that is all of these.
    fn intersection(&mut self, all: &[LazyType<'a>]) -> TypeForm<'a> {
        let Some((first, rest)) = all.split_first() else { return TypeForm::Any };
        let mut met = self.form(first);
        let mut met_ty = first.clone();
        for other in rest {
            met = self.meet(&met_ty, met, other);
            met_ty = LazyType::known(met.clone());
        }
        met
    }

    fn meet(&mut self, left_ty: &LazyType<'a>, left: TypeForm<'a>, right_ty: &LazyType<'a>) -> TypeForm<'a> {
        match (left, self.form(right_ty)) {
            (TypeForm::Never, _) | (_, TypeForm::Never) => TypeForm::Never,
            (TypeForm::Any, other) | (other, TypeForm::Any) => other,
            (TypeForm::Union(_), _) | (_, TypeForm::Union(_)) => self.meet_unions(left_ty, right_ty),
            (TypeForm::Shape(left), TypeForm::Shape(right)) => TypeForm::Shape(left.meet(right)),
            (TypeForm::Object, TypeForm::Shape(shape)) | (TypeForm::Shape(shape), TypeForm::Object) => {
                TypeForm::Shape(shape)
            }
            (TypeForm::Literal(left), TypeForm::Literal(right)) if left == right => TypeForm::Literal(left),
            (TypeForm::Literal(value), other) | (other, TypeForm::Literal(value))
                if is_of(&value, &other) =>
            {
                TypeForm::Literal(value)
            }
            // A brand, such as `string & { __brand: 'id' }`, is for the type checker only.
            (primitive, TypeForm::Shape(_)) | (TypeForm::Shape(_), primitive) => match primitive {
                TypeForm::Array(_) | TypeForm::Tuple(_) | TypeForm::Null | TypeForm::Undefined => {
                    TypeForm::Never
                }
                primitive => primitive,
            },
            (left, right) if same_kind(&left, &right) => left,
            _ => TypeForm::Never,
        }
    }

    /// One of these and one of those.
    fn meet_unions(&mut self, left: &LazyType<'a>, right: &LazyType<'a>) -> TypeForm<'a> {
        let (left, right) = (self.members_of(left), self.members_of(right));
        if left.len() * right.len() > MOST_PAIRS {
            let span = left.first().map(span_of).unwrap_or_default();
            return self.refuse(
                span,
                "this intersection has too many cases",
                "Write out the union that is meant.",
            );
        }
        let pairs = left.iter().flat_map(|left| right.iter().map(|right| left.clone().both(right.clone())));
        TypeForm::Union(pairs.collect())
    }

    fn reference(&mut self, reference: &'a TSTypeReference<'a>, env: &TypeEnv<'a>) -> TypeForm<'a> {
        self.named(&reference.type_name, reference.type_arguments.as_deref(), reference.span, env)
    }

    /// A type by its name and arguments.
    pub(super) fn named(
        &mut self,
        name: &'a TSTypeName<'a>,
        arguments: Option<&'a TSTypeParameterInstantiation<'a>>,
        span: Span,
        env: &TypeEnv<'a>,
    ) -> TypeForm<'a> {
        let arguments = arguments.into_iter().flat_map(|it| &it.params);
        let arguments: Vec<LazyType<'a>> =
            arguments.map(|node| LazyType::Written(node, Rc::clone(env))).collect();
        match name {
            TSTypeName::IdentifierReference(identifier) => {
                let name = identifier.name.as_str();
                match env.get(name) {
                    Some(ty) => self.form(&ty.clone()),
                    None => self.declared(name, arguments, span),
                }
            }
            TSTypeName::QualifiedName(qualified) => {
                let member = match &qualified.left {
                    TSTypeName::IdentifierReference(left) => {
                        self.declared.enums.get(&(left.name.as_str(), qualified.right.name.as_str()))
                    }
                    _ => None,
                };
                match member {
                    Some(value) => TypeForm::Literal(value.clone()),
                    None => self.refuse(span, "this name leads nowhere", "Only members of enums have a dot."),
                }
            }
            TSTypeName::ThisExpression(_) => {
                self.refuse(span, "`this` is not supported in types", "Write the name of the interface.")
            }
        }
    }

    /// The type that a declared name stands for, its parameters being their defaults.
    pub(super) fn declaration(&mut self, name: &str) -> TypeForm<'a> {
        let span = self.declared.types.get(name).map(|it| it.span).unwrap_or_default();
        self.declared(name, Vec::new(), span)
    }

    fn declared(&mut self, name: &str, arguments: Vec<LazyType<'a>>, span: Span) -> TypeForm<'a> {
        let declared = self.declared;
        match declared.types.get(name).map(|it| &it.what) {
            Some(DeclaredAs::Interface(all)) => {
                let mut shape = ObjectShape::default();
                for interface in all {
                    let env = self.bind(interface.type_parameters.as_deref(), &arguments, span);
                    for parent in &interface.extends {
                        self.extend(&mut shape, parent, &env);
                    }
                    let own = self.members(&interface.body.body, &env);
                    shape.override_with(own);
                }
                TypeForm::Shape(shape)
            }
            Some(DeclaredAs::Alias(alias)) => {
                let env = self.bind(alias.type_parameters.as_deref(), &arguments, span);
                self.form(&LazyType::Written(&alias.type_annotation, env))
            }
            Some(DeclaredAs::Enum(members)) => self.enumeration(name, members, span),
            Some(DeclaredAs::Class) => {
                self.refuse(span, format!("`{name}` is a class"), "Write an interface with its properties.")
            }
            Some(DeclaredAs::Imported) => {
                self.refuse(span, format!("`{name}` is declared in another file"), "Declare it here.")
            }
            None => self.utility(name, arguments, span).unwrap_or_else(|| self.unknown(name, span)),
        }
    }

    fn enumeration(&mut self, name: &str, members: &[&'a str], span: Span) -> TypeForm<'a> {
        let mut values = Vec::new();
        for member in members {
            match self.declared.enums.iter().find(|((of, it), _)| *of == name && it == member) {
                Some((_, value)) => values.push(LazyType::known(TypeForm::Literal(value.clone()))),
                None => {
                    let message = format!("the value of `{name}.{member}` is computed");
                    self.refuse(span, message, "Give it a number or a string.");
                }
            }
        }
        TypeForm::Union(values)
    }

    fn unknown(&mut self, name: &str, span: Span) -> TypeForm<'a> {
        let advice = match name {
            "Date" => "JSON has no dates: write `string`.".to_owned(),
            "Map" | "WeakMap" => "JSON has no maps: write `Record<string, T>`.".to_owned(),
            "Set" | "WeakSet" => "JSON has no sets: write `T[]`.".to_owned(),
            "Function" | "Promise" | "RegExp" | "Error" | "Symbol" | "BigInt" => {
                "It is not JSON: leave it out.".to_owned()
            }
            "String" | "Number" | "Boolean" | "Object" => format!("Write `{}`.", name.to_lowercase()),
            _ => match nearest(name, self.declared.types.keys().copied()) {
                Some(other) => format!("Did you mean `{other}`?"),
                None => format!("Declare it: `interface {name} {{ … }}`."),
            },
        };
        self.refuse(span, format!("the type `{name}` is not known here"), &advice)
    }

    /// What the parameters of a declaration mean with these arguments.
    fn bind(
        &mut self,
        parameters: Option<&'a TSTypeParameterDeclaration<'a>>,
        arguments: &[LazyType<'a>],
        span: Span,
    ) -> TypeEnv<'a> {
        let mut env: BTreeMap<&'a str, LazyType<'a>> = BTreeMap::new();
        for (at, parameter) in parameters.into_iter().flat_map(|it| &it.params).enumerate() {
            let name = parameter.name.name.as_str();
            let argument = match (arguments.get(at), &parameter.default) {
                (Some(argument), _) => argument.clone(),
                (None, Some(default)) => LazyType::Written(default, Rc::new(env.clone())),
                (None, None) => {
                    let message = format!("the type parameter `{name}` is not given");
                    LazyType::known(self.refuse(span, message, "Give it, or give the parameter a default."))
                }
            };
            env.insert(name, argument);
        }
        Rc::new(env)
    }
}

/// Where a type is written, if it is.
pub(super) fn span_of(ty: &LazyType<'_>) -> Span {
    match ty {
        LazyType::Written(node, _) => node.span(),
        LazyType::Known(_) => Span::default(),
        LazyType::All(all) => all.first().map(span_of).unwrap_or_default(),
    }
}

/// Whether a value is of a type whose name is one word.
pub(super) fn is_of(value: &Value, form: &TypeForm<'_>) -> bool {
    match form {
        TypeForm::String => value.is_string(),
        TypeForm::Number => value.is_number(),
        TypeForm::Boolean => value.is_boolean(),
        _ => false,
    }
}

fn same_kind(left: &TypeForm<'_>, right: &TypeForm<'_>) -> bool {
    matches!(
        (left, right),
        (TypeForm::String, TypeForm::String)
            | (TypeForm::Number, TypeForm::Number)
            | (TypeForm::Boolean, TypeForm::Boolean)
            | (TypeForm::Null, TypeForm::Null)
            | (TypeForm::Undefined, TypeForm::Undefined)
            | (TypeForm::Object, TypeForm::Object)
    )
}
