//! Object types: written out, extended, mapped from others.

use std::collections::BTreeMap;
use std::rc::Rc;

use oxc::ast::ast::{
    TSIndexSignature, TSInterfaceHeritage, TSMappedType, TSMappedTypeModifierOperator as Modifier,
    TSPropertySignature, TSSignature, TSType, TSTypeOperatorOperator,
};
use oxc::span::GetSpan;

use super::read::TypeReader;
use super::types::{LazyType, ObjectShape, PropertyType, TypeEnv, TypeForm};

impl<'a> TypeReader<'a> {
    /// The properties between two braces.
    pub(super) fn members(&mut self, members: &'a [TSSignature<'a>], env: &TypeEnv<'a>) -> ObjectShape<'a> {
        let mut shape = ObjectShape::default();
        for member in members {
            match member {
                TSSignature::TSPropertySignature(property) => self.property(&mut shape, property, env),
                TSSignature::TSIndexSignature(index) => self.index(&mut shape, index, env),
                TSSignature::TSMethodSignature(_)
                | TSSignature::TSCallSignatureDeclaration(_)
                | TSSignature::TSConstructSignatureDeclaration(_) => {
                    self.refuse(member.span(), "a function is not JSON", "Leave it out.");
                }
            }
        }
        shape
    }

    fn property(
        &mut self,
        shape: &mut ObjectShape<'a>,
        property: &'a TSPropertySignature<'a>,
        env: &TypeEnv<'a>,
    ) {
        let Some(name) = property.key.static_name() else {
            self.refuse(property.span, "the name of this property is computed", "Write the name.");
            return;
        };
        let written = property
            .type_annotation
            .as_ref()
            .map(|it| LazyType::Written(&it.type_annotation, Rc::clone(env)));
        shape.put(PropertyType {
            name: name.into_owned(),
            ty: written.unwrap_or_else(|| LazyType::known(TypeForm::Any)),
            optional: property.optional,
            doc: self.declared.docs.at(property.span.start).map(str::to_owned),
        });
    }

    fn index(&mut self, shape: &mut ObjectShape<'a>, index: &'a TSIndexSignature<'a>, env: &TypeEnv<'a>) {
        let ty = LazyType::Written(&index.type_annotation.type_annotation, Rc::clone(env));
        match &index.parameter.type_annotation.type_annotation {
            TSType::TSStringKeyword(_) => shape.others = Some(ty),
            TSType::TSNumberKeyword(_) => shape.numbered = Some(ty),
            _ => {
                self.refuse(
                    index.parameter.span,
                    "keys are strings or numbers here",
                    "Write `[key: string]`.",
                );
            }
        }
    }

    /// Takes over what an interface extends.
    pub(super) fn extend(
        &mut self,
        shape: &mut ObjectShape<'a>,
        parent: &'a TSInterfaceHeritage<'a>,
        env: &TypeEnv<'a>,
    ) {
        let span = parent.span;
        let form = self.deeper(span, |reader| {
            reader.named(&parent.type_name, parent.type_arguments.as_deref(), span, env)
        });
        match form {
            Some(TypeForm::Shape(parent)) => shape.override_with(parent),
            Some(TypeForm::Object | TypeForm::Any) | None => {}
            Some(_) => {
                self.refuse(
                    span,
                    "an interface can extend object types only",
                    "Use a type: `type A = B & { … }`.",
                );
            }
        }
    }

    /// `{ [K in Keys]: T }`.
    pub(super) fn mapped(&mut self, mapped: &'a TSMappedType<'a>, env: &TypeEnv<'a>) -> TypeForm<'a> {
        if let Some(name) = &mapped.name_type {
            return self.refuse(
                name.span(),
                "`as` is not supported in mapped types",
                "Write out the properties.",
            );
        }
        let Some(from) = self.mapped_from(mapped, env) else {
            return self.refuse(
                mapped.constraint.span(),
                "these keys are not known",
                "Write a union of names.",
            );
        };
        let value = |key: LazyType<'a>| match &mapped.type_annotation {
            Some(node) => {
                let mut inner: BTreeMap<&'a str, LazyType<'a>> = env.as_ref().clone();
                inner.insert(mapped.key.name.as_str(), key);
                LazyType::Written(node, Rc::new(inner))
            }
            None => LazyType::known(TypeForm::Any),
        };
        let mut shape = ObjectShape {
            properties: Vec::new(),
            others: from.others.map(|_| value(LazyType::known(TypeForm::String))),
            numbered: from.numbered.map(|_| value(LazyType::known(TypeForm::Number))),
        };
        for property in from.properties {
            let ty = value(LazyType::text(&property.name));
            let property = PropertyType { ty, ..property };
            shape.properties.push(match mapped.optional {
                Some(Modifier::True | Modifier::Plus) => PropertyType { optional: true, ..property },
                Some(Modifier::Minus) => self.required(property),
                None => property,
            });
        }
        TypeForm::Shape(shape)
    }

    /// The properties that a mapped type goes through: those of T for `keyof T`, which stay optional as they are.
    fn mapped_from(&mut self, mapped: &'a TSMappedType<'a>, env: &TypeEnv<'a>) -> Option<ObjectShape<'a>> {
        if let TSType::TSTypeOperatorType(operator) = &mapped.constraint
            && operator.operator == TSTypeOperatorOperator::Keyof
        {
            return match self.form(&LazyType::Written(&operator.type_annotation, Rc::clone(env))) {
                TypeForm::Shape(shape) => Some(shape),
                _ => None,
            };
        }
        self.record(&LazyType::Written(&mapped.constraint, Rc::clone(env)), &LazyType::known(TypeForm::Any))
    }

    /// A property that must be there.
    pub(super) fn required(&mut self, property: PropertyType<'a>) -> PropertyType<'a> {
        let (members, undefined) = self.defined(&property.ty);
        let ty = if undefined { LazyType::known(TypeForm::Union(members)) } else { property.ty };
        PropertyType { ty, optional: false, ..property }
    }
}
