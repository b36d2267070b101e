//! Types that are made of the keys of others: `keyof`, `T['k']`, and TypeScript's own helpers.

use oxc::span::Span;
use serde_json::Value;

use super::read::{TypeReader, is_of, span_of};
use super::types::{LazyType, ObjectShape, PropertyType, TypeForm};

impl<'a> TypeReader<'a> {
    /// `keyof T`.
    pub(super) fn keys(&mut self, ty: &LazyType<'a>, span: Span) -> TypeForm<'a> {
        match self.form(ty) {
            TypeForm::Any => TypeForm::String,
            TypeForm::Shape(shape) => {
                let mut keys: Vec<LazyType<'a>> =
                    shape.properties.iter().map(|it| LazyType::text(&it.name)).collect();
                keys.extend(shape.others.map(|_| LazyType::known(TypeForm::String)));
                keys.extend(shape.numbered.map(|_| LazyType::known(TypeForm::Number)));
                TypeForm::Union(keys)
            }
            _ => self.refuse(span, "`keyof` is for object types", "Write a union of names."),
        }
    }

    /// `T[K]`.
    pub(super) fn access(&mut self, object: &LazyType<'a>, key: &LazyType<'a>, span: Span) -> TypeForm<'a> {
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
            _ => TypeForm::Union(found),
        }
    }

    fn access_one(&mut self, object: &LazyType<'a>, key: &LazyType<'a>) -> Option<LazyType<'a>> {
        match (self.form(object), self.form(key)) {
            (TypeForm::Any, _) => Some(LazyType::known(TypeForm::Any)),
            (TypeForm::Shape(shape), TypeForm::Literal(key)) => property(&shape, &name(&key)),
            (TypeForm::Shape(shape), TypeForm::String) => shape.others,
            (TypeForm::Shape(shape), TypeForm::Number) => shape.numbered.or(shape.others),
            (TypeForm::Array(item), TypeForm::Number) => Some(item),
            (TypeForm::Array(item), TypeForm::Literal(key)) if key.is_number() => Some(item),
            (TypeForm::Tuple(tuple), TypeForm::Number) => {
                let items = tuple
                    .items
                    .into_iter()
                    .map(|(ty, optional)| if optional { ty.or_undefined() } else { ty });
                Some(LazyType::known(TypeForm::Union(items.chain(tuple.rest).collect())))
            }
            (TypeForm::Tuple(tuple), TypeForm::Literal(key)) => {
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
    pub(super) fn utility(
        &mut self,
        name: &str,
        arguments: Vec<LazyType<'a>>,
        span: Span,
    ) -> Option<TypeForm<'a>> {
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
            "Array" | "ReadonlyArray" => return Some(TypeForm::Array(first)),
            "Readonly" => return Some(self.form(&first)),
            "Partial" | "Required" => {
                return Some(self.each(&first, span, |reader, shape| reader.mark(name, shape)));
            }
            "NonNullable" => {
                return Some(
                    self.without(&first, |form| matches!(form, TypeForm::Null | TypeForm::Undefined)),
                );
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
                Some(shape) => TypeForm::Shape(shape),
                None => self.refuse(span, "these keys are not known", "Write `string`, or a union of names."),
            },
            "Pick" | "Omit" => {
                let keys: Vec<TypeForm<'a>> =
                    self.members_of(&second).iter().map(|key| self.form(key)).collect();
                let named = |it: &PropertyType<'_>| keys.iter().any(|key| is_key(key, &it.name));
                self.each(&first, span, |_, shape| choose(shape, name == "Pick", named))
            }
            _ => {
                let others: Vec<TypeForm<'a>> =
                    self.members_of(&second).iter().map(|other| self.form(other)).collect();
                self.without(&first, |form| covered(form, &others) == (name == "Exclude"))
            }
        })
    }

    /// Something done to each shape of a type.
    fn each(
        &mut self,
        ty: &LazyType<'a>,
        span: Span,
        mut change: impl FnMut(&mut Self, ObjectShape<'a>) -> ObjectShape<'a>,
    ) -> TypeForm<'a> {
        let mut changed = Vec::new();
        for member in self.members_of(ty) {
            changed.push(match self.form(&member) {
                TypeForm::Shape(shape) => TypeForm::Shape(change(self, shape)),
                TypeForm::Any | TypeForm::Object => TypeForm::Object,
                _ => self.refuse(span, "this is for object types", "Write out the type that is meant."),
            });
        }
        match changed.len() {
            1 => changed.remove(0),
            _ => TypeForm::Union(changed.into_iter().map(LazyType::known).collect()),
        }
    }

    fn mark(&mut self, name: &str, mut shape: ObjectShape<'a>) -> ObjectShape<'a> {
        let properties = std::mem::take(&mut shape.properties).into_iter();
        shape.properties = match name {
            "Partial" => properties.map(|property| PropertyType { optional: true, ..property }).collect(),
            _ => properties.map(|property| self.required(property)).collect(),
        };
        shape
    }

    /// A union without some of its members.
    fn without(&mut self, ty: &LazyType<'a>, drop: impl Fn(&TypeForm<'a>) -> bool) -> TypeForm<'a> {
        let members = self.members_of(ty).into_iter();
        TypeForm::Union(members.filter(|member| !drop(&self.form(member))).collect())
    }

    /// `Record<K, V>`; none if the keys are not names.
    pub(super) fn record(&mut self, keys: &LazyType<'a>, value: &LazyType<'a>) -> Option<ObjectShape<'a>> {
        let mut shape = ObjectShape::default();
        for key in self.members_of(keys) {
            match self.form(&key) {
                TypeForm::Literal(key) => {
                    let (name, ty) = (name(&key), value.clone());
                    shape.put(PropertyType { name, ty, optional: false, doc: None });
                }
                TypeForm::String | TypeForm::Any => shape.others = Some(value.clone()),
                TypeForm::Number => shape.numbered = Some(value.clone()),
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

fn property<'a>(shape: &ObjectShape<'a>, name: &str) -> Option<LazyType<'a>> {
    match shape.get(name) {
        Some(property) if property.optional => Some(property.ty.clone().or_undefined()),
        Some(property) => Some(property.ty.clone()),
        None => shape.others.clone(),
    }
}

fn is_key(key: &TypeForm<'_>, name: &str) -> bool {
    match key {
        TypeForm::Literal(key) => self::name(key) == name,
        TypeForm::String => true,
        _ => false,
    }
}

/// Some properties of a shape, or all others.
fn choose<'a>(
    mut shape: ObjectShape<'a>,
    picked: bool,
    named: impl Fn(&PropertyType<'_>) -> bool,
) -> ObjectShape<'a> {
    shape.properties.retain(|property| named(property) == picked);
    if picked {
        shape.others = None;
        shape.numbered = None;
    }
    shape
}

/// Whether a member of a union is in one of others.
fn covered(form: &TypeForm<'_>, others: &[TypeForm<'_>]) -> bool {
    others.iter().any(|other| match (form, other) {
        (TypeForm::Literal(value), TypeForm::Literal(other)) => value == other,
        (TypeForm::Literal(value), other) => is_of(value, other),
        (form, other) => std::mem::discriminant(form) == std::mem::discriminant(other),
    })
}
