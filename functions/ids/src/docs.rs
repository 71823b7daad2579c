//! The sentences about this function in the OpenAPI document.

use boundary::openapi::{Doc, shape};

use crate::{Anatomy, Ids, Wanted};

/// What the section is about.
pub const ABOUT: &str = "64-bit ids that are unique and sorted by time, without a server to ask.";

/// One entry an operation.
pub fn docs() -> Vec<Doc> {
    vec![
        Doc {
            description: "Ids come in ascending order. A node leases a range of time with one \
                          conditional write and gives out up to 4,096 ids a millisecond from it.",
            query: Some(shape::<Wanted>()),
            answer: Some(shape::<Ids>()),
            problems: &[503],
            ..Doc::new("makeIds", "Make ids")
        },
        Doc {
            path: &[("id", "An id, decimal or in its 11-character form.")],
            answer: Some(shape::<Anatomy>()),
            problems: &[422],
            ..Doc::new("readId", "Read an id")
        },
    ]
}
