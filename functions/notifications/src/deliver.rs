//! Hands notifications that are due to whoever carries them, and writes down what came of it.
//!
//! Trigger: nine queues, one for each channel and priority, whose messages only say where to look.
//! Effect: a delivery is sent, deferred, suppressed or given up, as `domain::notifications::decide` says
//! of what is read for it at that moment. Guarantee: nobody is spoken to without a claim, which fails if
//! the person has changed their mind; a message that is lost, doubled or late changes nothing but the
//! time at which something happens; waiting uses up no attempt. A crash between claim and record leaves
//! the delivery `sending`, which the sweep finds.
//!
//! The path of a delivery: [`look`] (read, decide) → [`text`] (render) → [`slots`] (the provider's rate)
//! → [`gates`] (trials of a provider that failed) → [`limits`] (the person's) → [`hand_over`] (claim,
//! speak, record) → [`after`] (what follows from what was written). `PreferencesNarrowed` takes another
//! one: [`withdraw`].

mod after;
mod gates;
mod hand_over;
mod limits;
mod look;
mod measures;
mod slots;
mod text;
mod withdraw;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::store::Notifications;
use boundary::batch::{Consumer, ReceivedMessage, Unhandled};
use boundary::limits::Limiter;
use boundary::telemetry::{Log, Trace};
use boundary::{Clock, Entropy, Host, Misconfigured, Providers};
use domain::notifications::token::Ring;
use domain::notifications::{DeliveryId, Message as Said, TemplateId, TemplateVersion};
use domain::{Failure, Timestamp};
use messaging::{DeliveryLetters, DeliveryQueues};

use gates::Gates;
use slots::Pool;

const QUEUES: &str = "DELIVERY_QUEUES";
const DEAD_LETTERS: &str = "DELIVERY_DEAD_LETTERS";

/// Messages of a batch that are worked on at once. Most of the time of each is spent waiting for a
/// provider.
const AT_ONCE: usize = 10;

/// No message is begun with less time left: whatever it waits for has to end before the function does.
const MARGIN_MS: u64 = 25_000;

/// What the handler shares between messages.
#[derive(Debug)]
pub struct State {
    notifications: Notifications,
    providers: Providers,
    limiter: Limiter,
    queues: DeliveryQueues,
    letters: DeliveryLetters,
    ring: Option<Ring>,
    public_url: String,
    gates: Gates,
    pool: Pool,
    /// Versions of templates, which never change.
    templates: Mutex<HashMap<(TemplateId, u32), Arc<TemplateVersion>>>,
    /// Messages of the batch that are not done.
    left: AtomicUsize,
    clock: Clock,
    entropy: Entropy,
    log: Log,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Consumer<State>, Misconfigured> {
    let queues = host.vars.required(QUEUES)?;
    let letters = host.vars.required(DEAD_LETTERS)?;
    let nine = |name: &str| Misconfigured {
        name: name.to_owned(),
        problem: "must be nine queues, separated by commas".to_owned(),
    };
    let state = State {
        notifications: Notifications::from_host(host)?,
        providers: host.providers()?,
        limiter: Limiter::from_host(host)?,
        queues: DeliveryQueues::new(host.aws.sqs(), queues).ok_or_else(|| nine(QUEUES))?,
        letters: DeliveryLetters::new(&host.aws.sqs(), letters)
            .ok_or_else(|| nine(DEAD_LETTERS))?,
        ring: host.token_ring()?,
        public_url: host.vars.required("PUBLIC_URL")?.trim_end_matches('/').to_owned(),
        gates: Gates::default(),
        pool: Pool::default(),
        templates: Mutex::default(),
        left: AtomicUsize::new(0),
        clock: host.clock.clone(),
        entropy: host.entropy.clone(),
        log: host.log.clone(),
    };
    // A queue is known by its name, which ends its URL as it ends its ARN.
    let names = queues.split(',').map(|url| url.trim().rsplit('/').next().unwrap_or_default());
    let by_queue: Vec<_> = names
        .zip(state.letters.all())
        .map(|(name, letters)| (format!(":{name}"), letters.clone()))
        .collect();
    let consumer = Consumer::new(host, "deliver", DEAD_LETTERS, state, |state, message| {
        Box::pin(handle(state, message))
    })?;
    let consumer = consumer.before_batch(|state, messages| Box::pin(begin(state, messages)));
    Ok(consumer.concurrency(AT_ONCE, MARGIN_MS).with_dead_letters(by_queue))
}

/// What a batch knows of providers is read once for all of its messages.
async fn begin(state: &State, messages: &[ReceivedMessage]) -> Result<(), Failure> {
    state.left.store(messages.len(), Ordering::SeqCst);
    state.gates.read(state).await
}

async fn handle(state: &State, message: &ReceivedMessage) -> Result<(), Unhandled> {
    let outcome = Box::pin(tell(state, message)).await;
    // Whoever is last tells what the batch has seen of providers: a write for many parcels.
    if state.left.fetch_sub(1, Ordering::SeqCst) == 1 {
        state.gates.tell(state, &message.trace).await;
    }
    outcome
}

async fn tell(state: &State, message: &ReceivedMessage) -> Result<(), Unhandled> {
    let said: Said = serde_json::from_str(&message.body)
        .map_err(|malformed| Unhandled::Unreadable(malformed.to_string()))?;
    match said {
        Said::DeliveryDue { notification_id, delivery, .. } => {
            let id = DeliveryId { notification_id, way: delivery };
            look::look(state, &id, message).await?;
        }
        Said::PreferencesNarrowed { user_id, .. } => {
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
