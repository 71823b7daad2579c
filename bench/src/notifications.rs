//! Notifications: what each operation asks of the store and costs, how long accepting takes while
//! everything is delivered, and how a provider's rate is shared with a million waiting.

mod fairness;
mod load;
mod operations;

use std::error::Error;

use crate::table::Table;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Calls,
    Load,
    Fairness,
}

pub(crate) const PARTS: [Part; 3] = [Part::Calls, Part::Load, Part::Fairness];

pub(crate) fn part(name: &str) -> Option<Part> {
    match name {
        "calls" => Some(Part::Calls),
        "load" => Some(Part::Load),
        "fairness" => Some(Part::Fairness),
        _ => None,
    }
}

/// Measures `parts` and says whether every bar was cleared.
pub(crate) fn run(parts: &[Part]) -> bool {
    let mut held = true;
    for part in parts {
        let tables: Result<Vec<Table>, Box<dyn Error>> = match part {
            Part::Calls => operations::measure(),
            Part::Load => load::measure(),
            Part::Fairness => Ok(vec![fairness::measure()]),
        };
        match tables {
            Ok(tables) => tables.iter().for_each(|table| held &= table.print()),
            Err(error) => {
                println!("Measuring notifications failed: {error}\n");
                held = false;
            }
        }
    }
    held
}
