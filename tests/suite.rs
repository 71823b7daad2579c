//! Every test that needs more than one crate, in one binary: it links once.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that meets what it does not expect fails, and says what it did"
)]

mod contract;
mod counted;
mod faults;
mod flows;
mod jobs;
mod races;
mod store;
