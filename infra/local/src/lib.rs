//! The local cloud: everything `template.yaml` describes, in one process and without an account.
//!
//! The parts, from the outside in:
//!
//! - [`gateway`]: the HTTP API; a request becomes the event that API Gateway would send.
//! - [`websocket`]: WebSocket APIs, and the connections that functions post to.
//! - [`functions`]: warm instances of each function, one invocation at a time each, as in Lambda.
//! - [`pump`]: event source mappings; [`schedule`]: what runs by the clock.
//! - [`services`]: DynamoDB (dynoxide), SQS and SNS ([`queues`]), S3 (s3s), SES ([`sink`], which keeps
//!   whatever is sent anywhere); [`connector`] puts them under the real SDK clients without a socket,
//!   [`aws_port`] on a port for outside tools.
//! - [`systems`]: the list of what there is; [`document`]: what is generated from it.
//! - [`policy`]: what each function may call. [`faults`]: what a seeded test lets go wrong, and where.
//!
//! Nothing in the product knows that it runs here.

pub mod aws_port;
pub mod buckets;
pub mod cloud;
pub mod connector;
pub mod document;
mod dynamodb;
pub mod faults;
pub mod functions;
pub mod gateway;
pub mod internet;
pub mod policy;
pub mod pump;
pub mod schedule;
mod server;
pub mod services;
pub mod systems;
pub mod time;
pub mod websocket;

/// Functions that run behind `cargo lambda watch`.
pub mod functions_elsewhere {
    pub use crate::server::Remote;
}

pub use cloud::{Cloud, Options};
pub use time::MovableClock;
