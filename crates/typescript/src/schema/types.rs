//! Types, as far as they have been read.

use std::collections::BTreeMap;
use std::rc::Rc;

use oxc::ast::ast::TSType;
use serde_json::Value;

/// A type that may not have been read yet.
#[derive(Clone)]
pub(super) enum LazyType<'a> {
    /// As it is written, and what type parameters mean there.
    Written(&'a TSType<'a>, TypeEnv<'a>),
    /// One layer of it is known.
    Known(Rc<TypeForm<'a>>),
    /// All of these at once.
    All(Rc<Vec<LazyType<'a>>>),
}

/// What type parameters mean.
pub(super) type TypeEnv<'a> = Rc<BTreeMap<&'a str, LazyType<'a>>>;

/// The outermost layer of a type.
#[derive(Clone)]
pub(super) enum TypeForm<'a> {
    Any,
    Never,
    Undefined,
    Null,
    Boolean,
    Number,
    String,
    /// Any object.
    Object,
    Literal(Value),
    Array(LazyType<'a>),
    Tuple(TupleType<'a>),
    Shape(ObjectShape<'a>),
    Union(Vec<LazyType<'a>>),
}

#[derive(Clone, Default)]
pub(super) struct TupleType<'a> {
    /// Each with whether it may be absent.
    pub(super) items: Vec<(LazyType<'a>, bool)>,
    pub(super) rest: Option<LazyType<'a>>,
}

/// An object type.
#[derive(Clone, Default)]
pub(super) struct ObjectShape<'a> {
    pub(super) properties: Vec<PropertyType<'a>>,
    /// What properties with other names are.
    pub(super) others: Option<LazyType<'a>>,
    /// What properties whose names are numbers are.
    pub(super) numbered: Option<LazyType<'a>>,
}

#[derive(Clone)]
pub(super) struct PropertyType<'a> {
    pub(super) name: String,
    pub(super) ty: LazyType<'a>,
    pub(super) optional: bool,
    pub(super) doc: Option<String>,
}

impl<'a> LazyType<'a> {
    pub(super) fn known(form: TypeForm<'a>) -> Self {
        LazyType::Known(Rc::new(form))
    }

    pub(super) fn text(text: &str) -> Self {
        LazyType::known(TypeForm::Literal(Value::from(text)))
    }

    pub(super) fn both(self, other: Self) -> Self {
        LazyType::All(Rc::new(vec![self, other]))
    }

    pub(super) fn or_undefined(self) -> Self {
        LazyType::known(TypeForm::Union(vec![self, LazyType::known(TypeForm::Undefined)]))
    }
}

impl<'a> ObjectShape<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&PropertyType<'a>> {
        self.properties.iter().find(|property| property.name == name)
    }

    /// Puts a property in, in the place of one with its name.
    pub(super) fn put(&mut self, property: PropertyType<'a>) {
        match self.properties.iter_mut().find(|it| it.name == property.name) {
            Some(place) => *place = property,
            None => self.properties.push(property),
        }
    }

    /// What is in the other is put in.
    pub(super) fn override_with(&mut self, other: ObjectShape<'a>) {
        for property in other.properties {
            self.put(property);
        }
        self.others = other.others.or(self.others.take());
        self.numbered = other.numbered.or(self.numbered.take());
    }

    /// An object that is of both shapes.
    pub(super) fn meet(mut self, other: ObjectShape<'a>) -> Self {
        for property in other.properties {
            let merged = match self.get(&property.name) {
                Some(mine) => PropertyType {
                    ty: mine.ty.clone().both(property.ty),
                    optional: mine.optional && property.optional,
                    doc: mine.doc.clone().or(property.doc),
                    name: property.name,
                },
                None => property,
            };
            self.put(merged);
        }
        self.others = either(self.others, other.others);
        self.numbered = either(self.numbered, other.numbered);
        self
    }
}

fn either<'a>(left: Option<LazyType<'a>>, right: Option<LazyType<'a>>) -> Option<LazyType<'a>> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.both(right)),
        (left, right) => left.or(right),
    }
}
