//! What the handlers share, and what all of them ask for.

use crate::settings::settings;
use crate::store::Feed;
use boundary::http::Call;
use boundary::telemetry::Log;
use boundary::{Entropy, Host, Misconfigured};
use domain::Failure;
use domain::accounts::UserId;
use domain::feed::{Message, Settings};
use messaging::{FanOutQueue, FeedTopic};
use store::{Accounts, Bucket};

/// What the handlers share.
#[derive(Debug)]
pub struct App {
    pub(crate) feed: Feed,
    pub(crate) accounts: Accounts,
    pub(crate) media: Bucket,
    pub(crate) settings: Settings,
    pub(crate) entropy: Entropy,
    pub(crate) socket_url: String,
    topic: FeedTopic,
    queue: FanOutQueue,
    log: Log,
}

impl App {
    pub(crate) fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        Ok(Self {
            feed: Feed::from_host(host)?,
            accounts: host.accounts()?,
            media: Bucket::new(host.aws.s3(), host.vars.required("MEDIA_BUCKET")?),
            settings: settings(host)?,
            entropy: host.entropy.clone(),
            socket_url: host.vars.required("FEED_SOCKET_URL")?.to_owned(),
            topic: FeedTopic::new(host.aws.sns(), host.vars.required("FEED_TOPIC")?),
            queue: FanOutQueue::new(host.aws.sqs(), host.vars.required("FAN_OUT_QUEUE")?),
            log: host.log.clone(),
        })
    }

    /// Tells of a post that is written or deleted. Where the topic can't be reached the queue behind it is told,
    /// so that no deletion waits for the sweep, which says what could not be said at all.
    pub(crate) async fn tell(&self, message: Option<&Message>, call: &Call) {
        let Some(message) = message else { return };
        let told = self.topic.tell(message, &call.trace.traceparent()).await;
        if told.is_err() {
            self.note(told, call);
            self.ask(vec![message.clone()], call).await;
        }
    }

    /// Asks for what is to be done. Everything that is asked for here is asked for again, by the sweep
    /// or by the next reader who comes by.
    pub(crate) async fn ask(&self, messages: Vec<Message>, call: &Call) {
        if !messages.is_empty() {
            let said = self.queue.say(messages, &call.trace.traceparent()).await;
            self.note(said, call);
        }
    }

    /// Notes what went wrong without anybody having to be told.
    pub(crate) fn note(&self, outcome: Result<(), Failure>, call: &Call) {
        if let Err(failure) = outcome {
            self.log.warn(call.now, &call.trace, &failure.chain());
        }
    }

    /// Whether there is somebody of that name: they have an account, or have been here.
    pub(crate) async fn is_somebody(&self, user: &UserId) -> Result<bool, Failure> {
        if self.feed.is_known(user).await? {
            return Ok(true);
        }
        let account = self.accounts.find(user).await?;
        Ok(account.is_some())
    }
}
