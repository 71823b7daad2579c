//! Jobs, seen from outside: submit, watch, explain, cancel, retry, and the words of workers.
//!
//! Trigger: HTTP. Effect: each change is one transaction of the job, the record of what happened and
//! its licence; then a doorbell. Guarantee: a repeated submission makes one job; a worker's word counts
//! only with the attempt it was given; a doorbell that is lost is rung again by `sweep-jobs`; what is
//! not the caller's is not found.

pub mod http;
mod state;

pub use http::function;
