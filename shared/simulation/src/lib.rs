//! The rules of `domain` in worlds of their own: simulations, and the feed as it should be.
//!
//! Tests run them small and the bench runs them large. No function links this crate.

mod dice;
pub mod feed;
pub mod ids;
pub mod limits;
pub mod notifications;
