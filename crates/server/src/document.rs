//! The OpenAPI document: what holds for every route, and what utoipa's derives cannot say.

use axum::http::Method;
use rival_api::ProblemReply;
use serde_json::{Value as Json, json};
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::path::{ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{Object, SchemaType, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ComponentsBuilder, Content, OpenApi, Ref, RefOr, Response, Schema, Server};
use utoipa::{PartialSchema, ToSchema};

use crate::base_path::BasePath;
use crate::pages;
use crate::routes::RouteAccess;

/// The name of the bearer tokens in the document.
const SCHEME: &str = "token";
/// The scope that a token needs for an operation. Scopes of a bearer token have no place of their own in OpenAPI.
const SCOPE: &str = "x-required-scope";

/// Adds what operations refer to and do not bring along: tokens, and problems with all their codes.
pub(crate) fn add_components(document: &mut OpenApi) {
    let components = document.components.get_or_insert_with(|| ComponentsBuilder::new().build());
    let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    components.add_security_scheme(SCHEME, SecurityScheme::Http(scheme));
    let mut problem = ProblemReply::schema();
    if let Some(Schema::Object(problem)) = own(&mut problem)
        && let Some(Schema::Object(code)) = problem.properties.get_mut("code").and_then(own)
    {
        code.enum_values = Some(pages::codes().map(Into::into).collect());
    }
    let mut schemas = vec![(ProblemReply::name().into_owned(), problem)];
    ProblemReply::schemas(&mut schemas);
    components.schemas.extend(schemas);
}

/// The whole document, with schemas as generators of clients can use them.
pub(crate) fn finish(document: &OpenApi) -> Json {
    let mut json = serde_json::to_value(document).expect("the document has only string keys");
    let schemas = json["components"]["schemas"].as_object_mut().expect("there are schemas");
    let names: Vec<String> = schemas.keys().cloned().collect();
    for name in names {
        let mut schema = schemas[&name].take();
        name_variants(&name, &mut schema, schemas);
        schemas.insert(name, schema);
    }
    open_objects(&mut json);
    json
}

/// Gives the variants of a choice names of their own: generators make up bad ones, or refuse.
fn name_variants(name: &str, schema: &mut Json, schemas: &mut serde_json::Map<String, Json>) {
    let Some(variants) = schema.get_mut("oneOf").and_then(Json::as_array_mut) else { return };
    for variant in variants {
        let Some(properties) = variant.get_mut("properties").and_then(Json::as_object_mut) else { continue };
        let Some((property, content)) = properties.iter_mut().next() else { continue };
        let named = format!("{name}{}{}", property[..1].to_uppercase(), &property[1..]);
        if content.get("properties").is_some() {
            let content_name = format!("{named}Content");
            schemas.insert(content_name.clone(), std::mem::replace(content, reference(&content_name)));
        }
        schemas.insert(named.clone(), std::mem::replace(variant, reference(&named)));
    }
}

fn reference(name: &str) -> Json {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// An object of which nothing is said may have anything in it.
fn open_objects(json: &mut Json) {
    match json {
        Json::Object(object) => {
            let is_bare =
                object.get("type").is_some_and(|is| *is == "object" || *is == json!(["object", "null"]));
            if is_bare && !object.contains_key("properties") {
                object.entry("additionalProperties").or_insert(Json::Bool(true));
            }
            object.values_mut().for_each(open_objects);
        }
        Json::Array(items) => items.iter_mut().for_each(open_objects),
        _ => {}
    }
}

/// The document of a server that needs no token: one may be shown nevertheless.
pub(crate) fn without_tokens(document: &mut OpenApi) {
    let items = document.paths.paths.values_mut();
    for (_, operation) in items.flat_map(operations) {
        if let Some(security) = operation.security.as_mut().filter(|security| !security.is_empty()) {
            security.push(SecurityRequirement::default());
        }
    }
}

/// Says where the API is, for a server that a proxy gives a path.
pub(crate) fn serve_at(document: &mut OpenApi, base: &BasePath) {
    if !base.as_str().is_empty() {
        document.servers = Some(vec![Server::new(base.as_str())]);
    }
}

/// The operations of a path, by method.
pub(crate) fn operations(item: &mut PathItem) -> impl Iterator<Item = (Method, &mut Operation)> {
    let all = [
        (Method::GET, &mut item.get),
        (Method::PUT, &mut item.put),
        (Method::POST, &mut item.post),
        (Method::DELETE, &mut item.delete),
        (Method::PATCH, &mut item.patch),
    ];
    all.into_iter().filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}

/// Says in the document what holds for every route: the scope that it needs, and how it refuses.
pub(crate) fn describe(operation: &mut Operation, method: &Method, access: RouteAccess) {
    let token = access.scope.map(|_| SecurityRequirement::new(SCHEME, [""; 0]));
    operation.security = Some(token.into_iter().collect());
    if let Some(scope) = access.scope {
        let needs =
            format!("Needs a token with the scope `{}` where the server asks for tokens.", scope.as_str());
        let described = operation.description.get_or_insert_default();
        described.push_str("\n\n");
        described.push_str(&needs);
        operation.extensions.get_or_insert_default().insert(SCOPE.to_owned(), scope.as_str().into());
    }
    deny_null(operation);
    describe_headers(operation, access);
    let responses = &mut operation.responses.responses;
    for (status, why) in refusals(method, access) {
        responses.entry(status.to_owned()).or_insert_with(|| Response::new(why).into());
    }
    for (status, response) in &mut operation.responses.responses {
        if let Some(response) = own(response)
            && status.starts_with(['4', '5'])
        {
            let problem = Content::new(Some(Ref::from_schema_name(ProblemReply::name())));
            response.content.insert("application/problem+json".to_owned(), problem.into());
        }
    }
}

/// What the gate reads of a request by itself: the tag of an answer that the client has, and the ticket for a stream.
fn describe_headers(operation: &mut Operation, access: RouteAccess) {
    let mut add = |name: &str, place: ParameterIn, about: &str| {
        let parameter = ParameterBuilder::new()
            .name(name)
            .parameter_in(place)
            .description(Some(about))
            .schema(Some(Object::with_type(SchemaType::Type(Type::String))));
        operation.parameters.get_or_insert_default().push(parameter.build().into());
    };
    if access.stream {
        let about = "A ticket of `POST /api/stream/tickets`, in the place of a token: for browsers";
        add("ticket", ParameterIn::Query, about);
    }
    if access.tagged {
        add("If-None-Match", ParameterIn::Header, "The `ETag` of an answer that the client has");
        let same = Response::new("The answer is the one that the client has");
        operation.responses.responses.insert("304".to_owned(), same.into());
    }
}

/// What can be left out is not `null` when it is there, and utoipa's `Option` says both.
fn deny_null(operation: &mut Operation) {
    for parameter in operation.parameters.iter_mut().flatten().filter_map(own) {
        parameter.schema.as_mut().map(without_null);
    }
    if let Some(body) = operation.request_body.as_mut().and_then(own) {
        for content in body.content.values_mut().filter_map(own) {
            content.schema.as_mut().map(without_null);
        }
    }
}

fn own<T>(it: &mut RefOr<T>) -> Option<&mut T> {
    match it {
        RefOr::T(it) => Some(it),
        RefOr::Ref(_) => None,
    }
}

fn without_null(schema: &mut RefOr<Schema>) {
    match own(schema) {
        Some(Schema::Object(Object { schema_type: SchemaType::Array(types), .. })) => {
            types.retain(|it| *it != Type::Null);
        }
        Some(Schema::OneOf(one_of)) => {
            one_of.items.retain(|it| !is_null(it));
            if one_of.items.len() == 1 {
                *schema = one_of.items.remove(0);
            }
        }
        _ => {}
    }
}

fn is_null(schema: &RefOr<Schema>) -> bool {
    matches!(schema, RefOr::T(Schema::Object(Object { schema_type: SchemaType::Type(Type::Null), .. })))
}

/// What any route of this kind may answer, whatever it does. Each is named: a reader of the document, or a test
/// that uses it, knows that there is nothing else.
fn refusals(method: &Method, access: RouteAccess) -> Vec<(&'static str, &'static str)> {
    let mut refusals = vec![
        ("400", "It cannot be read, or something in it is wrong"),
        ("403", "The host, the origin or the token may not do this"),
        ("429", "Too many requests or streams; `Retry-After` says when to ask again"),
        ("500", "The server has a bug, or its store is damaged"),
        ("503", "It cannot work now; ask again"),
    ];
    if access.scope.is_some() {
        refusals.push(("401", "No valid token came with it"));
    }
    if *method != Method::GET {
        refusals.push(("408", "The body did not come in time"));
        refusals.push(("413", "The body is too large"));
        refusals.push(("415", "The body is not said to be JSON"));
    }
    refusals
}
