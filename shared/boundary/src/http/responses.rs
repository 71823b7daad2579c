//! The responses of handlers. Each describes itself for the OpenAPI document; a [`Problem`] is what went wrong.

use std::marker::PhantomData;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use store::idempotency::StoredResponse;

use super::{Json, Result};
use crate::openapi::{DescribeResponse, OperationEntry};

/// A response that can be stored, so that a repeat of the request gets it again.
pub trait Storable {
    /// Its status, its body, `Location` and `ETag`.
    fn stored(&self) -> StoredResponse;
}

fn render(stored: StoredResponse) -> Response {
    let mut response = Response::new(Body::from(stored.body));
    *response.status_mut() = StatusCode::from_u16(stored.status).unwrap_or(StatusCode::OK);
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    for (name, value) in [(header::LOCATION, stored.location), (header::ETAG, stored.etag)] {
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
        render(self.stored())
    }
}

impl<T: JsonSchema> DescribeResponse for Json<T> {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        entry.response(200, Some(schemas.subschema_for::<T>()));
    }
}

/// 201, with where the new thing is.
#[derive(Debug, Clone)]
pub struct Created<T> {
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
        render(self.stored())
    }
}

impl<T: JsonSchema> DescribeResponse for Created<T> {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        entry.response(201, Some(schemas.subschema_for::<T>()));
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
        render(self.stored())
    }
}

impl<T: JsonSchema> DescribeResponse for Upserted<T> {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        entry.response(200, Some(schemas.subschema_for::<T>()));
        entry.response(201, Some(schemas.subschema_for::<T>()));
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
        render(self.stored())
    }
}

impl<T: JsonSchema> DescribeResponse for Accepted<T> {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        entry.response(202, Some(schemas.subschema_for::<T>()));
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

impl DescribeResponse for NoContent {
    fn describe(entry: &mut OperationEntry, _: &mut SchemaGenerator) {
        entry.response(204, None);
    }
}

/// A response with its version as a strong `ETag`.
#[derive(Debug, Clone)]
pub struct Versioned<A>(pub u64, pub A);

impl<A: Storable> Storable for Versioned<A> {
    fn stored(&self) -> StoredResponse {
        StoredResponse { etag: Some(format!("\"{}\"", self.0)), ..self.1.stored() }
    }
}

impl<A: Storable> IntoResponse for Versioned<A> {
    fn into_response(self) -> Response {
        render(self.stored())
    }
}

impl<A: DescribeResponse> DescribeResponse for Versioned<A> {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        entry.has_etag();
        A::describe(entry, schemas);
    }
}

/// A response that is stored under the request's `Idempotency-Key`, or the one that was stored before.
#[derive(Debug, Clone)]
pub struct Repeatable<A> {
    response: StoredResponse,
    is_repeat: bool,
    answer: PhantomData<fn() -> A>,
}

impl<A: Storable> Repeatable<A> {
    /// The response to a request that is carried out now.
    pub fn first(answer: &A) -> Self {
        Self { response: answer.stored(), is_repeat: false, answer: PhantomData }
    }
}

impl<A> Repeatable<A> {
    /// The response to an earlier request with the key.
    pub const fn again(stored: StoredResponse) -> Self {
        Self { response: stored, is_repeat: true, answer: PhantomData }
    }

    pub const fn stored(&self) -> &StoredResponse {
        &self.response
    }

    /// Whether it is the response to an earlier request.
    pub const fn is_repeat(&self) -> bool {
        self.is_repeat
    }
}

impl<A> IntoResponse for Repeatable<A> {
    fn into_response(self) -> Response {
        let mut response = render(self.response);
        if self.is_repeat {
            let name = HeaderName::from_static("idempotent-replayed");
            response.headers_mut().insert(name, HeaderValue::from_static("true"));
        }
        response
    }
}

impl<A: DescribeResponse> DescribeResponse for Repeatable<A> {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
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
impl DescribeResponse for Text {}

/// Built by the handler: its status and media types are the operation's to declare.
impl DescribeResponse for Response {}

impl<A: DescribeResponse, H> DescribeResponse for (H, A) {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        A::describe(entry, schemas);
    }
}

impl<A: DescribeResponse> DescribeResponse for Result<A> {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        A::describe(entry, schemas);
    }
}
