//! A provider's rate: slots are leased for the messages of a batch together, and each is used at its
//! time or not at all.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use parking_lot::Mutex;

use crate::store::Leased;
use domain::notifications::rate::{Grant, Lanes, Slots, grant, pause_us};
use domain::notifications::{Priority, ProviderName};
use domain::{Failure, Timestamp};

use crate::deliver::{AT_ONCE, State};

/// Whoever has to wait longer comes back with a message.
const NEAR_US: i64 = 3_000_000;

/// A claim takes so long: it is begun so much before its slot.
const CLAIMING_US: i64 = 15_000;

/// Tries at the row; then the message waits.
const TRIES: u32 = 6;

/// Slots that were leased and not used yet, and the rows as they were last seen.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    shelves: Mutex<BTreeMap<(ProviderName, Priority), Shelf>>,
    /// One lease at a time: whoever waits for it takes from what it brings.
    leasing: tokio::sync::Mutex<()>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Shelf {
    slots: Option<Slots>,
    next: u32,
    lanes: Option<Lanes>,
}

/// A moment at which the provider may be spoken to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Slot {
    /// Any: the provider takes as much as there is.
    Any,
    At(Slots, u32),
}

/// What asking for a slot comes to.
pub(crate) enum Taken {
    /// It is ours.
    Slot(Slot),
    /// There is none before then.
    Later(Timestamp),
}

impl Pool {
    /// Takes a slot that is near.
    pub(crate) async fn take(
        &self,
        state: &State,
        provider: &ProviderName,
        class: Priority,
    ) -> Result<Taken, Failure> {
        let Some(per_second) = state.providers.rate(provider.as_str()) else {
            return Ok(Taken::Slot(Slot::Any));
        };
        let key = (provider.clone(), class);
        let _turn = self.leasing.lock().await;
        let began = state.now();
        for misses in 0..TRIES {
            if let Some(slot) = self.shelf(&key).take(state.now()) {
                self.put(&key, slot.1);
                return Ok(Taken::Slot(slot.0));
            }
            let lanes = match self.shelf(&key).lanes {
                Some(lanes) => lanes,
                None => state.notifications.lanes(provider).await?,
            };
            let wanted = state.left.load(Ordering::SeqCst).clamp(1, AT_ONCE);
            let wanted = u32::try_from(wanted).unwrap_or(1);
            let at = match grant(&lanes, per_second, class, wanted, state.now()) {
                Grant::Lease(lease) => {
                    let brought = match state.notifications.lease(provider, &lease).await? {
                        Leased::Ours { slots, lanes } => {
                            Shelf { slots: Some(slots), next: 0, lanes: Some(lanes) }
                        }
                        Leased::Refused(lanes) => Shelf { lanes: Some(lanes), ..Shelf::default() },
                    };
                    self.put(&key, brought);
                    state.now()
                }
                Grant::Later { at } => {
                    // The row may have been moved on since; it is read again.
                    self.put(&key, Shelf::default());
                    at
                }
            };
            if self.shelf(&key).slots.is_some() {
                continue;
            }
            let wait_us = at.as_microsecond() - state.now().as_microsecond();
            let waited_us = state.now().as_microsecond() - began.as_microsecond();
            if wait_us + waited_us > NEAR_US {
                return Ok(Taken::Later(at));
            }
            sleep(wait_us.max(pause_us(class, misses, state.jitter()))).await;
        }
        Ok(Taken::Later(after(state.now(), NEAR_US)))
    }

    fn shelf(&self, key: &(ProviderName, Priority)) -> Shelf {
        let shelves = self.shelves.lock();
        shelves.get(key).copied().unwrap_or_default()
    }

    fn put(&self, key: &(ProviderName, Priority), after: Shelf) {
        let mut shelves = self.shelves.lock();
        shelves.insert(key.clone(), after);
    }
}

impl Shelf {
    /// The next slot that can still be used and is near, and what is left.
    fn take(self, now: Timestamp) -> Option<(Slot, Self)> {
        let slots = self.slots?;
        let usable = |index: &u32| slots.wait_us(*index, now).is_some_and(|us| us <= NEAR_US);
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
