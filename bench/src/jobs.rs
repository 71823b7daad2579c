//! Jobs: what each operation asks of the store and costs, and how long submitting and reading take with
//! ten thousand running and a hundred thousand stored, beside `BullMQ` where that is installed.

mod bullmq;
mod load;
mod operations;

use crate::table::Part;

pub(crate) const PARTS: &[Part] = &[("calls", operations::measure), ("load", load::measure)];
