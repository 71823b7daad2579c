//! Types, rules, decisions and wire messages.
//!
//! Absent here, on purpose: async, AWS, clocks, randomness and the environment. Time and random
//! bytes come in as arguments, so every decision can be replayed and tested as a table.

pub mod accounts;
pub mod base62;
pub mod failure;
pub mod feed;
mod hex;
pub mod html;
pub mod ids;
pub mod jobs;
pub mod limits;
pub mod links;
mod message;
#[cfg(test)]
mod model_check;
pub mod notifications;
mod rejected;
mod splitmix;

pub use failure::{Failure, Result};
pub use hex::hex;
pub use jiff::Timestamp;
pub use message::Message;
pub use rejected::Rejected;
pub use splitmix::{SplitMix64, splitmix64};
