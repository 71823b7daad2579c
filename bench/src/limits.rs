//! Limits: what a decision costs beside two libraries, what a node keeps in memory, what the
//! firewall takes, and what each operation asks of the store.

mod decision;
mod dollars;
mod firewall;
mod governor;
#[cfg(feature = "limitador")]
mod limitador;
mod memory;
mod operations;
mod ours;
mod path;
mod timing;

use std::time::{SystemTime, UNIX_EPOCH};

use crate::table::Part;

pub(crate) const PARTS: &[Part] = &[
    ("decision", || Ok(vec![decision::measure()?])),
    ("path", || Ok(vec![path::measure()?])),
    ("memory", || Ok(vec![memory::measure()?])),
    ("firewall", || Ok(vec![firewall::measure()?])),
    ("calls", || {
        let (table, counted) = operations::measure()?;
        Ok(vec![table, dollars::table(&counted)])
    }),
];

fn unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
