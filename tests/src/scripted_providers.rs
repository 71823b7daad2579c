//! Providers without sockets: they record what they are sent and answer as scripted.
//!
//! Time passes only as tokio's does, and outcomes are decided by counting or by a seed, so a test that
//! uses them repeats exactly.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use boundary::Providers;
use domain::notifications::{Address, Channel, Class, ProviderMessage, SendOutcome};
use domain::{SplitMix64, Timestamp};
use local::faults::Faults;
use parking_lot::Mutex;
use providers::Provider;

/// What a provider does with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptedOutcome {
    Accept,
    Refuse {
        class: Class,
        retry_after_seconds: Option<u32>,
    },
    /// It never answers, and nothing is delivered.
    Hang,
    /// The message is delivered, and the caller does not learn that.
    AcceptThenDisconnect,
    /// It accepts after a while.
    Slow,
}

impl ScriptedOutcome {
    pub const fn refuse(class: Class) -> Self {
        Self::Refuse { class, retry_after_seconds: None }
    }
}

/// A message that a provider was called with.
#[derive(Debug, Clone)]
pub struct RecordedSend {
    pub provider: &'static str,
    pub message: ProviderMessage,
    pub outcome: ScriptedOutcome,
    /// By the caller's clock.
    pub at: Timestamp,
    /// How many of the calls that the cloud recorded came before; 0 unless
    /// [`ScriptedProviders::count_calls`].
    pub calls_before: usize,
}

impl RecordedSend {
    /// Whether the recipient has the message.
    pub fn delivered(&self) -> bool {
        matches!(
            self.outcome,
            ScriptedOutcome::Accept | ScriptedOutcome::AcceptThenDisconnect | ScriptedOutcome::Slow
        )
    }
}

/// All providers of a cloud; a clone is the same ones. `mail` and `mail-2` take mails, in this order,
/// `text` text messages, `push` everything else.
#[derive(Clone, Default)]
pub struct ScriptedProviders(Arc<Mutex<Script>>);

#[derive(Default)]
struct Script {
    next: BTreeMap<&'static str, VecDeque<ScriptedOutcome>>,
    always: BTreeMap<&'static str, ScriptedOutcome>,
    seeded: Option<(SplitMix64, u64)>,
    rates: BTreeMap<&'static str, u32>,
    sends: Vec<RecordedSend>,
    calls: Option<Arc<Faults>>,
}

impl std::fmt::Debug for ScriptedProviders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ScriptedProviders({} sends)", self.0.lock().sends.len())
    }
}

/// Longer than the deliverer waits.
const HANG: Duration = Duration::from_secs(10);

impl ScriptedProviders {
    /// Providers that accept everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Providers that fail for so many messages in a thousand, decided by a seed.
    pub fn seeded(seed: u64, per_mille: u64) -> Self {
        let providers = Self::new();
        providers.0.lock().seeded = Some((SplitMix64::new(seed), per_mille));
        providers
    }

    /// As a host takes them.
    pub fn providers(&self) -> Providers {
        let one = |name, channel| -> Arc<dyn Provider> {
            Arc::new(Scripted { name, channel, script: self.clone() })
        };
        let all = Providers::new(vec![
            one("mail", Channel::Email),
            one("mail-2", Channel::Email),
            one("text", Channel::Sms),
            one("push", Channel::Push),
        ]);
        let rates = self.0.lock().rates.clone();
        rates.into_iter().fold(all, |all, (name, rate)| all.with_rate(name, rate))
    }

    /// `provider` takes only so many a second, in clouds that are started after this.
    pub fn rate(&self, provider: &'static str, per_second: u32) {
        self.0.lock().rates.insert(provider, per_second);
    }

    /// The outcomes of the next messages for `provider`, one after the other.
    pub fn script_next(
        &self,
        provider: &'static str,
        outcomes: impl IntoIterator<Item = ScriptedOutcome>,
    ) {
        self.0.lock().next.entry(provider).or_default().extend(outcomes);
    }

    /// The outcome of every message for `provider` from now on.
    pub fn script_always(&self, provider: &'static str, outcome: ScriptedOutcome) {
        self.0.lock().always.insert(provider, outcome);
    }

    /// From now on counts how many recorded calls came before each send, so that a test knows what was
    /// written by then.
    pub fn count_calls(&self, calls: Arc<Faults>) {
        self.0.lock().calls = Some(calls);
    }

    /// From now on nothing goes wrong.
    pub fn accept_all(&self) {
        let mut script = self.0.lock();
        script.next.clear();
        script.always.clear();
        script.seeded = None;
    }

    /// The sends so far, in order.
    pub fn sends(&self) -> Vec<RecordedSend> {
        self.0.lock().sends.clone()
    }

    pub fn send_count(&self) -> usize {
        self.0.lock().sends.len()
    }

    /// How often each message was delivered, by its key.
    pub fn deliveries(&self) -> BTreeMap<String, usize> {
        let mut deliveries = BTreeMap::new();
        for send in self.0.lock().sends.iter().filter(|send| send.delivered()) {
            *deliveries.entry(send.message.key.clone()).or_default() += 1;
        }
        deliveries
    }

    fn record(
        &self,
        provider: &'static str,
        message: &ProviderMessage,
        at: Timestamp,
    ) -> ScriptedOutcome {
        let mut script = self.0.lock();
        let next = script.next.get_mut(provider).and_then(VecDeque::pop_front);
        let outcome = next.or_else(|| script.always.get(provider).cloned());
        let outcome = outcome.unwrap_or_else(|| {
            script.seeded.as_mut().map_or(ScriptedOutcome::Accept, random_outcome)
        });
        let calls_before = script.calls.as_ref().map_or(0, |calls| calls.recorded_count());
        let (message, recorded) = (message.clone(), outcome.clone());
        script.sends.push(RecordedSend { provider, message, outcome: recorded, at, calls_before });
        outcome
    }
}

fn random_outcome((dice, per_mille): &mut (SplitMix64, u64)) -> ScriptedOutcome {
    if dice.below(1000) >= *per_mille {
        return ScriptedOutcome::Accept;
    }
    match dice.below(8) {
        0 => ScriptedOutcome::Hang,
        1 | 2 => ScriptedOutcome::AcceptThenDisconnect,
        3 => ScriptedOutcome::Refuse { class: Class::RateLimited, retry_after_seconds: Some(7) },
        4 => ScriptedOutcome::refuse(Class::Unrecognised),
        5 => ScriptedOutcome::refuse(Class::Content),
        _ => ScriptedOutcome::refuse(Class::Outage),
    }
}

struct Scripted {
    name: &'static str,
    channel: Channel,
    script: ScriptedProviders,
}

#[async_trait]
impl Provider for Scripted {
    fn name(&self) -> &'static str {
        self.name
    }

    fn supports(&self, address: &Address) -> bool {
        address.channel() == self.channel
    }

    async fn send(&self, message: &ProviderMessage, now: Timestamp) -> SendOutcome {
        let reference = Some(format!("{}:{}", self.name, message.key));
        let unknown = |reason: &str| SendOutcome::Unknown { reason: reason.to_owned() };
        match self.script.record(self.name, message, now) {
            ScriptedOutcome::Accept => SendOutcome::Accepted { reference },
            ScriptedOutcome::Slow => {
                tokio::time::sleep(HANG).await;
                SendOutcome::Accepted { reference }
            }
            ScriptedOutcome::Refuse { class, retry_after_seconds } => {
                let reason = "told to refuse".to_owned();
                SendOutcome::Refused { class, retry_after_seconds, reason }
            }
            ScriptedOutcome::Hang => {
                tokio::time::sleep(HANG).await;
                unknown("no answer in time")
            }
            ScriptedOutcome::AcceptThenDisconnect => unknown("the connection was closed"),
        }
    }
}
