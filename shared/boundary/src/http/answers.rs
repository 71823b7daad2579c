//! What handlers answer with. Each says for the document what it is; a [`Problem`] is what went wrong.

use std::marker::PhantomData;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use store::idempotency::StoredResponse;

use super::{Json, Problem};
use crate::openapi::{DescribeAnswer, Entry};

/// An answer that can be kept, so that a repeat of the request gets it again.
pub trait Storable {
    /// Its status, body and the headers that mean something to the caller.
    fn stored(&self) -> StoredResponse;
}

fn rendered(kept: StoredResponse) -> Response {
    let mut response = Response::new(Body::from(kept.body));
    *response.status_mut() = StatusCode::from_u16(kept.status).unwrap_or(StatusCode::OK);
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    for (name, value) in [(header::LOCATION, kept.location), (header::ETAG, kept.etag)] {
        // Anything a header can't hold is left out.
        if let Some(Ok(value)) = value.map(HeaderValue::try_from) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn json(status: StatusCode, body: &impl Serialize) -> StoredResponse {
    let body = serde_json::to_vec(body).unwrap_or_default();
    StoredResponse { status: status.as_u16(), location: None, etag: None, body }
}

impl<T: Serialize> Storable for Json<T> {
    fn stored(&self) -> StoredResponse {
        json(StatusCode::OK, &self.0)
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        rendered(self.stored())
    }
}

impl<T: JsonSchema> DescribeAnswer for Json<T> {
    fn describe(entry: &mut Entry, schemas: &mut SchemaGenerator) {
        entry.answers(200, Some(schemas.subschema_for::<T>()));
    }
}

/// 201, with where the new thing is.
#[derive(Debug, Clone)]
pub struct Created<T> {
    /// Its path.
    pub location: String,
    /// What the caller is shown of it.
    pub body: T,
}

impl<T: Serialize> Storable for Created<T> {
    fn stored(&self) -> StoredResponse {
        StoredResponse {
            location: Some(self.location.clone()),
            ..json(StatusCode::CREATED, &self.body)
        }
    }
}

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        rendered(self.stored())
    }
}

impl<T: JsonSchema> DescribeAnswer for Created<T> {
    fn describe(entry: &mut Entry, schemas: &mut SchemaGenerator) {
        entry.answers(201, Some(schemas.subschema_for::<T>()));
    }
}

/// The thing at the path as it is now: 201 if it was not there before.
#[derive(Debug, Clone)]
pub struct Upserted<T> {
    /// Whether it was not there before.
    pub is_new: bool,
    /// What the caller is shown of it.
    pub body: T,
}

impl<T: Serialize> Storable for Upserted<T> {
    fn stored(&self) -> StoredResponse {
        json(if self.is_new { StatusCode::CREATED } else { StatusCode::OK }, &self.body)
    }
}

impl<T: Serialize> IntoResponse for Upserted<T> {
    fn into_response(self) -> Response {
        rendered(self.stored())
    }
}

impl<T: JsonSchema> DescribeAnswer for Upserted<T> {
    fn describe(entry: &mut Entry, schemas: &mut SchemaGenerator) {
        entry.answers(200, Some(schemas.subschema_for::<T>()));
        entry.answers(201, Some(schemas.subschema_for::<T>()));
    }
}

/// 202: it will be done.
#[derive(Debug, Clone)]
pub struct Accepted<T>(pub T);

impl<T: Serialize> Storable for Accepted<T> {
    fn stored(&self) -> StoredResponse {
        json(StatusCode::ACCEPTED, &self.0)
    }
}

impl<T: Serialize> IntoResponse for Accepted<T> {
    fn into_response(self) -> Response {
        rendered(self.stored())
    }
}

impl<T: JsonSchema> DescribeAnswer for Accepted<T> {
    fn describe(entry: &mut Entry, schemas: &mut SchemaGenerator) {
        entry.answers(202, Some(schemas.subschema_for::<T>()));
    }
}

/// 204: done, and nothing to say.
#[derive(Debug, Clone, Copy)]
pub struct NoContent;

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

impl DescribeAnswer for NoContent {
    fn describe(entry: &mut Entry, _: &mut SchemaGenerator) {
        entry.answers(204, None);
    }
}

/// An answer with its version as a strong `ETag`.
#[derive(Debug, Clone)]
pub struct Versioned<A>(pub u64, pub A);

impl<A: Storable> Storable for Versioned<A> {
    fn stored(&self) -> StoredResponse {
        StoredResponse { etag: Some(format!("\"{}\"", self.0)), ..self.1.stored() }
    }
}

impl<A: Storable> IntoResponse for Versioned<A> {
    fn into_response(self) -> Response {
        rendered(self.stored())
    }
}

impl<A: DescribeAnswer> DescribeAnswer for Versioned<A> {
    fn describe(entry: &mut Entry, schemas: &mut SchemaGenerator) {
        entry.is_versioned();
        A::describe(entry, schemas);
    }
}

/// An answer that is kept under the request's `Idempotency-Key`, or the one that was kept before.
#[derive(Debug, Clone)]
pub struct Repeatable<A> {
    kept: StoredResponse,
    is_repeat: bool,
    answer: PhantomData<fn() -> A>,
}

impl<A: Storable> Repeatable<A> {
    /// The answer to a request that is carried out now.
    pub fn first(answer: &A) -> Self {
        Self { kept: answer.stored(), is_repeat: false, answer: PhantomData }
    }
}

impl<A> Repeatable<A> {
    /// The answer that was given before.
    pub const fn again(kept: StoredResponse) -> Self {
        Self { kept, is_repeat: true, answer: PhantomData }
    }

    /// What is to be kept of it.
    pub const fn stored(&self) -> &StoredResponse {
        &self.kept
    }

    /// Whether it is what an earlier request was answered with.
    pub const fn is_repeat(&self) -> bool {
        self.is_repeat
    }
}

impl<A> IntoResponse for Repeatable<A> {
    fn into_response(self) -> Response {
        let mut response = rendered(self.kept);
        if self.is_repeat {
            let name = HeaderName::from_static("idempotent-replayed");
            response.headers_mut().insert(name, HeaderValue::from_static("true"));
        }
        response
    }
}

impl<A: DescribeAnswer> DescribeAnswer for Repeatable<A> {
    fn describe(entry: &mut Entry, schemas: &mut SchemaGenerator) {
        A::describe(entry, schemas);
    }
}

/// Text that is not JSON, with its media type.
#[derive(Debug, Clone)]
pub struct Text(pub &'static str, pub String);

impl IntoResponse for Text {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, self.0)], self.1).into_response()
    }
}

/// Its media types are the operation's to declare.
impl DescribeAnswer for Text {}

/// Built by the handler: its status and media types are the operation's to declare.
impl DescribeAnswer for Response {}

impl<A: DescribeAnswer, H> DescribeAnswer for (H, A) {
    fn describe(entry: &mut Entry, schemas: &mut SchemaGenerator) {
        A::describe(entry, schemas);
    }
}

impl<A: DescribeAnswer> DescribeAnswer for Result<A, Problem> {
    fn describe(entry: &mut Entry, schemas: &mut SchemaGenerator) {
        A::describe(entry, schemas);
    }
}
