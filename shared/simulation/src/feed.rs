//! The feed: many likes at once, and a reference without anything clever.

pub mod likes;
pub mod reference;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod scrolls;
