//! The local cloud: everything `template.yaml` describes, in one process and without an account.
//!
//! The parts, from the outside in:
//!
//! - [`gateway`]: the HTTP API; a request becomes the event that API Gateway would send.
//! - [`websocket`]: WebSocket APIs, and the connections that functions post to.
//! - [`functions`]: warm instances of each function, one invocation at a time each, as in Lambda.
//! - [`pump`]: event source mappings; [`schedule`]: what runs by the clock.
//! - [`services`]: DynamoDB (dynoxide), SQS and SNS ([`queues`]), S3 (s3s), SES ([`sink`], which keeps
//!   what is sent to providers); [`connector`] puts them under the real SDK clients without a socket,
//!   [`aws_port`] on a port for outside tools.
//! - [`systems`]: the list of what there is; [`document`]: what is generated from it;
//!   [`diagram`]: the picture of the architecture.
//! - [`policy`]: what each function may call. [`faults`]: the faults that a seeded test injects.
//!
//! Nothing in the product knows that it runs here.

pub mod aws_port;
pub mod buckets;
pub mod clock;
pub mod cloud;
pub mod connector;
pub mod diagram;
pub mod document;
mod dynamodb;
pub mod faults;
pub mod functions;
pub mod gateway;
pub mod network;
pub mod policy;
pub mod pump;
pub mod remote;
pub mod schedule;
mod server;
pub mod services;
pub mod systems;
pub mod websocket;

pub use clock::MovableClock;
pub use cloud::{Cloud, Options};
