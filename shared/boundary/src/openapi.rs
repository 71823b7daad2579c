//! OpenAPI 3.1 from the functions' own operations and types.
//!
//! Paths, methods, operation ids, words and who may call come from the [`Operation`]s that are really routed;
//! parameters, bodies and answers come from the types of the handlers' arguments and answers, which describe
//! themselves. Nothing here is part of a deployed function: only the local cloud and the tests walk a list of
//! operations with a [`Document`].

use std::sync::Arc;

use axum::handler::Handler;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::http::{Access, Operation, Operations, PROBLEM_TYPES, ProblemType};

/// What a handler's argument adds to the OpenAPI document.
pub trait DescribeExtractor {
    /// Adds it to the operation's entry; most arguments add nothing.
    fn describe(_: &mut OperationEntry, _: &mut SchemaGenerator) {}
}

/// What a handler's response adds to the OpenAPI document.
pub trait DescribeResponse {
    /// Adds it to the operation's entry.
    fn describe(_: &mut OperationEntry, _: &mut SchemaGenerator) {}
}

/// A handler whose arguments and response describe themselves.
pub trait Documented<Arguments> {
    /// Describes them, in their order.
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator);
}

macro_rules! documented {
    ($($argument:ident)*) => {
        impl<F, Answering, Answer, $($argument),*> Documented<($($argument,)*)> for F
        where
            F: Fn($($argument),*) -> Answering,
            Answering: Future<Output = Answer>,
            Answer: DescribeResponse,
            $($argument: DescribeExtractor),*
        {
            fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
                $($argument::describe(entry, schemas);)*
                Answer::describe(entry, schemas);
            }
        }
    };
}
documented!();
documented!(A);
documented!(A B);
documented!(A B C);
documented!(A B C D);
documented!(A B C D E);
documented!(A B C D E G);
documented!(A B C D E G H);
documented!(A B C D E G H I);

/// One operation's part of the document, as its arguments and answer fill it in.
#[derive(Debug, Default)]
pub struct OperationEntry {
    path: Vec<Value>,
    query: Vec<Value>,
    headers: Vec<Value>,
    body: Option<(bool, Schema)>,
    responses: Vec<(u16, Option<Schema>)>,
    etag: bool,
    refusals: Vec<u16>,
}

impl OperationEntry {
    /// It has a part in its path.
    pub fn path_parameter(&mut self, name: &str, meaning: &str) {
        self.path.push(parameter("path", name, meaning, true));
    }

    /// It reads a header.
    pub fn header_parameter(&mut self, name: &str, meaning: &str, required: bool) {
        self.headers.push(parameter("header", name, meaning, required));
    }

    /// It reads a body of that shape.
    pub fn request_body(&mut self, required: bool, shape: Schema) {
        self.body = Some((required, shape));
        self.errors(&[400, 413, 422]);
    }

    /// It reads a query: each field of the shape is a parameter of its own.
    pub fn query_parameters(&mut self, shape: Schema, schemas: &mut SchemaGenerator) {
        let schema = shape.to_value();
        let name =
            schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()).map(str::to_owned);
        // The struct is spelled out as parameters, so its own schema is not part of the document.
        let schema =
            name.and_then(|name| schemas.definitions_mut().remove(&name)).unwrap_or(schema);
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let properties = schema["properties"].as_object().cloned().unwrap_or_default();
        self.query.extend(properties.into_iter().map(|(name, mut schema)| {
            let description = schema.as_object_mut().and_then(|s| s.remove("description"));
            json!({
                "name": name, "in": "query", "required": required.contains(&json!(name)),
                "description": description, "schema": schema,
            })
        }));
        self.errors(&[422]);
    }

    /// It can refuse with these statuses.
    pub fn errors(&mut self, statuses: &[u16]) {
        self.refusals.extend_from_slice(statuses);
    }

    /// It succeeds with that status, and a body of that shape.
    pub fn response(&mut self, status: u16, shape: Option<Schema>) {
        self.responses.push((status, shape));
    }

    /// Its response has an `ETag`: a reader who has that version gets 304.
    pub const fn has_etag(&mut self) {
        self.etag = true;
    }

    fn render(self, tag: &str, operation: &Operation) -> Value {
        let mut responses = Map::new();
        let mut answers = self.responses;
        if !operation.statuses.is_empty() {
            let shape = answers.pop().and_then(|(_, shape)| shape);
            answers = operation.statuses.iter().map(|status| (*status, shape.clone())).collect();
        } else if answers.is_empty() {
            answers.push((200, None));
        }
        if self.etag && operation.method == "GET" {
            responses.insert("304".to_owned(), json!({ "description": "You have this version." }));
        }
        for (status, shape) in answers {
            responses.insert(status.to_string(), answer(status, operation.media_types, shape));
        }
        let mut refusals = self.refusals;
        refusals.extend_from_slice(operation.error_statuses);
        refusals.push(500);
        if operation.access != Access::Public {
            refusals.push(401);
        }
        if matches!(operation.access, Access::Role(_) | Access::Optional(_)) {
            refusals.push(403);
        }
        let body = match (self.body, operation.body_media_type) {
            (Some((required, shape)), media) => {
                Some((required, media.unwrap_or("application/json"), shape.to_value()))
            }
            (None, Some(media)) => Some((true, media, json!({ "type": "string" }))),
            (None, None) => None,
        };
        if body.is_some() {
            refusals.extend([400, 413, 422]);
        }
        for status in refusals {
            responses.insert(status.to_string(), problem(status));
        }
        let parameters = [self.path, self.query, self.headers].concat();
        let mut rendered = json!({
            "operationId": operation.id,
            "tags": [tag],
            "summary": operation.summary,
            "parameters": parameters,
            "responses": responses,
            "security": match operation.access {
                Access::Public => json!([]),
                Access::Optional(_) => json!([{}, { "apiKey": [] }]),
                Access::Key | Access::Role(_) => json!([{ "apiKey": [] }]),
            },
        });
        if !operation.description.is_empty() {
            rendered["description"] = json!(operation.description);
        }
        if let Access::Role(role) | Access::Optional(role) = operation.access {
            rendered["x-role"] = json!(role.name());
        }
        if let Some((required, media, shape)) = body {
            rendered["requestBody"] =
                json!({ "required": required, "content": { media: { "schema": shape } } });
        }
        rendered
    }
}

fn parameter(place: &str, name: &str, meaning: &str, required: bool) -> Value {
    json!({
        "name": name, "in": place, "required": required, "description": meaning,
        "schema": { "type": "string" },
    })
}

fn answer(status: u16, media: &[&str], shape: Option<Schema>) -> Value {
    let description = match status {
        201 => "Created.",
        204 => "Done; nothing to say.",
        301 | 302 | 307 | 308 => "Go there.",
        _ => "As asked.",
    };
    if !media.is_empty() {
        let content: Map<String, Value> =
            media.iter().map(|media| ((*media).to_owned(), json!({}))).collect();
        return json!({ "description": description, "content": content });
    }
    match shape {
        Some(shape) => json!({
            "description": description,
            "content": { "application/json": { "schema": shape } },
        }),
        None => json!({ "description": description }),
    }
}

/// The document under construction: it walks the systems' lists of operations.
#[derive(Debug)]
pub struct Document {
    schemas: SchemaGenerator,
    paths: Map<String, Value>,
    tags: Vec<Value>,
    tag: String,
    operations: Vec<Operation>,
}

impl Default for Document {
    fn default() -> Self {
        let settings = SchemaSettings::draft2020_12()
            .with(|settings| settings.definitions_path = "/components/schemas".into());
        Self {
            schemas: settings.into_generator(),
            paths: Map::new(),
            tags: Vec::new(),
            tag: String::new(),
            operations: Vec::new(),
        }
    }
}

impl<S> Operations<S> for Document {
    fn on<Arguments, Described, H>(&mut self, operation: Operation, _: H)
    where
        H: Handler<Arguments, Arc<S>> + Documented<Described>,
        Arguments: 'static,
    {
        let mut entry = OperationEntry::default();
        H::describe(&mut entry, &mut self.schemas);
        self.add(operation, entry);
    }
}

impl Document {
    /// Heads the operations that follow, which are `system`'s.
    pub fn tag(&mut self, system: &str, tag: &str, about: &str) {
        tag.clone_into(&mut self.tag);
        self.tags.push(json!({ "name": tag, "description": about, "x-system": system }));
    }

    /// Adds an operation that is answered without a router.
    pub fn add(&mut self, operation: Operation, entry: OperationEntry) {
        let path = self.paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method.to_lowercase()] = entry.render(&self.tag, &operation);
        self.operations.push(operation);
    }

    /// Every operation so far.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The whole document.
    pub fn finish(mut self, version: &str) -> Value {
        let mut schemas = self.schemas.take_definitions(true);
        schemas.insert("Problem".to_owned(), problem_schema());
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": "Switchyard",
                "version": version,
                "summary": "Serverless building blocks",
                "description": guide(),
                "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
            },
            "servers": [{ "url": "/" }],
            "tags": self.tags,
            "paths": self.paths,
            "components": {
                "schemas": schemas,
                "securitySchemes": {
                    "apiKey": {
                        "type": "http", "scheme": "bearer", "bearerFormat": "keyId.secret",
                        "description": "An API key, or a token of the configured OIDC issuer.",
                    },
                },
            },
            "x-problems": PROBLEM_TYPES.iter().map(|kind| json!({
                "type": format!("/docs#{}", kind.slug), "status": kind.status.as_u16(),
                "title": kind.title, "advice": kind.advice,
            })).collect::<Vec<_>>(),
        })
    }
}

/// What holds for every operation, and the entry that each problem's `type` leads to.
fn guide() -> String {
    let entry = |kind: &&ProblemType| {
        let ProblemType { slug, status, title, advice } = kind;
        let stop = if title.ends_with('?') { "" } else { "." };
        format!("\n### {slug}\n\n**{}** {title}{stop} {advice}\n", status.as_u16())
    };
    let entries: String = PROBLEM_TYPES.iter().map(entry).collect();
    format!("{}{entries}", include_str!("openapi/guide.md"))
}

fn problem(status: u16) -> Value {
    let titles: Vec<&str> = PROBLEM_TYPES
        .iter()
        .filter(|kind| kind.status.as_u16() == status)
        .map(|kind| kind.title)
        .collect();
    json!({
        "description": titles.join(" / "),
        "content": {
            "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } },
        },
    })
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
