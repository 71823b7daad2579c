//! Sends the deliveries that are due through their providers, and records the outcome.
//!
//! Trigger: nine queues, one for each channel and priority, whose messages only name a delivery.
//! Effect: a delivery is sent, deferred, suppressed or given up, as `domain::notifications::decide` says
//! of what is read for it at that moment. Guarantee: no provider is called without a claim, which fails if
//! the user has opted out; a message that is lost, doubled or late changes nothing but the
//! time at which something happens; waiting uses up no attempt. A crash between claim and record leaves
//! the delivery `sending`, which the sweep finds.
//!
//! The path of a delivery: [`process`] (load, decide) → [`render`] → [`slots`] (the provider's rate)
//! → [`breakers`] (trials of a provider that failed) → [`limits`] (the user's) → [`send`] (claim,
//! call, record) → [`follow_up`] (what follows from what was written). `PreferencesNarrowed` takes another
//! one: [`withdraw`].

mod breakers;
mod follow_up;
mod limits;
mod metrics;
mod process;
mod render;
mod send;
mod slots;
mod withdraw;

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::store::Notifications;
use boundary::batch::{Consumer, ReceivedMessage, Unhandled};
use boundary::limits::Limiter;
use boundary::telemetry::{Log, Trace};
use boundary::{Clock, Entropy, Host, Misconfigured, Providers};
use domain::notifications::token::KeyRing;
use domain::notifications::{DeliveryId, DeliveryMessage};
use domain::{Failure, Result, Timestamp};
use messaging::{DeliveryDeadLetters, DeliveryQueues};

use crate::{QUEUES, delivery_queues, nine_queues};
use breakers::Breakers;
use slots::SlotPool;

const DEAD_LETTERS: &str = "DELIVERY_DEAD_LETTERS";

/// Messages of a batch that are worked on at once. Most of the time of each is spent waiting for a
/// provider.
const CONCURRENCY: usize = 10;

/// No message is begun with less time left: the provider's answer has to come before the function ends.
const MARGIN_MS: u64 = 25_000;

/// What the handler shares between messages.
#[derive(Debug)]
pub struct State {
    notifications: Notifications,
    providers: Providers,
    limiter: Limiter,
    queues: DeliveryQueues,
    dead_letters: DeliveryDeadLetters,
    key_ring: Option<KeyRing>,
    public_url: String,
    breakers: Breakers,
    slot_pool: SlotPool,
    /// Messages of the batch that are not done.
    unfinished: AtomicUsize,
    clock: Clock,
    entropy: Entropy,
    log: Log,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Consumer<State>, Misconfigured> {
    let queues = host.vars.required(QUEUES)?;
    let dead_letters = host.vars.required(DEAD_LETTERS)?;
    let state = State {
        notifications: Notifications::from_host(host)?,
        providers: host.providers()?,
        limiter: Limiter::from_host(host)?,
        queues: delivery_queues(host)?,
        dead_letters: DeliveryDeadLetters::new(&host.aws.sqs(), dead_letters)
            .ok_or_else(|| nine_queues(DEAD_LETTERS))?,
        key_ring: host.token_ring()?,
        public_url: host.vars.required("PUBLIC_URL")?.trim_end_matches('/').to_owned(),
        breakers: Breakers::default(),
        slot_pool: SlotPool::default(),
        unfinished: AtomicUsize::new(0),
        clock: host.clock.clone(),
        entropy: host.entropy.clone(),
        log: host.log.clone(),
    };
    // A queue is known by its name, which ends its URL as it ends its ARN.
    let names = queues.split(',').map(|url| url.trim().rsplit('/').next().unwrap_or_default());
    let by_queue: Vec<_> = names
        .zip(state.dead_letters.all())
        .map(|(name, dead_letters)| (format!(":{name}"), dead_letters.clone()))
        .collect();
    let consumer = Consumer::new(host, "deliver", DEAD_LETTERS, state, |state, message| {
        Box::pin(handle(state, message))
    })?;
    let consumer = consumer.before_batch(|state, messages| Box::pin(begin_batch(state, messages)));
    Ok(consumer.concurrency(CONCURRENCY, MARGIN_MS).with_dead_letters(by_queue))
}

/// What a batch knows of providers is read once for all of its messages.
async fn begin_batch(state: &State, messages: &[ReceivedMessage]) -> Result {
    state.unfinished.store(messages.len(), Ordering::SeqCst);
    state.breakers.read(state).await
}

async fn handle(state: &State, message: &ReceivedMessage) -> Result<(), Unhandled> {
    let outcome = Box::pin(dispatch(state, message)).await;
    // The last message flushes what the batch has seen of providers: one write for many calls.
    if state.unfinished.fetch_sub(1, Ordering::SeqCst) == 1 {
        state.breakers.flush(state, &message.trace).await;
    }
    outcome
}

async fn dispatch(state: &State, message: &ReceivedMessage) -> Result<(), Unhandled> {
    let decoded: DeliveryMessage = serde_json::from_str(&message.body)
        .map_err(|malformed| Unhandled::Unreadable(malformed.to_string()))?;
    match decoded {
        DeliveryMessage::DeliveryDue { notification_id, delivery, .. } => {
            let id = DeliveryId { notification_id, endpoint: delivery };
            process::process(state, &id, message).await?;
        }
        DeliveryMessage::PreferencesNarrowed { user_id, .. } => {
            withdraw::withdraw(state, &user_id, &message.trace).await?;
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

    fn jitter(&self) -> u64 {
        u64::from_be_bytes(self.entropy.bytes())
    }

    fn warn(&self, failure: &Failure, trace: &Trace) {
        self.log.warn(self.now(), trace, &failure.chain());
    }
}
