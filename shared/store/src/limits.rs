//! Limits: shared counters, and the rules that say what is counted.
//!
//! Rows: `count#<rule>#<shape>#<entity>#<shard> / row` for each counter; `rules / …`, `firewall / …`
//! and `blocks / …` for what admins (and nodes, for `blocks`) decide, each change in one transaction
//! with the number in `config / version` that tells nodes to read again; `seen#<hour>#<n> / …` for what
//! was asked and refused lately.
//!
//! A counter's condition is the domain's guard word for word. Its writes are never repeated by the SDK:
//! one whose outcome is unknown is given up, because it could credit the same units twice.

mod counters;
mod documents;
mod usage_reports;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;

pub use counters::CounterKey;
pub use documents::{DocumentPart, DocumentVersions, LimitsDocument, SaveOutcome};

#[derive(Debug, Clone)]
pub struct Limits {
    client: Client,
    /// The same client without retries.
    single_try: Client,
    table: String,
}

impl Limits {
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        let config = client.config().to_builder().retry_config(RetryConfig::disabled());
        Self { single_try: Client::from_conf(config.build()), client, table: table.into() }
    }
}
