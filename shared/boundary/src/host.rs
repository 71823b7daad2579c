//! What a function is given by the place it runs in.

use domain::Message;
use egress::Network;
use messaging::{Queue, Topic};
use store::schema::Schema;
use store::{Accounts, Limits, Table};

use crate::socket::Connections;
use crate::telemetry::Log;
use crate::{Aws, Clock, Entropy, Misconfigured, Providers, Vars};

/// Everything a function needs from outside: handed in once, when it is built.
#[derive(Debug, Clone)]
pub struct Host {
    /// Its environment variables.
    pub vars: Vars,
    /// Clients for AWS.
    pub aws: Aws,
    pub clock: Clock,
    pub entropy: Entropy,
    /// Where log lines go.
    pub log: Log,
    /// The internet outside AWS.
    pub network: Network,
    /// The notification providers, where tests or the local cloud bring them; otherwise they are made from the settings.
    pub providers: Option<Providers>,
}

impl Host {
    /// The host that Lambda (or `cargo lambda watch`) provides.
    pub fn lambda() -> Result<Self, Misconfigured> {
        let vars = Vars::from_env();
        Ok(Self {
            aws: Aws::from_vars(&vars)?,
            vars,
            clock: Clock::system(),
            entropy: Entropy::system(),
            log: Log::stdout(),
            network: Network::system(),
            providers: None,
        })
    }

    /// The accounts table that `ACCOUNTS_TABLE` names.
    pub fn accounts(&self) -> Result<Accounts, Misconfigured> {
        let table = self.vars.required(store::schema::ACCOUNTS.variable)?;
        Ok(Accounts::new(self.aws.dynamodb(), table))
    }

    /// The limits table that `LIMITS_TABLE` names.
    pub fn limits(&self) -> Result<Limits, Misconfigured> {
        let table = self.vars.required(store::schema::LIMITS.variable)?;
        Ok(Limits::new(self.aws.dynamodb(), table))
    }

    /// The table of that schema, by the name that its variable holds.
    pub fn table(&self, schema: &Schema) -> Result<Table, Misconfigured> {
        Ok(Table::new(self.aws.dynamodb(), self.vars.required(schema.variable)?))
    }

    /// The queue whose address `variable` holds.
    pub fn queue<M: Message>(&self, variable: &str) -> Result<Queue<M>, Misconfigured> {
        Ok(Queue::new(self.aws.sqs(), self.vars.required(variable)?))
    }

    /// The topic that `variable` names.
    pub fn topic<M: Message>(&self, variable: &str) -> Result<Topic<M>, Misconfigured> {
        Ok(Topic::new(self.aws.sns(), self.vars.required(variable)?))
    }

    /// The connections of the stage of a WebSocket API whose `https` address `variable` holds.
    pub fn connections(&self, variable: &str) -> Result<Connections, Misconfigured> {
        let endpoint = self.vars.required(variable)?;
        Ok(Connections::new(self.aws.connections(endpoint)))
    }

    /// Whether `CloudFront` is in front and its `cloudfront-viewer-*` headers name the visitor; else they are ignored.
    pub fn behind_cloudfront(&self) -> Result<bool, Misconfigured> {
        let viewer = self.vars.parsed(
            "VIEWER_HEADERS",
            |value| matches!(value, "none" | "cloudfront").then_some(value == "cloudfront"),
            "`none` or `cloudfront`",
        )?;
        Ok(viewer.unwrap_or(false))
    }
}
