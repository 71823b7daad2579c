//! Limits: may this pass? Decided on the node, right across all of them.
//!
//! A node debits units from a shared [`counter`] before it spends them, so all nodes together never
//! pass a [`quota`]. What it holds is in its [`ledger`]. A [`firewall`] is asked before anything is
//! counted, and [`rules`] say what is. What was asked lately is kept as [`history`].

pub mod budget;
pub mod caller;
pub mod count_min_sketch;
pub mod counter;
mod defaults;
pub mod dry_run;
pub mod firewall;
pub mod headers;
pub mod heavy_hitters;
pub mod history;
pub mod ledger;
mod methods;
#[cfg(test)]
mod model;
mod pattern;
pub mod quota;
mod rejected;
pub mod rule;
pub mod rules;

pub use caller::CallerRef;
pub use quota::{Algorithm, Quota};
pub use rejected::Rejected;
pub use rule::{Dimension, Override, OverrideDraft, Rule, RuleDraft};
pub use rules::{AppliedRule, Exemptions, RuleSet};
