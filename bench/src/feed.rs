//! The feed: what each operation asks of the store and costs, how long reading, writing and fanning out
//! take, and how often each row is written to when everybody likes one post.

mod fan_out;
mod likes;
mod load;
mod operations;
mod seed;

use crate::table::Part;

pub(crate) const PARTS: &[Part] = &[
    ("calls", operations::measure),
    ("load", load::measure),
    ("crowd", fan_out::measure),
    ("likes", || Ok(vec![likes::measure()])),
];
