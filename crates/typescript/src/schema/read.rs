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

use super::declared::{Declared, What, number_value};
use super::types::{Env, Form, Shape, Tuple, Ty};
use crate::nearest::nearest;
use crate::place::Lines;
use crate::problem::Problem;

/// Layers that may be open at once: more is a type that never ends.
const DEEPEST: usize = 300;
/// Layers that may be read for one schema.
const MOST: usize = 50_000;
/// Combinations that an intersection of unions may have.
const MOST_PAIRS: usize = 256;

/// Reads types, and collects what is wrong with them.
pub(crate) struct Reader<'a> {
    pub(super) declared: &'a Declared<'a>,
    lines: &'a Lines<'a>,
    path: &'a Path,
    pub(super) problems: Vec<Problem>,
    depth: usize,
    read: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(declared: &'a Declared<'a>, lines: &'a Lines<'a>, path: &'a Path) -> Self {
        Reader { declared, lines, path, problems: Vec::new(), depth: 0, read: 0 }
    }

    /// Notes what is wrong; the type counts as anything, so that the rest can be looked at too.
    pub(super) fn refuse(&mut self, span: Span, message: impl Into<String>, advice: &str) -> Form<'a> {
        let problem = Problem::new(self.path, self.lines.place(span.start), message).advise(advice);
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
        Form::Any
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
    pub(super) fn form(&mut self, ty: &Ty<'a>) -> Form<'a> {
        match ty {
            Ty::Known(form) => form.as_ref().clone(),
            Ty::Written(node, env) => {
                self.deeper(node.span(), |reader| reader.written(node, env)).unwrap_or(Form::Any)
            }
            Ty::All(all) => {
                let span = all.first().map(span_of).unwrap_or_default();
                self.deeper(span, |reader| reader.intersection(all)).unwrap_or(Form::Any)
            }
        }
    }

    fn written(&mut self, node: &'a TSType<'a>, env: &Env<'a>) -> Form<'a> {
        let ty = |node: &'a TSType<'a>| Ty::Written(node, Rc::clone(env));
        match node {
            TSType::TSAnyKeyword(_) | TSType::TSUnknownKeyword(_) => Form::Any,
            TSType::TSNeverKeyword(_) => Form::Never,
            TSType::TSNullKeyword(_) => Form::Null,
            TSType::TSUndefinedKeyword(_) | TSType::TSVoidKeyword(_) => Form::Undefined,
            TSType::TSBooleanKeyword(_) => Form::Boolean,
            TSType::TSNumberKeyword(_) => Form::Number,
            TSType::TSStringKeyword(_) => Form::String,
            TSType::TSObjectKeyword(_) => Form::Object,
            TSType::TSArrayType(array) => Form::Array(ty(&array.element_type)),
            TSType::TSTupleType(tuple) => self.tuple(&tuple.element_types, env),
            TSType::TSUnionType(union) => Form::Union(union.types.iter().map(ty).collect()),
            TSType::TSIntersectionType(all) => {
                self.intersection(&all.types.iter().map(ty).collect::<Vec<_>>())
            }
            TSType::TSParenthesizedType(inner) => self.written(&inner.type_annotation, env),
            TSType::TSLiteralType(literal) => self.literal(&literal.literal),
            TSType::TSTypeLiteral(literal) => Form::Shape(self.members(&literal.members, env)),
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
    fn unsupported(&mut self, node: &TSType<'_>) -> Form<'a> {
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

    fn literal(&mut self, literal: &TSLiteral<'_>) -> Form<'a> {
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
            Some(value) => Form::Literal(value),
            None => self.refuse(literal.span(), "this literal is not JSON", "Write a number or a string."),
        }
    }

    fn tuple(&mut self, elements: &'a [TSTupleElement<'a>], env: &Env<'a>) -> Form<'a> {
        let mut tuple = Tuple::default();
        for element in elements {
            self.element(&mut tuple, element, false, env);
        }
        Form::Tuple(tuple)
    }

    fn element(
        &mut self,
        tuple: &mut Tuple<'a>,
        element: &'a TSTupleElement<'a>,
        optional: bool,
        env: &Env<'a>,
    ) {
        if tuple.rest.is_some() {
            self.refuse(element.span(), "nothing may follow the rest of a tuple", "Put `...` last.");
            return;
        }
        let ty = |node: &'a TSType<'a>| Ty::Written(node, Rc::clone(env));
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
                    Some(Form::Array(item)) => tuple.rest = Some(item),
                    Some(Form::Tuple(inner)) => {
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
    pub(super) fn members_of(&mut self, ty: &Ty<'a>) -> Vec<Ty<'a>> {
        match self.form(ty) {
            Form::Union(members) => {
                let span = members.first().map(span_of).unwrap_or_default();
                let inner = |reader: &mut Self| members.iter().flat_map(|it| reader.members_of(it)).collect();
                self.deeper(span, inner).unwrap_or_default()
            }
            Form::Never => Vec::new(),
            _ => vec![ty.clone()],
        }
    }

    /// The members of a type without `undefined`, and whether that was one.
    pub(super) fn defined(&mut self, ty: &Ty<'a>) -> (Vec<Ty<'a>>, bool) {
        let members = self.members_of(ty);
        let all = members.len();
        let rest: Vec<Ty<'a>> =
            members.into_iter().filter(|it| !matches!(self.form(it), Form::Undefined)).collect();
        let undefined = rest.len() < all;
        (rest, undefined)
    }

    /// A type that is all of these.
    fn intersection(&mut self, all: &[Ty<'a>]) -> Form<'a> {
        let Some((first, rest)) = all.split_first() else { return Form::Any };
        let mut met = self.form(first);
        let mut met_ty = first.clone();
        for other in rest {
            met = self.meet(&met_ty, met, other);
            met_ty = Ty::known(met.clone());
        }
        met
    }

    fn meet(&mut self, left_ty: &Ty<'a>, left: Form<'a>, right_ty: &Ty<'a>) -> Form<'a> {
        match (left, self.form(right_ty)) {
            (Form::Never, _) | (_, Form::Never) => Form::Never,
            (Form::Any, other) | (other, Form::Any) => other,
            (Form::Union(_), _) | (_, Form::Union(_)) => self.meet_unions(left_ty, right_ty),
            (Form::Shape(left), Form::Shape(right)) => Form::Shape(left.meet(right)),
            (Form::Object, Form::Shape(shape)) | (Form::Shape(shape), Form::Object) => Form::Shape(shape),
            (Form::Literal(left), Form::Literal(right)) if left == right => Form::Literal(left),
            (Form::Literal(value), other) | (other, Form::Literal(value)) if is_of(&value, &other) => {
                Form::Literal(value)
            }
            // A brand, such as `string & { __brand: 'id' }`, is for the type checker only.
            (primitive, Form::Shape(_)) | (Form::Shape(_), primitive) => match primitive {
                Form::Array(_) | Form::Tuple(_) | Form::Null | Form::Undefined => Form::Never,
                primitive => primitive,
            },
            (left, right) if same_kind(&left, &right) => left,
            _ => Form::Never,
        }
    }

    /// One of these and one of those.
    fn meet_unions(&mut self, left: &Ty<'a>, right: &Ty<'a>) -> Form<'a> {
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
        Form::Union(pairs.collect())
    }

    fn reference(&mut self, reference: &'a TSTypeReference<'a>, env: &Env<'a>) -> Form<'a> {
        self.named(&reference.type_name, reference.type_arguments.as_deref(), reference.span, env)
    }

    /// A type by its name and arguments.
    pub(super) fn named(
        &mut self,
        name: &'a TSTypeName<'a>,
        arguments: Option<&'a TSTypeParameterInstantiation<'a>>,
        span: Span,
        env: &Env<'a>,
    ) -> Form<'a> {
        let arguments = arguments.into_iter().flat_map(|it| &it.params);
        let arguments: Vec<Ty<'a>> = arguments.map(|node| Ty::Written(node, Rc::clone(env))).collect();
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
                    Some(value) => Form::Literal(value.clone()),
                    None => self.refuse(span, "this name leads nowhere", "Only members of enums have a dot."),
                }
            }
            TSTypeName::ThisExpression(_) => {
                self.refuse(span, "`this` is not supported in types", "Write the name of the interface.")
            }
        }
    }

    /// The type that a declared name stands for, its parameters being their defaults.
    pub(super) fn declaration(&mut self, name: &str) -> Form<'a> {
        let span = self.declared.types.get(name).map(|it| it.span).unwrap_or_default();
        self.declared(name, Vec::new(), span)
    }

    fn declared(&mut self, name: &str, arguments: Vec<Ty<'a>>, span: Span) -> Form<'a> {
        let declared = self.declared;
        match declared.types.get(name).map(|it| &it.what) {
            Some(What::Interface(all)) => {
                let mut shape = Shape::default();
                for interface in all {
                    let env = self.bind(interface.type_parameters.as_deref(), &arguments, span);
                    for parent in &interface.extends {
                        self.extend(&mut shape, parent, &env);
                    }
                    let own = self.members(&interface.body.body, &env);
                    shape.override_with(own);
                }
                Form::Shape(shape)
            }
            Some(What::Alias(alias)) => {
                let env = self.bind(alias.type_parameters.as_deref(), &arguments, span);
                self.form(&Ty::Written(&alias.type_annotation, env))
            }
            Some(What::Enum(members)) => self.enumeration(name, members, span),
            Some(What::Class) => {
                self.refuse(span, format!("`{name}` is a class"), "Write an interface with its properties.")
            }
            Some(What::Imported) => {
                self.refuse(span, format!("`{name}` is declared in another file"), "Declare it here.")
            }
            None => self.utility(name, arguments, span).unwrap_or_else(|| self.unknown(name, span)),
        }
    }

    fn enumeration(&mut self, name: &str, members: &[&'a str], span: Span) -> Form<'a> {
        let mut values = Vec::new();
        for member in members {
            match self.declared.enums.iter().find(|((of, it), _)| *of == name && it == member) {
                Some((_, value)) => values.push(Ty::known(Form::Literal(value.clone()))),
                None => {
                    let message = format!("the value of `{name}.{member}` is computed");
                    self.refuse(span, message, "Give it a number or a string.");
                }
            }
        }
        Form::Union(values)
    }

    fn unknown(&mut self, name: &str, span: Span) -> Form<'a> {
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
        arguments: &[Ty<'a>],
        span: Span,
    ) -> Env<'a> {
        let mut env: BTreeMap<&'a str, Ty<'a>> = BTreeMap::new();
        for (at, parameter) in parameters.into_iter().flat_map(|it| &it.params).enumerate() {
            let name = parameter.name.name.as_str();
            let argument = match (arguments.get(at), &parameter.default) {
                (Some(argument), _) => argument.clone(),
                (None, Some(default)) => Ty::Written(default, Rc::new(env.clone())),
                (None, None) => {
                    let message = format!("the type parameter `{name}` is not given");
                    Ty::known(self.refuse(span, message, "Give it, or give the parameter a default."))
                }
            };
            env.insert(name, argument);
        }
        Rc::new(env)
    }
}

/// Where a type is written, if it is.
pub(super) fn span_of(ty: &Ty<'_>) -> Span {
    match ty {
        Ty::Written(node, _) => node.span(),
        Ty::Known(_) => Span::default(),
        Ty::All(all) => all.first().map(span_of).unwrap_or_default(),
    }
}

/// Whether a value is of a type whose name is one word.
pub(super) fn is_of(value: &Value, form: &Form<'_>) -> bool {
    match form {
        Form::String => value.is_string(),
        Form::Number => value.is_number(),
        Form::Boolean => value.is_boolean(),
        _ => false,
    }
}

fn same_kind(left: &Form<'_>, right: &Form<'_>) -> bool {
    matches!(
        (left, right),
        (Form::String, Form::String)
            | (Form::Number, Form::Number)
            | (Form::Boolean, Form::Boolean)
            | (Form::Null, Form::Null)
            | (Form::Undefined, Form::Undefined)
            | (Form::Object, Form::Object)
    )
}
