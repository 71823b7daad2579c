//! Notifications: what each operation asks of the store and costs, how long accepting takes while
//! everything is delivered, and how a provider's rate is shared with a million waiting.

mod fairness;
mod load;
mod operations;

use crate::table::Part;

pub(crate) const PARTS: &[Part] = &[
    ("calls", operations::measure),
    ("load", load::measure),
    ("fairness", || Ok(vec![fairness::measure()])),
];
