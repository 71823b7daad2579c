//! Messages between functions, through queues and topics.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A message as JSON. Absent: anything that its receiver trusts; rows are the truth.
pub trait Message: Serialize + DeserializeOwned + Send + Sync {
    /// The action of sending one, in the imperative, for a [`Failure`](crate::Failure).
    const SEND_ACTION: &'static str;

    /// Attributes that subscriptions of a topic can filter by.
    fn attributes(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// The message group on fair queues: a user.
    fn group(&self) -> Option<String> {
        None
    }
}
