//! Brings posts to those who follow their authors, and keeps timelines, marks and totals in order.
//!
//! Trigger: the queue `fan-out`, whose messages only say where to look. Effect: a reference for each active
//! follower, page by page; timelines that are rebuilt, trimmed and purged; authors who begin or cease to
//! be pulled; counters that are added up; new posts named to connected readers. Guarantee: a message that is
//! lost, late, doubled or out of order changes nothing but the time at which something happens; what a
//! message begins has a row until it is done, and the sweep begins it again.

mod follows;
mod notify;
mod pages;
mod timelines;

use crate::settings::settings;
use crate::store::{FeedStore, ReaderConnection};
use boundary::batch::{Consumer, ReceivedMessage, Unhandled};
use boundary::socket::Connections;
use boundary::telemetry::{Log, Trace};
use boundary::{Clock, Entropy, Host, Misconfigured};
use domain::Timestamp;
use domain::feed::{FeedMessage, FeedSettings};
use messaging::FanOutQueue;

#[derive(Debug)]
pub struct State {
    feed: FeedStore,
    queue: FanOutQueue,
    connections: Connections,
    settings: FeedSettings,
    clock: Clock,
    entropy: Entropy,
    log: Log,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Consumer<State>, Misconfigured> {
    let state = State {
        feed: FeedStore::from_host(host)?,
        queue: FanOutQueue::new(host.aws.sqs(), host.vars.required("FAN_OUT_QUEUE")?),
        connections: host.connections("FEED_SOCKET")?,
        settings: settings(host)?,
        clock: host.clock.clone(),
        entropy: host.entropy.clone(),
        log: host.log.clone(),
    };
    Consumer::new(host, "fanOut", "FAN_OUT_DEAD_LETTERS", state, |state, message| {
        Box::pin(handle(state, message))
    })
}

async fn handle(state: &State, message: &ReceivedMessage) -> Result<(), Unhandled> {
    let decoded: FeedMessage = serde_json::from_str(&message.body)
        .map_err(|malformed| Unhandled::Unreadable(malformed.to_string()))?;
    let trace = &message.trace;
    match decoded {
        FeedMessage::PostCreated { post_id, author, version, .. } => {
            pages::post_created(state, post_id, &author, version, trace).await?;
        }
        FeedMessage::PostDeleted { post_id, author, .. } => {
            pages::post_deleted(state, post_id, &author, trace).await?;
        }
        FeedMessage::ReachCrossed { author, epoch, .. } => {
            pages::policy_changed(state, &author, epoch, trace).await?;
        }
        FeedMessage::FanOutPage { author, task, page, .. } => {
            pages::page(state, &author, task, page, trace).await?;
        }
        FeedMessage::Followed { follower, author, version, .. } => {
            follows::followed(state, &follower, &author, version, trace).await?;
        }
        FeedMessage::Unfollowed { author, .. } => {
            follows::update_policy(state, &author, trace).await?;
        }
        FeedMessage::ReaderReturned { reader, epoch, .. } => {
            timelines::rebuild(state, &reader, epoch).await?;
        }
        FeedMessage::ReaderSeen { reader, .. } => timelines::trim(state, &reader, trace).await?,
        FeedMessage::CountsMoved { post_id, .. } => {
            state.feed.aggregate_changed(post_id, state.now()).await?;
        }
        FeedMessage::Connected { reader: who, connection, since, .. } => {
            notify::connected(state, ReaderConnection { reader: who, connection }, since, trace)
                .await?;
        }
        FeedMessage::AudiencePage { post_id, author, after, .. } => {
            notify::audience(state, post_id, &author, after.as_deref(), trace).await?;
        }
    }
    Ok(())
}

impl State {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn token(&self) -> String {
        self.entropy.token()
    }

    /// Sends messages whose loss the sweep or the reader's next request makes up for.
    async fn enqueue(&self, messages: Vec<FeedMessage>, trace: &Trace) {
        if let Err(failure) = self.queue.send(messages, &trace.traceparent()).await {
            self.log.warn(self.now(), trace, &failure.chain());
        }
    }
}
