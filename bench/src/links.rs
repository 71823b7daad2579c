//! Links: what following, making and counting them costs, in instructions, calls and dollars.

mod clicks;
mod client;
pub(crate) mod dollars;
mod handler;
mod load;
mod local_cloud;
mod log;
mod operations;

use crate::table::Part;
pub(crate) use client::Client;
pub(crate) use handler::{cpu_each, instructions_each};
pub(crate) use local_cloud::LocalCloud;
pub(crate) use log::{Cost, Log};

/// The handler in process, the local HTTP API under load, and what each operation calls and costs; the whole
/// takes a quarter of an hour the first time, most of it compiling.
pub(crate) const PARTS: &[Part] = &[
    ("process", || Ok(vec![handler::measure()?])),
    ("load", || Ok(vec![load::measure()?])),
    ("calls", || {
        let (table, counted) = operations::measure()?;
        Ok([table].into_iter().chain(dollars::tables(&counted)).collect())
    }),
];
