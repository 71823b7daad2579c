//! Providers that never touch a socket: they keep what they are handed and do what they are told.
//!
//! Time passes only as tokio's does, and what they do is decided by counting or by a seed, so a test
//! that uses them repeats exactly.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use boundary::Providers;
use domain::SplitMix64;
use domain::Timestamp;
use domain::notifications::{Address, Channel, Class, ProviderMessage, SendOutcome};
use local::faults::Faults;
use parking_lot::Mutex;
use providers::Provider;

/// What a provider does with a parcel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// It accepts it.
    Accept,
    /// It says no.
    Refuse {
        /// Of that kind.
        class: Class,
        /// And when to come again.
        retry_after_seconds: Option<u32>,
    },
    /// It never answers, and does not have it.
    Hang,
    /// It has it, and nobody hears that.
    AcceptUnheard,
    /// It accepts it after a while.
    Slow,
}

impl Act {
    /// A no of that kind.
    pub const fn refuse(class: Class) -> Self {
        Self::Refuse { class, retry_after_seconds: None }
    }
}

/// Something that was handed to a provider.
#[derive(Debug, Clone)]
pub struct HandedOver {
    pub provider: &'static str,
    pub parcel: ProviderMessage,
    /// What it did.
    pub act: Act,
    /// When, by the clock of whoever handed it over.
    pub at: Timestamp,
    /// How many of the calls that the cloud keeps came before; 0 unless [`Post::order_by`].
    pub after: usize,
}

impl HandedOver {
    /// Whether the person has it.
    pub fn arrived(&self) -> bool {
        matches!(self.act, Act::Accept | Act::AcceptUnheard | Act::Slow)
    }
}

/// All providers of a cloud; a clone is the same ones. `mail` and `mail-2` take mails, in this order,
/// `text` text messages, `push` everything else.
#[derive(Clone, Default)]
pub struct Post(Arc<Mutex<Desk>>);

#[derive(Default)]
struct Desk {
    next: BTreeMap<&'static str, VecDeque<Act>>,
    always: BTreeMap<&'static str, Act>,
    seeded: Option<(SplitMix64, u64)>,
    rates: BTreeMap<&'static str, u32>,
    handed: Vec<HandedOver>,
    calls: Option<Arc<Faults>>,
}

impl std::fmt::Debug for Post {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Post({} handed over)", self.lock().handed.len())
    }
}

/// How long a provider that hangs is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

impl Post {
    /// Providers that accept everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Providers of which so many in a thousand parcels go wrong, decided by a seed.
    pub fn seeded(seed: u64, per_mille: u64) -> Self {
        let post = Self::new();
        post.lock().seeded = Some((SplitMix64::new(seed), per_mille));
        post
    }

    /// They, for a host.
    pub fn providers(&self) -> Providers {
        let one = |name, channel| -> Arc<dyn Provider> {
            Arc::new(Scripted { name, channel, post: self.clone() })
        };
        let all = Providers::new(vec![
            one("mail", Channel::Email),
            one("mail-2", Channel::Email),
            one("text", Channel::Sms),
            one("push", Channel::Push),
        ]);
        let rates = self.lock().rates.clone();
        rates.into_iter().fold(all, |all, (name, rate)| all.with_rate(name, rate))
    }

    /// `provider` takes only so many a second, in clouds that are started after this.
    pub fn rate(&self, provider: &'static str, per_second: u32) {
        self.lock().rates.insert(provider, per_second);
    }

    /// The next parcels for `provider` are treated like this, one after the other.
    pub fn next(&self, provider: &'static str, acts: impl IntoIterator<Item = Act>) {
        self.lock().next.entry(provider).or_default().extend(acts);
    }

    /// From now on, everything for `provider` is treated like this.
    pub fn always(&self, provider: &'static str, act: Act) {
        self.lock().always.insert(provider, act);
    }

    /// From now on notes of each parcel how many kept calls came before it, so that a test can tell
    /// what was written when it was handed over.
    pub fn order_by(&self, calls: Arc<Faults>) {
        self.lock().calls = Some(calls);
    }

    /// From now on nothing goes wrong.
    pub fn behave(&self) {
        let mut desk = self.lock();
        desk.next.clear();
        desk.always.clear();
        desk.seeded = None;
    }

    /// What was handed over so far, in order.
    pub fn handed(&self) -> Vec<HandedOver> {
        self.lock().handed.clone()
    }

    /// How much was handed over so far.
    pub fn count(&self) -> usize {
        self.lock().handed.len()
    }

    /// How often a parcel arrived, by its key.
    pub fn arrivals(&self) -> BTreeMap<String, usize> {
        let mut arrivals = BTreeMap::new();
        for handed in self.lock().handed.iter().filter(|handed| handed.arrived()) {
            *arrivals.entry(handed.parcel.key.clone()).or_default() += 1;
        }
        arrivals
    }

    fn act(&self, provider: &'static str, parcel: &ProviderMessage, at: Timestamp) -> Act {
        let mut desk = self.lock();
        let told = desk.next.get_mut(provider).and_then(VecDeque::pop_front);
        let told = told.or_else(|| desk.always.get(provider).cloned());
        let act = told.unwrap_or_else(|| desk.seeded.as_mut().map_or(Act::Accept, drawn));
        let after = desk.calls.as_ref().map_or(0, |calls| calls.recorded_count());
        let (parcel, done) = (parcel.clone(), act.clone());
        desk.handed.push(HandedOver { provider, parcel, act: done, at, after });
        act
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, Desk> {
        self.0.lock()
    }
}

fn drawn((dice, per_mille): &mut (SplitMix64, u64)) -> Act {
    if dice.below(1000) >= *per_mille {
        return Act::Accept;
    }
    match dice.below(8) {
        0 => Act::Hang,
        1 | 2 => Act::AcceptUnheard,
        3 => Act::Refuse { class: Class::RateLimited, retry_after_seconds: Some(7) },
        4 => Act::refuse(Class::Unrecognised),
        5 => Act::refuse(Class::Content),
        _ => Act::refuse(Class::Outage),
    }
}

struct Scripted {
    name: &'static str,
    channel: Channel,
    post: Post,
}

#[async_trait]
impl Provider for Scripted {
    fn name(&self) -> &'static str {
        self.name
    }

    fn takes(&self, address: &Address) -> bool {
        address.channel() == self.channel
    }

    fn recognises_repeats(&self) -> bool {
        self.channel != Channel::Sms
    }

    async fn send(&self, parcel: &ProviderMessage, now: Timestamp) -> SendOutcome {
        let accepted =
            || SendOutcome::Accepted { reference: Some(format!("{}:{}", self.name, parcel.key)) };
        match self.post.act(self.name, parcel, now) {
            Act::Accept => accepted(),
            Act::Slow => {
                tokio::time::sleep(PATIENCE).await;
                accepted()
            }
            Act::Refuse { class, retry_after_seconds } => SendOutcome::Refused {
                class,
                retry_after_seconds,
                said: "told to refuse".to_owned(),
            },
            Act::Hang => {
                tokio::time::sleep(PATIENCE).await;
                SendOutcome::Unknown { said: "no answer in time".to_owned() }
            }
            Act::AcceptUnheard => SendOutcome::Unknown { said: "the line was cut".to_owned() },
        }
    }
}
