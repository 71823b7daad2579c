//! The rules of `domain` in worlds of their own: simulations, and the feed as it should be.
//!
//! Tests run them small and the bench runs them large. No function links this crate.

pub mod feed;
pub mod ids;
pub mod limits;
pub mod notifications;

/// The generator of a run; its first number is the second of the generator with that mixed seed.
const fn generator(seed: u64) -> domain::SplitMix64 {
    let mut generator = domain::SplitMix64::new(domain::splitmix64(seed));
    generator.next();
    generator
}
