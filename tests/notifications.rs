//! Notifications: flows, stores, races and faults.

mod crash_points;
mod faults;
mod flows;
mod mutations;
mod races;
mod store;
