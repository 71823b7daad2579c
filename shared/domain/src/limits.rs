//! Limits: may this pass? Decided on the node, right across all of them.
//!
//! A node debits units from a shared [`counter`] before it spends them, so all nodes together never
//! pass a [`quota`].

pub mod counter;
pub mod quota;
pub mod rule;

pub use quota::{Algorithm, Quota};
