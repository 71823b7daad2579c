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

use std::error::Error;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::table::Table;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// A decision in process, beside other limiters.
    Decision,
    /// All that a request passes, without its network.
    Path,
    /// What a node keeps of ten million keys.
    Memory,
    /// The firewall with a hundred thousand networks.
    Firewall,
    /// Store calls of each operation, and what they cost.
    Calls,
}

/// Every part, in the order in which they are measured.
pub(crate) const PARTS: [Part; 5] =
    [Part::Decision, Part::Path, Part::Memory, Part::Firewall, Part::Calls];

pub(crate) fn part(name: &str) -> Option<Part> {
    Some(match name {
        "decision" => Part::Decision,
        "path" => Part::Path,
        "memory" => Part::Memory,
        "firewall" => Part::Firewall,
        "calls" => Part::Calls,
        _ => return None,
    })
}

/// Measures `parts` and says whether every bar that holds on any machine was cleared.
pub(crate) fn run(parts: &[Part]) -> bool {
    let mut held = true;
    for part in parts {
        match measure(*part) {
            Ok(tables) => tables.iter().for_each(|table| held &= table.print()),
            Err(error) => {
                println!("Measuring limits failed: {error}\n");
                held = false;
            }
        }
    }
    held
}

fn measure(part: Part) -> Result<Vec<Table>, Box<dyn Error>> {
    match part {
        Part::Decision => Ok(vec![decision::measure()?]),
        Part::Path => Ok(vec![path::measure()?]),
        Part::Memory => Ok(vec![memory::measure()?]),
        Part::Firewall => Ok(vec![firewall::measure()?]),
        Part::Calls => {
            let (table, counted) = operations::measure()?;
            Ok(vec![table, dollars::table(&counted)])
        }
    }
}

fn unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
