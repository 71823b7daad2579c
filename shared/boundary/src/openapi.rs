//! OpenAPI 3.1 from the functions' own routes and types.
//!
//! Paths, methods, operation ids and who may call come from the [`Operation`]s that are really
//! routed; shapes come from the types that are really read and written. Only the sentences are
//! written by hand, in each function's `docs.rs`. Nothing here is part of a deployed function.

use http::Method;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::http::{Access, KINDS, Operation};

/// Renders a type's schema.
pub type Shape = fn(&mut SchemaGenerator) -> Schema;

/// The shape of `T`.
pub fn shape<T: JsonSchema>() -> Shape {
    |generator| generator.subschema_for::<T>()
}

/// The sentences about one operation.
#[derive(Debug, Clone)]
pub struct Doc {
    /// Which operation.
    pub id: &'static str,
    /// One line.
    pub summary: &'static str,
    /// More, if there is more to say.
    pub description: &'static str,
    /// The parts of the path: name and meaning.
    pub path: &'static [(&'static str, &'static str)],
    /// The query's shape.
    pub query: Option<Shape>,
    /// The body's shape.
    pub body: Option<Shape>,
    /// Whether the body may be left out.
    pub body_optional: bool,
    /// Request headers beside the usual: name, meaning, required.
    pub headers: &'static [(&'static str, &'static str, bool)],
    /// The status when it worked.
    pub status: u16,
    /// The answer's shape; `None` for no body.
    pub answer: Option<Shape>,
    /// The answer's media types where it is not JSON.
    pub media: &'static [&'static str],
    /// The body's media type.
    pub body_media: &'static str,
    /// The statuses it can refuse with, beside those every operation has.
    pub problems: &'static [u16],
}

impl Doc {
    /// A start with everything optional left out.
    pub const fn new(id: &'static str, summary: &'static str) -> Self {
        Self {
            id,
            summary,
            description: "",
            path: &[],
            query: None,
            body: None,
            body_optional: false,
            headers: &[],
            status: 200,
            answer: None,
            media: &[],
            body_media: "application/json",
            problems: &[],
        }
    }
}

/// An operation that is routed, without its handler.
#[derive(Debug, Clone)]
pub struct Routed {
    /// Its method.
    pub method: Method,
    /// Its path.
    pub path: &'static str,
    /// Its name.
    pub id: &'static str,
    /// Who may call it.
    pub access: Access,
}

impl<S> From<&Operation<S>> for Routed {
    fn from(operation: &Operation<S>) -> Self {
        Self {
            method: operation.method.clone(),
            path: operation.path,
            id: operation.id,
            access: operation.access,
        }
    }
}

/// One function's part of the document.
#[derive(Debug)]
pub struct Section {
    /// How the section is headed.
    pub tag: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// What is routed.
    pub routed: Vec<Routed>,
    /// What is said about it.
    pub docs: Vec<Doc>,
}

/// The whole document.
///
/// # Errors
/// Names the operation that has no sentences, or the sentences that have no operation.
pub fn document(version: &str, sections: &[Section]) -> Result<Value, String> {
    let mut generator = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into())
        .into_generator();
    let mut paths = Map::new();
    for section in sections {
        for routed in &section.routed {
            let doc = section
                .docs
                .iter()
                .find(|doc| doc.id == routed.id)
                .ok_or_else(|| format!("{} is routed but not documented", routed.id))?;
            let path = paths.entry(routed.path).or_insert_with(|| json!({}));
            path[routed.method.as_str().to_lowercase()] =
                operation(section.tag, routed, doc, &mut generator);
        }
        let routed = |doc: &&Doc| section.routed.iter().all(|routed| routed.id != doc.id);
        if let Some(doc) = section.docs.iter().find(routed) {
            return Err(format!("{} is documented but not routed", doc.id));
        }
    }
    let tags: Vec<Value> = sections
        .iter()
        .map(|section| json!({ "name": section.tag, "description": section.about }))
        .collect();
    let mut schemas = generator.take_definitions(true);
    schemas.insert("Problem".to_owned(), problem_schema());
    Ok(json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Switchyard",
            "version": version,
            "summary": "Serverless building blocks",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "tags": tags,
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "apiKey": {
                    "type": "http", "scheme": "bearer", "bearerFormat": "keyId.secret",
                    "description": "An API key, or a token of the configured OIDC issuer.",
                },
            },
        },
        "x-problems": KINDS.iter().map(|kind| json!({
            "type": format!("/docs#{}", kind.slug), "status": kind.status.as_u16(),
            "title": kind.title, "advice": kind.advice,
        })).collect::<Vec<_>>(),
    }))
}

fn operation(tag: &str, routed: &Routed, doc: &Doc, generator: &mut SchemaGenerator) -> Value {
    let mut parameters: Vec<Value> = Vec::new();
    for (name, meaning) in doc.path {
        parameters.push(json!({
            "name": name, "in": "path", "required": true, "description": meaning,
            "schema": { "type": "string" },
        }));
    }
    if let Some(query) = doc.query {
        parameters.extend(query_parameters(query, generator));
    }
    for (name, meaning, required) in doc.headers {
        parameters.push(json!({
            "name": name, "in": "header", "required": required, "description": meaning,
            "schema": { "type": "string" },
        }));
    }
    let mut responses = Map::new();
    responses.insert(doc.status.to_string(), answer(doc, generator));
    let mut refusals: Vec<u16> = doc.problems.to_vec();
    refusals.extend([500]);
    if routed.access != Access::Public {
        refusals.push(401);
    }
    if matches!(routed.access, Access::Role(_) | Access::Optional(_)) {
        refusals.push(403);
    }
    if doc.body.is_some() {
        refusals.extend([400, 413, 422]);
    }
    if doc.query.is_some() {
        refusals.push(422);
    }
    for status in refusals {
        responses.insert(status.to_string(), problem(status));
    }
    let mut operation = json!({
        "operationId": routed.id,
        "tags": [tag],
        "summary": doc.summary,
        "parameters": parameters,
        "responses": responses,
        "security": match routed.access {
            Access::Public => json!([]),
            Access::Optional(_) => json!([{}, { "apiKey": [] }]),
            Access::Key | Access::Role(_) => json!([{ "apiKey": [] }]),
        },
    });
    if !doc.description.is_empty() {
        operation["description"] = json!(doc.description);
    }
    if let Access::Role(role) | Access::Optional(role) = routed.access {
        operation["x-role"] = json!(role.name());
    }
    if let Some(body) = doc.body {
        operation["requestBody"] = json!({
            "required": !doc.body_optional,
            "content": { doc.body_media: { "schema": body(generator) } },
        });
    }
    operation
}

fn answer(doc: &Doc, generator: &mut SchemaGenerator) -> Value {
    let description = match doc.status {
        201 => "Created.",
        204 => "Done; nothing to say.",
        302 => "Go there.",
        _ => "As asked.",
    };
    if !doc.media.is_empty() {
        let content: Map<String, Value> =
            doc.media.iter().map(|media| ((*media).to_owned(), json!({}))).collect();
        return json!({ "description": description, "content": content });
    }
    match doc.answer {
        Some(shape) => json!({
            "description": description,
            "content": { "application/json": { "schema": shape(generator) } },
        }),
        None => json!({ "description": description }),
    }
}

fn problem(status: u16) -> Value {
    let titles: Vec<&str> =
        KINDS.iter().filter(|kind| kind.status.as_u16() == status).map(|kind| kind.title).collect();
    json!({
        "description": titles.join(" / "),
        "content": {
            "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } },
        },
    })
}

/// A query struct's fields, each as a parameter of its own.
fn query_parameters(query: Shape, generator: &mut SchemaGenerator) -> Vec<Value> {
    let schema = query(generator).to_value();
    let name = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()).map(str::to_owned);
    // The struct is spelled out as parameters, so its own schema is not part of the document.
    let schema = name.and_then(|name| generator.definitions_mut().remove(&name)).unwrap_or(schema);
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    properties
        .into_iter()
        .map(|(name, mut schema)| {
            let description = schema.as_object_mut().and_then(|s| s.remove("description"));
            json!({
                "name": name, "in": "query", "required": required.contains(&json!(name)),
                "description": description, "schema": schema,
            })
        })
        .collect()
}

fn problem_schema() -> Value {
    json!({
        "type": "object",
        "description": "What went wrong (RFC 9457).",
        "required": ["type", "title", "status", "detail", "instance"],
        "properties": {
            "type": { "type": "string", "description": "Names the kind of problem; explained in /docs." },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string", "description": "What was wrong this time." },
            "instance": { "type": "string", "description": "The path that was asked." },
            "errors": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["field", "detail"],
                    "properties": { "field": { "type": "string" }, "detail": { "type": "string" } },
                },
            },
        },
    })
}
