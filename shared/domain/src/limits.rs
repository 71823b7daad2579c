//! Limits: may this pass? Decided on the node, right across all of them.
//!
//! A node debits units from a shared [`counter`] before it spends them, so all nodes together never
//! pass a [`quota`]. What it holds is in its [`ledger`]. A [`firewall`] is asked before anything is
//! counted, and [`rules`] say what is. What was asked lately is kept as [`history`].

pub mod budget;
pub mod counter;
pub mod dry_run;
pub mod firewall;
pub mod heavy;
pub mod history;
pub mod ledger;
pub mod quota;
pub mod rule;
pub mod sketch;

pub use quota::{Algorithm, Quota};
