//! Accounts and their keys: flows, stores, races and faults.

mod crash_points;
mod faults;
mod flows;
mod keys;
mod messages;
mod mutations;
mod races;
mod store;
