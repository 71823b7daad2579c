//! A small durable SQS and SNS on `SQLite`, for the local cloud and for tests.
//!
//! The AWS SDKs talk to it through [`Queues::handle`]: SQS in the JSON 1.0 protocol, SNS in the
//! Query protocol. The local cloud itself uses the typed calls, which need no HTTP. What a call
//! acknowledged is committed, and publishing with all its deliveries is one transaction.
//!
//! Time is what the [`Clock`] says: delays, visibility and retention follow it, so that tests
//! move the clock instead of sleeping. Only the wait time of a long poll is real time.
//!
//! Left out, and answered with a clear error: FIFO queues and topics, permissions
//! (`AddPermission`), subscriptions of anything but queues, and SQS in its old Query protocol.
//! Policies and keys are kept and shown, but neither access nor encryption is enforced. A queue can
//! be purged, or created again after deletion, without the 60 seconds of wait.

mod calls;
mod digest;
mod engine;
mod envelope;
mod error;
mod fanout;
pub mod filter;
mod ids;
mod message;
mod names;
mod settings;
mod sns;
mod sqs;
mod store;
mod wire;

pub use calls::QueueAddress;
pub use engine::{Clock, Queues};
pub use error::{Code, Error, Failure, Refused};
pub use fanout::Publication;
pub use message::{AttributeValue, Message, MessageAttributes, NewMessage};
pub use names::{ACCOUNT, REGION, queue_arn, queue_url, topic_arn};
pub use settings::Attributes;
pub use store::messages::{QueueDepth, ReceiptStatus};
