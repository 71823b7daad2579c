//! The arguments of handlers (axum's extractors). Each reads one thing or rejects the request, and describes
//! itself for the OpenAPI document.
//!
//! Arguments are read in the order in which the handler names them, and the first one that refuses is the
//! answer. The body is in memory before a handler runs, so it may be named before the path.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use axum::extract::{FromRequestParts, OptionalFromRequestParts, RawPathParams, State};
use domain::accounts::Principal;
use http::request::Parts;
use http::{HeaderMap, header};
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;

use super::call::{parse_query, read_object};
use super::{Call, Problem, Result};
use crate::openapi::{DescribeExtractor, OperationEntry};

impl<S: Send + Sync> FromRequestParts<S> for Call {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        parts.extensions.get::<Self>().cloned().ok_or_else(Problem::panicked)
    }
}

impl DescribeExtractor for Call {}
impl DescribeExtractor for HeaderMap {}
impl<S> DescribeExtractor for State<S> {}

/// An argument that the handler rejects later: after the request's key is claimed, or after the 404 of the thing
/// in the path.
impl<A: DescribeExtractor> DescribeExtractor for Result<A> {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        A::describe(entry, schemas);
    }
}

/// The authenticated caller. `Option<Caller>` where an operation is open to anyone.
#[derive(Debug, Clone)]
pub struct Caller(pub Arc<Principal>);

impl Deref for Caller {
    type Target = Principal;

    fn deref(&self) -> &Principal {
        &self.0
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let caller = <Self as OptionalFromRequestParts<S>>::from_request_parts(parts, state);
        caller.await?.ok_or_else(Problem::unauthenticated)
    }
}

impl<S: Send + Sync> OptionalFromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>> {
        let call = parts.extensions.get::<Call>().ok_or_else(Problem::panicked)?;
        Ok(call.principal.clone().map(Self))
    }
}

impl DescribeExtractor for Caller {}
impl DescribeExtractor for Option<Caller> {}

/// A body in JSON, and an answer in JSON. As an argument: 400 if it is no JSON, 422 naming the field if it has
/// another shape; `Option<Json<T>>` where it may be left out.
#[derive(Debug, Clone)]
pub struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let call = parts.extensions.get::<Call>().ok_or_else(Problem::panicked)?;
        read_object(&call.body).map(Self)
    }
}

impl<T: DeserializeOwned, S: Send + Sync> OptionalFromRequestParts<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>> {
        let call = parts.extensions.get::<Call>().ok_or_else(Problem::panicked)?;
        if call.body.is_empty() { Ok(None) } else { read_object(&call.body).map(Self).map(Some) }
    }
}

impl<T: JsonSchema> DescribeExtractor for Json<T> {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        entry.request_body(true, schemas.subschema_for::<T>());
    }
}

impl<T: JsonSchema> DescribeExtractor for Option<Json<T>> {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        entry.request_body(false, schemas.subschema_for::<T>());
    }
}

/// The query, as a struct of that shape.
#[derive(Debug, Clone)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        parse_query(parts.uri.query().unwrap_or_default()).map(Self)
    }
}

impl<T: JsonSchema> DescribeExtractor for Query<T> {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        entry.query_parameters(schemas.subschema_for::<T>(), schemas);
    }
}

/// What a parameter in the path names. A system implements it for a marker type of its own.
pub trait Segment {
    /// What it is read as.
    type Value;
    /// Its name in the path, without the braces.
    const NAME: &'static str;
    /// What it means, for the document.
    const MEANING: &'static str;

    /// Reads it; what can't be read is usually not found.
    fn parse(text: &str) -> Result<Self::Value>;
}

/// A parameter in the path.
pub struct Path<G: Segment>(pub G::Value);

impl<G: Segment<Value: fmt::Debug>> fmt::Debug for Path<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(G::NAME).field(&self.0).finish()
    }
}

impl<G: Segment, S: Send + Sync> FromRequestParts<S> for Path<G> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let params = params.map_err(|_| Problem::panicked())?;
        let text = params.iter().find(|(name, _)| *name == G::NAME).map(|(_, text)| text);
        G::parse(text.unwrap_or_default()).map(Self)
    }
}

impl<G: Segment> DescribeExtractor for Path<G> {
    fn describe(entry: &mut OperationEntry, _: &mut SchemaGenerator) {
        entry.path_parameter(G::NAME, G::MEANING);
    }
}

/// The caller's `Idempotency-Key`, if they sent one.
#[derive(Debug, Clone)]
pub struct IdempotencyKey(pub Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let Some(value) = parts.headers.get("idempotency-key") else { return Ok(Self(None)) };
        let text = value.to_str().unwrap_or_default();
        if (1..=255).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic()) {
            Ok(Self(Some(text.to_owned())))
        } else {
            Err(Problem::field("Idempotency-Key", "1 to 255 printable ASCII characters, no spaces"))
        }
    }
}

impl DescribeExtractor for IdempotencyKey {
    fn describe(entry: &mut OperationEntry, _: &mut SchemaGenerator) {
        let meaning = "A repeat with the same key and body within 24 hours gets the first answer.";
        entry.header_parameter("Idempotency-Key", meaning, false);
        entry.errors(&[409, 422]);
    }
}

/// The version that `If-Match` names, from an `ETag` like `"3"`: 428 if it is missing, 412 if it is no version.
/// `Option<IfMatch>` where any version may be changed.
#[derive(Debug, Clone, Copy)]
pub struct IfMatch(pub u64);

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let version = <Self as OptionalFromRequestParts<S>>::from_request_parts(parts, state);
        version.await?.ok_or_else(Problem::version_required)
    }
}

impl<S: Send + Sync> OptionalFromRequestParts<S> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>> {
        let Some(value) = parts.headers.get(header::IF_MATCH) else { return Ok(None) };
        let text = value.to_str().unwrap_or_default().trim();
        let version = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let version = version.and_then(|text| text.parse().ok());
        version.map(|version| Some(Self(version))).ok_or_else(Problem::version_mismatch)
    }
}

impl DescribeExtractor for IfMatch {
    fn describe(entry: &mut OperationEntry, _: &mut SchemaGenerator) {
        entry.header_parameter("If-Match", "The `ETag` of the version you read.", true);
        entry.errors(&[412, 428]);
    }
}

impl DescribeExtractor for Option<IfMatch> {
    fn describe(entry: &mut OperationEntry, _: &mut SchemaGenerator) {
        let meaning = "The `ETag` of the version you read; any version if left out.";
        entry.header_parameter("If-Match", meaning, false);
        entry.errors(&[412]);
    }
}
