//! Clicks that are not in the queue yet, in memory.
//!
//! Guarantee: a click is in exactly one batch, and a batch keeps its id until the queue has it, so a
//! batch that was sent twice is counted once. At most [`MAX_PENDING`] clicks wait; beyond that the oldest
//! are dropped and counted. Absent: an address, from the moment a visit becomes a click.

use std::collections::VecDeque;
use std::sync::Arc;

use boundary::Entropy;
use domain::Timestamp;
use domain::links::clicks::{self, Click, ClickBatch};
use domain::links::flush_policy::backoff_ms;
use parking_lot::Mutex;

use crate::redirect::geo_ip::GeoIp;
use crate::redirect::visitor_hash;

/// The most visits and clicks in memory.
pub(crate) const MAX_PENDING: usize = 10_000;

/// A visit as the request had it; its headers are parsed after the answer.
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
    fn into_click(self, salt: &[u8; 32], geo_ip: &GeoIp) -> Click {
        let agent = self.user_agent.as_deref().unwrap_or_default();
        let country = self.country.as_deref().or_else(|| geo_ip.country(&self.address));
        Click {
            visitor: visitor_hash::hash(salt, &self.address, agent),
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
pub(crate) struct ClickBuffer(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    visits: VecDeque<Visit>,
    clicks: VecDeque<Click>,
    in_flight: Option<Arc<ClickBatch>>,
    dropped: u64,
    failures: u32,
    retry_at_ms: i64,
}

impl ClickBuffer {
    pub(crate) fn add(&self, visit: Visit) {
        let mut inner = self.0.lock();
        inner.visits.push_back(visit);
        inner.drop_oldest();
    }

    /// When the oldest visit was that is not a click yet.
    pub(crate) fn oldest_visit(&self) -> Option<Timestamp> {
        self.0.lock().visits.front().map(|visit| visit.at)
    }

    /// Turns one day's visits into clicks, hashed with that day's salt.
    pub(crate) fn hash_visits(
        &self,
        salt: &[u8; 32],
        geo_ip: &GeoIp,
        same_day: impl Fn(Timestamp) -> bool,
    ) {
        let mut inner = self.0.lock();
        while inner.visits.front().is_some_and(|visit| same_day(visit.at)) {
            if let Some(visit) = inner.visits.pop_front() {
                inner.clicks.push_back(visit.into_click(salt, geo_ip));
            }
        }
    }

    /// The batch to send: the one that may not have arrived, or a new one.
    pub(crate) fn next_batch(&self, entropy: &Entropy) -> Option<Arc<ClickBatch>> {
        let mut inner = self.0.lock();
        if inner.in_flight.is_none() && !inner.clicks.is_empty() {
            let count = inner.clicks.len().min(clicks::MAX_BATCH_CLICKS);
            let clicks = inner.clicks.drain(..count).collect();
            inner.in_flight = Some(Arc::new(ClickBatch { id: entropy.token(), clicks }));
        }
        inner.in_flight.clone()
    }

    pub(crate) fn mark_sent(&self, batch: &ClickBatch) {
        let mut inner = self.0.lock();
        if inner.in_flight.as_ref().is_some_and(|in_flight| in_flight.id == batch.id) {
            inner.in_flight = None;
        }
        inner.failures = 0;
        inner.retry_at_ms = 0;
    }

    /// The batch may not have arrived; it is sent again after a backoff.
    pub(crate) fn mark_failed(&self, now_ms: i64) {
        let mut inner = self.0.lock();
        inner.failures += 1;
        inner.retry_at_ms = now_ms + backoff_ms(inner.failures);
    }

    /// Whether a failed send is too recent to try again. A clock that stepped back does not prolong that.
    pub(crate) fn is_backing_off(&self, now_ms: i64) -> bool {
        let inner = self.0.lock();
        let backoff = backoff_ms(inner.failures);
        (inner.retry_at_ms - backoff..inner.retry_at_ms).contains(&now_ms)
    }

    /// How many clicks were dropped since the last call.
    pub(crate) fn take_dropped(&self) -> u64 {
        std::mem::take(&mut self.0.lock().dropped)
    }
}

impl Inner {
    /// A batch in flight stays: the queue may have it already.
    fn drop_oldest(&mut self) {
        let in_flight = self.in_flight.as_ref().map_or(0, |batch| batch.clicks.len());
        while self.visits.len() + self.clicks.len() + in_flight > MAX_PENDING {
            if self.clicks.pop_front().is_none() && self.visits.pop_front().is_none() {
                return;
            }
            self.dropped += 1;
        }
    }
}

#[cfg(test)]
mod tests;
