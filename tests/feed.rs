//! The feed: flows, stores, races and faults.

mod crash_points;
mod faults;
mod flows;
mod planted;
mod races;
mod store;
