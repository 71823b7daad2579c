//! SQS and SNS in the domain's language: one method a message.
//!
//! Each message carries the trace it belongs to as the attribute `traceparent`, so that a line
//! logged by its receiver can be found from the request that caused it.

pub mod accounts;
pub mod clicks;
pub mod dead_letters;
pub mod feed;
pub mod jobs;
pub mod notifications;
mod sending;

pub use accounts::{AccountEvents, KeyUses};
pub use clicks::Clicks;
pub use dead_letters::DeadLetters;
pub use feed::{FanOutQueue, FeedTopic};
pub use jobs::{Doorbells, JobEvents};
pub use notifications::{DeliveryLetters, DeliveryQueues, DueTopic};

/// The message attribute that carries the trace.
pub const TRACEPARENT: &str = "traceparent";
