//! What a change is answered with.

use axum::response::{IntoResponse, Response};
use boundary::http::{Created, Json, Versioned};
use boundary::openapi::{DescribeResponse, OperationEntry};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;

/// The thing at the path after a change.
#[derive(Debug)]
pub(crate) enum SavedResponse<T> {
    /// It was not there before: 201, with where it is.
    Created(Versioned<Created<T>>),
    /// As it is now.
    Replaced(Versioned<Json<T>>),
    /// As it would be: nothing is changed.
    DryRun(Json<T>),
}

impl<T> SavedResponse<T> {
    /// It is at `version` now, and was created at `location` if it was not there before.
    pub(crate) fn saved(version: u64, location: Option<String>, body: T) -> Self {
        match location {
            Some(location) => Self::Created(Versioned(version, Created { location, body })),
            None => Self::Replaced(Versioned(version, Json(body))),
        }
    }
}

impl<T: Serialize> IntoResponse for SavedResponse<T> {
    fn into_response(self) -> Response {
        match self {
            Self::Created(created) => created.into_response(),
            Self::Replaced(replaced) => replaced.into_response(),
            Self::DryRun(dry_run) => dry_run.into_response(),
        }
    }
}

impl<T: JsonSchema> DescribeResponse for SavedResponse<T> {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        <Json<T> as DescribeResponse>::describe(entry, schemas);
        Created::<T>::describe(entry, schemas);
    }
}
