//! The sentences about this function in the OpenAPI document.

use boundary::openapi::{Doc, shape};

use crate::Health;

/// What the section is about.
pub const ABOUT: &str = "The service as a whole.";

/// One entry an operation.
pub fn docs() -> Vec<Doc> {
    vec![
        Doc { answer: Some(shape::<Health>()), ..Doc::new("readHealth", "Is it up?") },
        Doc::new("readDocument", "This document"),
        Doc::new("readDocs", "This document as a page"),
    ]
}
