//! What functions say to each other, through queues and topics.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A message as JSON. Absent: anything that its receiver trusts; rows are the truth.
pub trait Message: Serialize + DeserializeOwned + Send + Sync {
    /// What sending one is called in a log, in the imperative.
    const SENDING: &'static str;

    /// What subscriptions of a topic can filter by.
    fn attributes(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// What fair queues tell people apart by.
    fn group(&self) -> Option<String> {
        None
    }
}
