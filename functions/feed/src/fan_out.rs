//! Brings posts to those who follow their authors, and keeps timelines, marks and totals in order.
//!
//! Trigger: the queue `fan-out`, whose messages only say where to look. Effect: a reference for each active
//! follower, page by page; timelines that are rebuilt, trimmed and purged; authors who begin or cease to
//! be pulled; counters that are added up; hints to those who are connected. Guarantee: a message that is
//! lost, late, doubled or out of order changes nothing but the time at which something happens; what a
//! message begins has a row until it is done, and the sweep begins it again.

mod fold;
mod follows;
mod hints;
mod pages;
mod readers;

use crate::settings::settings;
use crate::store::Feed;
use crate::store::Listener;
use boundary::batch::{Consumer, ReceivedMessage, Unhandled};
use boundary::socket::Connections;
use boundary::telemetry::{Log, Trace};
use boundary::{Clock, Entropy, Host, Misconfigured};
use domain::Timestamp;
use domain::feed::{Message as Said, Settings};
use messaging::FanOutQueue;

/// What the handler shares between messages.
#[derive(Debug)]
pub struct State {
    feed: Feed,
    queue: FanOutQueue,
    connections: Connections,
    settings: Settings,
    clock: Clock,
    entropy: Entropy,
    log: Log,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Consumer<State>, Misconfigured> {
    let state = State {
        feed: Feed::from_host(host)?,
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
    let said: Said = serde_json::from_str(&message.body)
        .map_err(|malformed| Unhandled::Unreadable(malformed.to_string()))?;
    let trace = &message.trace;
    match said {
        Said::PostCreated { post_id, author, version, .. } => {
            pages::created(state, post_id, &author, version, trace).await?;
        }
        Said::PostDeleted { post_id, author, .. } => {
            pages::deleted(state, post_id, &author, trace).await?;
        }
        Said::ReachCrossed { author, epoch, .. } => {
            pages::crossed(state, &author, epoch, trace).await?;
        }
        Said::FanOutPage { author, task, page, .. } => {
            pages::page(state, &author, task, page, trace).await?;
        }
        Said::Followed { follower, author, version, .. } => {
            follows::followed(state, &follower, &author, version, trace).await?;
        }
        Said::Unfollowed { author, .. } => follows::counted(state, &author, trace).await?,
        Said::ReaderReturned { reader, epoch, .. } => {
            readers::rebuild(state, &reader, epoch).await?;
        }
        Said::ReaderSeen { reader, .. } => readers::tend(state, &reader, trace).await?,
        Said::CountsMoved { post_id, .. } => fold::moved(state, post_id).await?,
        Said::Connected { reader: who, connection, since, .. } => {
            hints::connected(state, Listener { who, connection }, since, trace).await?;
        }
        Said::AudiencePage { post_id, author, after, .. } => {
            hints::audience(state, post_id, &author, after.as_deref(), trace).await?;
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

    /// Asks for something that somebody asks for again if it is lost.
    async fn ask(&self, messages: Vec<Said>, trace: &Trace) {
        if let Err(failure) = self.queue.say(messages, &trace.traceparent()).await {
            self.log.warn(self.now(), trace, &failure.chain());
        }
    }
}
