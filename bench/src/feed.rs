//! The feed: what each operation asks of the store and costs, how long reading, writing and fanning out
//! take, and how often each row is written to when everybody likes one post.

mod fan_out;
mod likes;
mod load;
mod operations;
mod seed;

use std::error::Error;

use crate::table::Table;

/// Something to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Calls,
    Load,
    FanOut,
    Likes,
}

pub(crate) const PARTS: [Part; 4] = [Part::Calls, Part::Load, Part::FanOut, Part::Likes];

/// The part of that name.
pub(crate) fn part(name: &str) -> Option<Part> {
    match name {
        "calls" => Some(Part::Calls),
        "load" => Some(Part::Load),
        "crowd" => Some(Part::FanOut),
        "likes" => Some(Part::Likes),
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
            Part::FanOut => fan_out::measure(),
            Part::Likes => Ok(vec![likes::measure()]),
        };
        match tables {
            Ok(tables) => tables.iter().for_each(|table| held &= table.print()),
            Err(error) => {
                println!("Measuring the feed failed: {error}\n");
                held = false;
            }
        }
    }
    held
}
