//! Ids: flows, stores, races and faults.

mod faults;
mod flows;
mod planted;
mod races;
mod store;
