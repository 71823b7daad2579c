//! Every test that needs more than one crate, in one binary: it links once.

mod contract;
mod faults;
mod flows;
mod races;
mod store;
