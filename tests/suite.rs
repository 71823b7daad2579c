//! Every test that needs more than one crate, in one binary: it links once.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "an unexpected result fails the test, and tests print what they did"
)]

mod accounts;
mod boundary;
mod clicks;
mod contract;
mod faults;
mod feed;
mod ids;
mod items;
mod jobs;
mod limits;
mod links;
mod notifications;
mod service;
mod store;
