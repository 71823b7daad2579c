//! What the handlers share, and what all of them ask for.

use boundary::http::{Error, Request};
use boundary::telemetry::Log;
use boundary::{Entropy, Host, Misconfigured};
use domain::Failure;
use domain::accounts::UserId;
use domain::feed::{Message, PostId, Rejected, Settings};
use messaging::{FanOutQueue, FeedTopic};
use store::{Accounts, Bucket, Feed};

/// No issuer's subject is longer (`OpenID` Connect says 255), and a row's key takes it.
const LONGEST_SUBJECT: usize = 300;

/// What the handlers share.
#[derive(Debug)]
pub struct State {
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

impl State {
    pub(crate) fn on(host: &Host) -> Result<Self, Misconfigured> {
        Ok(Self {
            feed: host.feed()?,
            accounts: host.accounts()?,
            media: Bucket::new(host.aws.s3(), host.vars.required("MEDIA_BUCKET")?),
            settings: host.feed_settings()?,
            entropy: host.entropy.clone(),
            socket_url: host.vars.required("FEED_SOCKET_URL")?.to_owned(),
            topic: FeedTopic::new(host.aws.sns(), host.vars.required("FEED_TOPIC")?),
            queue: FanOutQueue::new(host.aws.sqs(), host.vars.required("FAN_OUT_QUEUE")?),
            log: host.log.clone(),
        })
    }

    /// Tells of a post that is written or deleted. Where the topic can't be reached the queue behind it is told,
    /// so that no deletion waits for the sweep, which says what could not be said at all.
    pub(crate) async fn tell(&self, message: Option<&Message>, request: &Request) {
        let Some(message) = message else { return };
        let told = self.topic.tell(message, &request.trace.traceparent()).await;
        if told.is_err() {
            self.note(told, request);
            self.ask(vec![message.clone()], request).await;
        }
    }

    /// Asks for what is to be done. Everything that is asked for here is asked for again, by the sweep
    /// or by the next who comes by.
    pub(crate) async fn ask(&self, messages: Vec<Message>, request: &Request) {
        if !messages.is_empty() {
            let said = self.queue.say(messages, &request.trace.traceparent()).await;
            self.note(said, request);
        }
    }

    /// Notes what went wrong without anybody having to be told.
    pub(crate) fn note(&self, outcome: Result<(), Failure>, request: &Request) {
        if let Err(failure) = outcome {
            self.log.warn(request.now, &request.trace, &failure.chain());
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

/// The post that the path names.
pub(crate) fn post_named(request: &Request) -> Result<PostId, Error> {
    PostId::parse(request.param("postId")).ok_or_else(|| Rejected::UnknownPost.into())
}

/// The person that the path names. Whether there is one is another question.
pub(crate) fn person_named(request: &Request) -> Result<UserId, Error> {
    let (caller, named) = (request.caller()?, request.param("userId"));
    if caller.user_id.as_str() == named {
        return Ok(caller.user_id.clone());
    }
    // Whoever comes from an issuer of their own has a name that is not made here.
    if named.starts_with(UserId::OIDC) && named.len() <= LONGEST_SUBJECT {
        return Ok(UserId::outside(named));
    }
    UserId::parse(named).map_err(|_| Rejected::UnknownUser.into())
}
