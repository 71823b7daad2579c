//! What the HTTP function answers, one file a subject.

pub(crate) mod bulk;
pub mod docs;
pub(crate) mod listing;
pub(crate) mod manage;
pub(crate) mod read;
pub(crate) mod submit;
pub(crate) mod types;
pub(crate) mod view;
pub(crate) mod workers;
