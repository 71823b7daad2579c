//! The edge of every function, where the world comes in: configuration, time, randomness, AWS,
//! HTTP, queues, identity and repeated requests.
//!
//! A function crate exposes `pub fn function(host: &Host) -> Result<…, Misconfigured>`. Its
//! `main.rs` hands that to [`run_http`], [`run_edge`], [`run_queue`], [`run_schedule`] or
//! [`run_socket`]; the local cloud invokes it as a [`Function`] with the same event JSON. There is no
//! third way in.

mod aws;
pub mod batch;
mod clock;
mod config;
pub mod edge;
mod entropy;
mod host;
pub mod http;
pub mod idempotency;
pub mod identity;
pub mod ids;
pub mod limits;
pub mod openapi;
mod providers;
mod runtime;
pub mod schedule;
pub mod socket;
mod switches;
mod system;
pub mod telemetry;

pub use aws::Aws;
pub use clock::Clock;
pub use config::{Misconfigured, Vars};
pub use entropy::Entropy;
pub use host::Host;
pub use providers::Providers;
pub use runtime::{Function, Invocation, run_edge, run_http, run_queue, run_schedule, run_socket};
pub use switches::Switches;
pub use system::{FunctionFactory, System, SystemFunction, Trigger};
