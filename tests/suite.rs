//! Every test that needs more than one crate, in one binary: it links once.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that meets what it does not expect fails, and says what it did"
)]

mod accounts;
mod boundary;
mod contract;
mod counted;
mod faults;
mod feed;
mod ids;
mod jobs;
mod limits;
mod links;
mod notifications;
mod service;
mod store;
