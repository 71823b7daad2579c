//! Everything of jobs that needs more than one crate: rows, flows, races, faults, crash points, planted bugs.

mod crash_points;
mod faults;
mod flows;
mod planted;
mod races;
mod store;
