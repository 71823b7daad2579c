//! Jobs: what each operation asks of the store and costs, and how long submitting and reading take with
//! ten thousand running and a hundred thousand stored, beside `BullMQ` where that is installed.

mod bullmq;
mod load;
mod operations;

use std::error::Error;

use crate::table::Table;

/// Measures everything and says whether every bar was cleared.
pub(crate) fn run() -> bool {
    let mut held = true;
    for measure in [operations::measure, load::measure] {
        let tables: Result<Vec<Table>, Box<dyn Error>> = measure();
        match tables {
            Ok(tables) => tables.iter().for_each(|table| held &= table.print()),
            Err(error) => {
                println!("Measuring jobs failed: {error}\n");
                held = false;
            }
        }
    }
    held
}
