//! The schema of events: one for each type, told apart by `type`.

use std::borrow::Cow;

use rival_core::event::EventKind;
use rival_core::{Path, Seq, Time};
use utoipa::openapi::schema::{Discriminator, Object, ObjectBuilder, OneOfBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::event::{CauseReply, EventReply};

impl PartialSchema for EventReply {
    fn schema() -> RefOr<Schema> {
        let mut event = OneOfBuilder::new().description(Some("One fact about a run."));
        let mut by_type = Vec::new();
        for (kind, _) in kinds() {
            let schema = Ref::from_schema_name(schema_name(&kind));
            by_type.push((kind, schema.ref_location.clone()));
            event = event.item(schema);
        }
        event.discriminator(Some(Discriminator::with_mapping("type", by_type))).into()
    }
}

impl ToSchema for EventReply {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Event")
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        let mut used = Vec::new();
        EventKind::schemas(&mut used);
        used.iter_mut().for_each(|(_, schema)| rename_fields(schema));
        schemas.append(&mut used);
        schemas.extend(kinds().map(|(kind, data)| (schema_name(&kind), schema_of(&kind, data))));
        schemas.push((CauseReply::name().into_owned(), CauseReply::schema()));
        CauseReply::schemas(schemas);
        schemas.push((Time::name().into_owned(), Time::schema()));
        schemas.push((Path::name().into_owned(), Path::schema()));
    }
}

/// Fields of variants are named as they are stored: utoipa does not read `rename_all_fields`.
fn rename_fields(schema: &mut RefOr<Schema>) {
    match schema {
        RefOr::T(Schema::Object(object)) => rename_fields_of(object),
        RefOr::T(Schema::OneOf(one_of)) => one_of.items.iter_mut().for_each(rename_fields),
        _ => {}
    }
}

fn rename_fields_of(object: &mut Object) {
    object.required.iter_mut().for_each(|name| *name = camel_case(name));
    let properties = std::mem::take(&mut object.properties).into_iter();
    object.properties = properties
        .map(|(name, mut schema)| {
            rename_fields(&mut schema);
            (camel_case(&name), schema)
        })
        .collect();
}

/// `timeout_is_value` → `timeoutIsValue`.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &word[..1].to_uppercase() + &word[1..])
}

/// `runStarted` → `RunStartedEvent`.
fn schema_name(kind: &str) -> String {
    let (first, rest) = kind.split_at(1);
    format!("{}{rest}Event", first.to_uppercase())
}

/// The types of events, each with what it holds. They are stored, and so derived, as `{"runStarted": {…}}`.
fn kinds() -> impl Iterator<Item = (String, Object)> {
    let RefOr::T(Schema::OneOf(kinds)) = EventKind::schema() else {
        unreachable!("an enum of structs is one of several")
    };
    kinds.items.into_iter().map(|kind| {
        let RefOr::T(Schema::Object(kind)) = kind else { unreachable!("each is an object") };
        let mut properties = kind.properties.into_iter();
        let Some((name, RefOr::T(Schema::Object(mut data)))) = properties.next() else {
            unreachable!("with one object inside")
        };
        rename_fields_of(&mut data);
        data.description = kind.description;
        (name, data)
    })
}

fn schema_of(kind: &str, mut data: Object) -> RefOr<Schema> {
    let description = data.description.take();
    let named = ObjectBuilder::new().schema_type(Type::String).enum_values(Some([kind]));
    let about = OneOfBuilder::new()
        .item(Object::with_type(Type::Null))
        .item(Ref::from_schema_name(Path::name()))
        .description(Some("The node that it is about."));
    let asked_by = ObjectBuilder::new().schema_type(Type::String).description(Some(
        "Who asked for it, if a request made it happen and said so: the name of a token, or of a user.",
    ));
    let event = ObjectBuilder::new()
        .description(description)
        .property("seq", Ref::from_schema_name(Seq::name()))
        .property("at", Ref::from_schema_name(Time::name()))
        .property("type", named)
        .property("node", about)
        .property("cause", Ref::from_schema_name(CauseReply::name()))
        .property("by", asked_by)
        .property("data", data);
    ["seq", "at", "type", "node", "cause", "data"].into_iter().fold(event, ObjectBuilder::required).into()
}
