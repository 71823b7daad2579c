//! State of the HTTP handlers.

use crate::settings::settings;
use crate::store::FeedStore;
use boundary::http::Call;
use boundary::telemetry::Log;
use boundary::{Entropy, Host, Misconfigured};
use domain::Result;
use domain::accounts::UserId;
use domain::feed::{FeedMessage, FeedSettings};
use messaging::{FanOutQueue, FeedTopic};
use store::{Accounts, Bucket};

/// What the handlers share.
#[derive(Debug)]
pub struct App {
    pub(crate) feed: FeedStore,
    pub(crate) accounts: Accounts,
    pub(crate) media: Bucket,
    pub(crate) settings: FeedSettings,
    pub(crate) entropy: Entropy,
    pub(crate) socket_url: String,
    topic: FeedTopic,
    queue: FanOutQueue,
    log: Log,
}

impl App {
    pub(crate) fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        Ok(Self {
            feed: FeedStore::from_host(host)?,
            accounts: host.accounts()?,
            media: Bucket::new(host.aws.bucket(host.vars.required("MEDIA_BUCKET")?)),
            settings: settings(host)?,
            entropy: host.entropy.clone(),
            socket_url: host.vars.required("FEED_SOCKET_URL")?.to_owned(),
            topic: FeedTopic::new(host.aws.sns(), host.vars.required("FEED_TOPIC")?),
            queue: FanOutQueue::new(host.aws.sqs(), host.vars.required("FAN_OUT_QUEUE")?),
            log: host.log.clone(),
        })
    }

    /// Publishes a post event. If SNS fails it is sent straight to the queue, so that no deletion waits for the
    /// sweep.
    pub(crate) async fn publish(&self, message: Option<&FeedMessage>, call: &Call) {
        let Some(message) = message else { return };
        let sent = self.topic.publish(message, &call.trace.traceparent()).await;
        if sent.is_err() {
            self.log_failure(sent, call);
            self.enqueue(vec![message.clone()], call).await;
        }
    }

    /// Queues work. A lost message is sent again by the sweep or by the reader's next request.
    pub(crate) async fn enqueue(&self, messages: Vec<FeedMessage>, call: &Call) {
        if !messages.is_empty() {
            let sent = self.queue.send(messages, &call.trace.traceparent()).await;
            self.log_failure(sent, call);
        }
    }

    /// Logs a failure that does not fail the request.
    pub(crate) fn log_failure(&self, outcome: Result, call: &Call) {
        if let Err(failure) = outcome {
            self.log.warn(call.now, &call.trace, &failure.chain());
        }
    }

    /// Whether the user has an account, or has used the feed.
    pub(crate) async fn user_exists(&self, user: &UserId) -> Result<bool> {
        if self.feed.user_exists(user).await? {
            return Ok(true);
        }
        let account = self.accounts.find(user).await?;
        Ok(account.is_some())
    }
}
