//! Limits: may this pass? Decided on the node, right across all of them.
//!
//! A node debits units from a shared [`counter`] before it spends them, so all nodes together never
//! pass a [`quota`].

pub mod budget;
pub mod counter;
pub mod ledger;
pub mod quota;
pub mod rule;
pub mod sketch;

pub use quota::{Algorithm, Quota};
