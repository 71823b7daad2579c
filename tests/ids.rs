//! Ids: flows, stores, races and faults.

mod faults;
mod flows;
mod mutations;
mod races;
mod store;
