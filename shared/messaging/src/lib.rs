//! SQS and SNS with typed messages: queues and topics of one type of message.
//!
//! Each message carries the trace it belongs to as the attribute `traceparent`, so that a line
//! logged by its receiver can be found from the request that caused it.

pub mod accounts;
pub mod clicks;
pub mod dead_letters;
pub mod feed;
pub mod notifications;
mod queue;
mod send;
mod topic;

pub use accounts::{AccountEvents, KeyUseQueue};
pub use clicks::ClickQueue;
pub use dead_letters::DeadLetters;
pub use feed::{FanOutQueue, FeedTopic};
pub use notifications::{DeliveryDeadLetters, DeliveryQueues, DueTopic};
pub use queue::Queue;
pub use topic::Topic;

/// The message attribute that carries the trace.
pub const TRACEPARENT: &str = "traceparent";
