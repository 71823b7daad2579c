//! Clicks on their way to the queue.
//!
//! Guarantee: a click is in exactly one batch, and a batch keeps its id until the queue has it, so a
//! batch that was sent twice is counted once. At most [`MOST`] clicks wait; beyond that the oldest
//! are dropped and counted. Absent: an address, from the moment a visit becomes a click.

use std::collections::VecDeque;
use std::sync::Arc;

use boundary::Entropy;
use domain::Timestamp;
use domain::links::clicks::{self, Click, ClickBatch};
use domain::links::flush_policy::backoff_ms;
use parking_lot::{Mutex, MutexGuard};

use crate::redirect::places::Places;
use crate::redirect::visitors;

/// The most clicks that wait.
pub(crate) const MOST: usize = 10_000;

/// A visit as the path noted it; reading its headers is left for after the answer.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) domain: String,
    pub(crate) code: String,
    pub(crate) at: Timestamp,
    pub(crate) address: String,
    pub(crate) user_agent: Option<String>,
    pub(crate) referrer: Option<String>,
    pub(crate) country: Option<String>,
    pub(crate) head: bool,
    pub(crate) variant: Option<u8>,
    pub(crate) limited: bool,
}

impl Visit {
    fn into_click(self, salt: &[u8; 32], places: &Places) -> Click {
        let agent = self.user_agent.as_deref().unwrap_or_default();
        let country = self.country.as_deref().or_else(|| places.country(&self.address));
        Click {
            visitor: visitors::hash(salt, &self.address, agent),
            user_agent: clicks::user_agent(agent),
            referrer: self.referrer.as_deref().and_then(clicks::referrer_host),
            country: country.and_then(clicks::country),
            domain: self.domain,
            code: self.code,
            at: self.at,
            head: self.head,
            variant: self.variant,
            limited: self.limited,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Outbox(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    visits: VecDeque<Visit>,
    clicks: VecDeque<Click>,
    sealed: Option<Arc<ClickBatch>>,
    dropped: u64,
    failures: u32,
    quiet_until_ms: i64,
}

impl Outbox {
    /// Notes a visit.
    pub(crate) fn note(&self, visit: Visit) {
        let mut inner = self.lock();
        inner.visits.push_back(visit);
        inner.make_room();
    }

    /// When the first visit was that is not a click yet.
    pub(crate) fn first_visit(&self) -> Option<Timestamp> {
        self.lock().visits.front().map(|visit| visit.at)
    }

    /// Makes clicks of the visits of one day, in whose salt they are hashed.
    pub(crate) fn hash_with(
        &self,
        salt: &[u8; 32],
        places: &Places,
        same_day: impl Fn(Timestamp) -> bool,
    ) {
        let mut inner = self.lock();
        while inner.visits.front().is_some_and(|visit| same_day(visit.at)) {
            if let Some(visit) = inner.visits.pop_front() {
                inner.clicks.push_back(visit.into_click(salt, places));
            }
        }
    }

    /// The batch to send: the one that may not have arrived, or a new one of what waits.
    pub(crate) fn batch(&self, entropy: &Entropy) -> Option<Arc<ClickBatch>> {
        let mut inner = self.lock();
        if inner.sealed.is_none() && !inner.clicks.is_empty() {
            let count = inner.clicks.len().min(clicks::MAX_BATCH_CLICKS);
            let clicks = inner.clicks.drain(..count).collect();
            inner.sealed = Some(Arc::new(ClickBatch { id: entropy.token(), clicks }));
        }
        inner.sealed.clone()
    }

    /// The queue has that batch.
    pub(crate) fn sent(&self, batch: &ClickBatch) {
        let mut inner = self.lock();
        if inner.sealed.as_ref().is_some_and(|sealed| sealed.id == batch.id) {
            inner.sealed = None;
        }
        inner.failures = 0;
        inner.quiet_until_ms = 0;
    }

    /// The queue may not have it; it is left alone for a while.
    pub(crate) fn refused(&self, now_ms: i64) {
        let mut inner = self.lock();
        inner.failures += 1;
        inner.quiet_until_ms = now_ms + backoff_ms(inner.failures);
    }

    /// Whether the queue is to be left alone. A clock that stepped back does not prolong that.
    pub(crate) fn is_quiet(&self, now_ms: i64) -> bool {
        let inner = self.lock();
        let pause = backoff_ms(inner.failures);
        (inner.quiet_until_ms - pause..inner.quiet_until_ms).contains(&now_ms)
    }

    /// How many clicks were dropped since this was last asked.
    pub(crate) fn take_dropped(&self) -> u64 {
        std::mem::take(&mut self.lock().dropped)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock()
    }
}

impl Inner {
    /// A sealed batch stays: the queue may have it already.
    fn make_room(&mut self) {
        let sealed = self.sealed.as_ref().map_or(0, |batch| batch.clicks.len());
        while self.visits.len() + self.clicks.len() + sealed > MOST {
            if self.clicks.pop_front().is_none() && self.visits.pop_front().is_none() {
                return;
            }
            self.dropped += 1;
        }
    }
}

#[cfg(test)]
mod tests;
