//! A provider's rate: slots are leased for the messages of a batch together, and each is used at its
//! time or not at all.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use parking_lot::Mutex;

use crate::store::LeaseOutcome;
use domain::notifications::rate::{Grant, SlotCounters, Slots, backoff_us, grant};
use domain::notifications::{Priority, ProviderName};
use domain::{Result, Timestamp};

use crate::deliver::{CONCURRENCY, State};

/// A delivery whose slot lies further ahead is deferred.
const MAX_SLOT_WAIT_US: i64 = 3_000_000;

/// How long a claim takes: it begins so much before its slot.
const CLAIMING_US: i64 = 15_000;

/// Tries at the row; then the message waits.
const TRIES: u32 = 6;

/// Slots that were leased and not used yet, and the rows as they were last seen.
#[derive(Debug, Default)]
pub(crate) struct SlotPool {
    leased: Mutex<BTreeMap<(ProviderName, Priority), LeasedSlots>>,
    /// One lease at a time: a message that waits for it takes a slot from what it brings.
    leasing: tokio::sync::Mutex<()>,
}

#[derive(Debug, Clone, Copy, Default)]
struct LeasedSlots {
    slots: Option<Slots>,
    next: u32,
    counters: Option<SlotCounters>,
}

/// When the provider may be called.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Slot {
    /// Any: the provider takes as much as there is.
    Any,
    At(Slots, u32),
}

/// What asking for a slot comes to.
pub(crate) enum SlotOutcome {
    Slot(Slot),
    Later(Timestamp),
}

impl SlotPool {
    /// Takes the next slot that is near, and leases more if there is none.
    pub(crate) async fn take(
        &self,
        state: &State,
        provider: &ProviderName,
        priority: Priority,
    ) -> Result<SlotOutcome> {
        let Some(per_second) = state.providers.rate(provider.as_str()) else {
            return Ok(SlotOutcome::Slot(Slot::Any));
        };
        let key = (provider.clone(), priority);
        let _turn = self.leasing.lock().await;
        let began = state.now();
        for misses in 0..TRIES {
            if let Some(slot) = self.leased(&key).take(state.now()) {
                self.put(&key, slot.1);
                return Ok(SlotOutcome::Slot(slot.0));
            }
            let counters = match self.leased(&key).counters {
                Some(counters) => counters,
                None => state.notifications.slot_counters(provider).await?,
            };
            let wanted = state.unfinished.load(Ordering::SeqCst).clamp(1, CONCURRENCY);
            let wanted = u32::try_from(wanted).unwrap_or(1);
            let at = match grant(&counters, per_second, priority, wanted, state.now()) {
                Grant::Lease(lease) => {
                    let brought = match state.notifications.lease(provider, &lease).await? {
                        LeaseOutcome::Granted { slots, counters } => {
                            LeasedSlots { slots: Some(slots), next: 0, counters: Some(counters) }
                        }
                        LeaseOutcome::Refused(counters) => {
                            LeasedSlots { counters: Some(counters), ..LeasedSlots::default() }
                        }
                    };
                    self.put(&key, brought);
                    state.now()
                }
                Grant::Later { at } => {
                    // The row may have been moved on since; it is read again.
                    self.put(&key, LeasedSlots::default());
                    at
                }
            };
            if self.leased(&key).slots.is_some() {
                continue;
            }
            let wait_us = at.as_microsecond() - state.now().as_microsecond();
            let waited_us = state.now().as_microsecond() - began.as_microsecond();
            if wait_us + waited_us > MAX_SLOT_WAIT_US {
                return Ok(SlotOutcome::Later(at));
            }
            sleep(wait_us.max(backoff_us(priority, misses, state.jitter()))).await;
        }
        Ok(SlotOutcome::Later(after(state.now(), MAX_SLOT_WAIT_US)))
    }

    fn leased(&self, key: &(ProviderName, Priority)) -> LeasedSlots {
        let leased = self.leased.lock();
        leased.get(key).copied().unwrap_or_default()
    }

    fn put(&self, key: &(ProviderName, Priority), after: LeasedSlots) {
        let mut leased = self.leased.lock();
        leased.insert(key.clone(), after);
    }
}

impl LeasedSlots {
    /// The next slot that can still be used and is near, and what is left.
    fn take(self, now: Timestamp) -> Option<(Slot, Self)> {
        let slots = self.slots?;
        let usable =
            |index: &u32| slots.wait_us(*index, now).is_some_and(|us| us <= MAX_SLOT_WAIT_US);
        let index = (self.next..slots.count()).find(usable)?;
        Some((Slot::At(slots, index), Self { next: index + 1, ..self }))
    }
}

impl Slot {
    /// Waits for it, or until a claim has to begin for it; `false` if its time is over.
    pub(crate) async fn wait(&self, state: &State, for_claim: bool) -> bool {
        let Self::At(slots, index) = self else { return true };
        let Some(us) = slots.wait_us(*index, state.now()) else { return false };
        let us = if for_claim { us - CLAIMING_US } else { us };
        sleep(us).await;
        true
    }
}

async fn sleep(us: i64) {
    if let Ok(us) = u64::try_from(us)
        && us > 0
    {
        tokio::time::sleep(Duration::from_micros(us)).await;
    }
}

fn after(now: Timestamp, us: i64) -> Timestamp {
    Timestamp::from_microsecond(now.as_microsecond() + us).unwrap_or(now)
}
