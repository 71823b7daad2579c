//! Links: what following, making and counting them costs, in instructions, calls and dollars.

mod clicks;
mod client;
pub(crate) mod dollars;
mod handler;
mod load;
mod local_cloud;
mod log;
mod operations;

use std::error::Error;

use crate::table::Table;
pub(crate) use client::Client;
pub(crate) use handler::{cpu_each, instructions_each};
pub(crate) use local_cloud::LocalCloud;
pub(crate) use log::{Cost, Log};

/// What to measure; the whole takes a quarter of an hour the first time, most of it compiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The handler in process.
    Process,
    /// The local HTTP API under load.
    Load,
    /// Store calls and messages of each operation, and what they cost.
    Calls,
}

/// Every part, in the order in which they are printed.
pub(crate) const PARTS: [Part; 3] = [Part::Process, Part::Load, Part::Calls];

/// Measures `parts` and says whether every bar that holds on any machine was cleared.
pub(crate) fn run(parts: &[Part]) -> bool {
    let mut held = true;
    for part in parts {
        match measure(*part) {
            Ok(tables) => tables.iter().for_each(|table| held &= table.print()),
            Err(error) => {
                println!("Measuring links failed: {error}\n");
                held = false;
            }
        }
    }
    held
}

fn measure(part: Part) -> Result<Vec<Table>, Box<dyn Error>> {
    match part {
        Part::Process => Ok(vec![handler::measure()?]),
        Part::Load => Ok(vec![load::measure()?]),
        Part::Calls => {
            let (table, counted) = operations::measure()?;
            let mut tables = vec![table];
            tables.extend(dollars::tables(&counted));
            Ok(tables)
        }
    }
}
