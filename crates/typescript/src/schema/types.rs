//! Types, as far as they have been read.

use std::collections::BTreeMap;
use std::rc::Rc;

use oxc::ast::ast::TSType;
use serde_json::Value;

/// A type that may not have been read yet.
#[derive(Clone)]
pub(super) enum Ty<'a> {
    /// As it is written, and what type parameters mean there.
    Written(&'a TSType<'a>, Env<'a>),
    /// One layer of it is known.
    Known(Rc<Form<'a>>),
    /// All of these at once.
    All(Rc<Vec<Ty<'a>>>),
}

/// What type parameters mean.
pub(super) type Env<'a> = Rc<BTreeMap<&'a str, Ty<'a>>>;

/// The outermost layer of a type.
#[derive(Clone)]
pub(super) enum Form<'a> {
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
    Array(Ty<'a>),
    Tuple(Tuple<'a>),
    Shape(Shape<'a>),
    Union(Vec<Ty<'a>>),
}

#[derive(Clone, Default)]
pub(super) struct Tuple<'a> {
    /// Each with whether it may be absent.
    pub(super) items: Vec<(Ty<'a>, bool)>,
    pub(super) rest: Option<Ty<'a>>,
}

/// An object type.
#[derive(Clone, Default)]
pub(super) struct Shape<'a> {
    pub(super) properties: Vec<Property<'a>>,
    /// What properties with other names are.
    pub(super) others: Option<Ty<'a>>,
    /// What properties whose names are numbers are.
    pub(super) numbered: Option<Ty<'a>>,
}

#[derive(Clone)]
pub(super) struct Property<'a> {
    pub(super) name: String,
    pub(super) ty: Ty<'a>,
    pub(super) optional: bool,
    pub(super) doc: Option<String>,
}

impl<'a> Ty<'a> {
    pub(super) fn known(form: Form<'a>) -> Self {
        Ty::Known(Rc::new(form))
    }

    pub(super) fn text(text: &str) -> Self {
        Ty::known(Form::Literal(Value::from(text)))
    }

    pub(super) fn both(self, other: Self) -> Self {
        Ty::All(Rc::new(vec![self, other]))
    }

    pub(super) fn or_undefined(self) -> Self {
        Ty::known(Form::Union(vec![self, Ty::known(Form::Undefined)]))
    }
}

impl<'a> Shape<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&Property<'a>> {
        self.properties.iter().find(|property| property.name == name)
    }

    /// Puts a property in, in the place of one with its name.
    pub(super) fn put(&mut self, property: Property<'a>) {
        match self.properties.iter_mut().find(|it| it.name == property.name) {
            Some(place) => *place = property,
            None => self.properties.push(property),
        }
    }

    /// What is in the other is put in.
    pub(super) fn override_with(&mut self, other: Shape<'a>) {
        for property in other.properties {
            self.put(property);
        }
        self.others = other.others.or(self.others.take());
        self.numbered = other.numbered.or(self.numbered.take());
    }

    /// An object that is of both shapes.
    pub(super) fn meet(mut self, other: Shape<'a>) -> Self {
        for property in other.properties {
            let merged = match self.get(&property.name) {
                Some(mine) => Property {
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

fn either<'a>(left: Option<Ty<'a>>, right: Option<Ty<'a>>) -> Option<Ty<'a>> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.both(right)),
        (left, right) => left.or(right),
    }
}
