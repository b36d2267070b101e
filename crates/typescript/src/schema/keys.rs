//! Types that are made of the keys of others: `keyof`, `T['k']`, and TypeScript's own helpers.

use oxc::span::Span;
use serde_json::Value;

use super::read::{Reader, is_of, span_of};
use super::types::{Form, Property, Shape, Ty};

impl<'a> Reader<'a> {
    /// `keyof T`.
    pub(super) fn keys(&mut self, ty: &Ty<'a>, span: Span) -> Form<'a> {
        match self.form(ty) {
            Form::Any => Form::String,
            Form::Shape(shape) => {
                let mut keys: Vec<Ty<'a>> = shape.properties.iter().map(|it| Ty::text(&it.name)).collect();
                keys.extend(shape.others.map(|_| Ty::known(Form::String)));
                keys.extend(shape.numbered.map(|_| Ty::known(Form::Number)));
                Form::Union(keys)
            }
            _ => self.refuse(span, "`keyof` is for object types", "Write a union of names."),
        }
    }

    /// `T[K]`.
    pub(super) fn access(&mut self, object: &Ty<'a>, key: &Ty<'a>, span: Span) -> Form<'a> {
        let mut found = Vec::new();
        for object in self.members_of(object) {
            for key in self.members_of(key) {
                match self.access_one(&object, &key) {
                    Some(ty) => found.push(ty),
                    None => {
                        return self.refuse(span, "there is no such property", "Name one that the type has.");
                    }
                }
            }
        }
        match found.as_slice() {
            [only] => self.form(only),
            _ => Form::Union(found),
        }
    }

    fn access_one(&mut self, object: &Ty<'a>, key: &Ty<'a>) -> Option<Ty<'a>> {
        match (self.form(object), self.form(key)) {
            (Form::Any, _) => Some(Ty::known(Form::Any)),
            (Form::Shape(shape), Form::Literal(key)) => property(&shape, &name(&key)),
            (Form::Shape(shape), Form::String) => shape.others,
            (Form::Shape(shape), Form::Number) => shape.numbered.or(shape.others),
            (Form::Array(item), Form::Number) => Some(item),
            (Form::Array(item), Form::Literal(key)) if key.is_number() => Some(item),
            (Form::Tuple(tuple), Form::Number) => {
                let items = tuple
                    .items
                    .into_iter()
                    .map(|(ty, optional)| if optional { ty.or_undefined() } else { ty });
                Some(Ty::known(Form::Union(items.chain(tuple.rest).collect())))
            }
            (Form::Tuple(tuple), Form::Literal(key)) => {
                let at = usize::try_from(key.as_u64()?).ok()?;
                match tuple.items.get(at) {
                    Some((ty, optional)) => {
                        Some(if *optional { ty.clone().or_undefined() } else { ty.clone() })
                    }
                    None => tuple.rest,
                }
            }
            _ => None,
        }
    }

    /// TypeScript's own helpers; none if the name is not one of them.
    pub(super) fn utility(&mut self, name: &str, arguments: Vec<Ty<'a>>, span: Span) -> Option<Form<'a>> {
        let mut arguments = arguments.into_iter();
        let known =
            ["Array", "ReadonlyArray", "Partial", "Required", "Readonly", "NonNullable", "Pick", "Omit"];
        if !known.contains(&name) && !["Record", "Exclude", "Extract"].contains(&name) {
            return None;
        }
        let Some(first) = arguments.next() else {
            return Some(self.refuse(span, format!("`{name}` needs a type"), &format!("Write `{name}<…>`.")));
        };
        match name {
            "Array" | "ReadonlyArray" => return Some(Form::Array(first)),
            "Readonly" => return Some(self.form(&first)),
            "Partial" | "Required" => {
                return Some(self.each(&first, span, |reader, shape| reader.mark(name, shape)));
            }
            "NonNullable" => {
                return Some(self.without(&first, |form| matches!(form, Form::Null | Form::Undefined)));
            }
            _ => {}
        }
        let Some(second) = arguments.next() else {
            return Some(self.refuse(
                span,
                format!("`{name}` needs two types"),
                &format!("Write `{name}<…, …>`."),
            ));
        };
        Some(match name {
            "Record" => match self.record(&first, &second) {
                Some(shape) => Form::Shape(shape),
                None => self.refuse(span, "these keys are not known", "Write `string`, or a union of names."),
            },
            "Pick" | "Omit" => {
                let keys: Vec<Form<'a>> = self.members_of(&second).iter().map(|key| self.form(key)).collect();
                let named = |it: &Property<'_>| keys.iter().any(|key| is_key(key, &it.name));
                self.each(&first, span, |_, shape| choose(shape, name == "Pick", named))
            }
            _ => {
                let others: Vec<Form<'a>> =
                    self.members_of(&second).iter().map(|other| self.form(other)).collect();
                self.without(&first, |form| covered(form, &others) == (name == "Exclude"))
            }
        })
    }

    /// Something done to each shape of a type.
    fn each(
        &mut self,
        ty: &Ty<'a>,
        span: Span,
        mut change: impl FnMut(&mut Self, Shape<'a>) -> Shape<'a>,
    ) -> Form<'a> {
        let mut changed = Vec::new();
        for member in self.members_of(ty) {
            changed.push(match self.form(&member) {
                Form::Shape(shape) => Form::Shape(change(self, shape)),
                Form::Any | Form::Object => Form::Object,
                _ => self.refuse(span, "this is for object types", "Write out the type that is meant."),
            });
        }
        match changed.len() {
            1 => changed.remove(0),
            _ => Form::Union(changed.into_iter().map(Ty::known).collect()),
        }
    }

    fn mark(&mut self, name: &str, mut shape: Shape<'a>) -> Shape<'a> {
        let properties = std::mem::take(&mut shape.properties).into_iter();
        shape.properties = match name {
            "Partial" => properties.map(|property| Property { optional: true, ..property }).collect(),
            _ => properties.map(|property| self.required(property)).collect(),
        };
        shape
    }

    /// A union without some of its members.
    fn without(&mut self, ty: &Ty<'a>, drop: impl Fn(&Form<'a>) -> bool) -> Form<'a> {
        let members = self.members_of(ty).into_iter();
        Form::Union(members.filter(|member| !drop(&self.form(member))).collect())
    }

    /// `Record<K, V>`; none if the keys are not names.
    pub(super) fn record(&mut self, keys: &Ty<'a>, value: &Ty<'a>) -> Option<Shape<'a>> {
        let mut shape = Shape::default();
        for key in self.members_of(keys) {
            match self.form(&key) {
                Form::Literal(key) => {
                    let (name, ty) = (name(&key), value.clone());
                    shape.put(Property { name, ty, optional: false, doc: None });
                }
                Form::String | Form::Any => shape.others = Some(value.clone()),
                Form::Number => shape.numbered = Some(value.clone()),
                _ => {
                    self.refuse(
                        span_of(&key),
                        "keys are strings or numbers",
                        "Write `string`, or a union of names.",
                    );
                    return None;
                }
            }
        }
        Some(shape)
    }
}

/// A key as the name of a property.
fn name(key: &Value) -> String {
    key.as_str().map_or_else(|| key.to_string(), str::to_owned)
}

fn property<'a>(shape: &Shape<'a>, name: &str) -> Option<Ty<'a>> {
    match shape.get(name) {
        Some(property) if property.optional => Some(property.ty.clone().or_undefined()),
        Some(property) => Some(property.ty.clone()),
        None => shape.others.clone(),
    }
}

fn is_key(key: &Form<'_>, name: &str) -> bool {
    match key {
        Form::Literal(key) => self::name(key) == name,
        Form::String => true,
        _ => false,
    }
}

/// Some properties of a shape, or all others.
fn choose<'a>(mut shape: Shape<'a>, picked: bool, named: impl Fn(&Property<'_>) -> bool) -> Shape<'a> {
    shape.properties.retain(|property| named(property) == picked);
    if picked {
        shape.others = None;
        shape.numbered = None;
    }
    shape
}

/// Whether a member of a union is in one of others.
fn covered(form: &Form<'_>, others: &[Form<'_>]) -> bool {
    others.iter().any(|other| match (form, other) {
        (Form::Literal(value), Form::Literal(other)) => value == other,
        (Form::Literal(value), other) => is_of(value, other),
        (form, other) => std::mem::discriminant(form) == std::mem::discriminant(other),
    })
}
