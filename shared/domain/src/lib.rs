//! What Switchyard knows, apart from where it runs: types, rules, decisions and wire messages.
//!
//! Absent here, on purpose: async, AWS, clocks, randomness and the environment. Time and random
//! bytes come in as arguments, so every decision can be replayed and tested as a table.

pub mod accounts;
pub mod base62;
pub mod failure;
pub mod ids;

pub use failure::Failure;
pub use jiff::Timestamp;
