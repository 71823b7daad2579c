//! The circuit breakers of providers as this instance knows them, and the calls that it has yet to add.
//!
//! Breakers are read once a batch; calls are added once a batch, or at once after a trial. What can't be
//! added is kept for the next batch: a breaker that opens a moment later costs a few attempts,
//! a delivery that fails because of it would cost more.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::store::TrialOutcome;
use boundary::telemetry::Trace;
use domain::notifications::{
    Availability, Breaker, BreakerState, CallCounts, ProviderName, ProviderState, SendOutcome,
};
use domain::{Result, Timestamp};
use providers::Provider;

use crate::deliver::{State, metrics};

#[derive(Debug, Default)]
pub(crate) struct Breakers {
    known: Mutex<BTreeMap<ProviderName, Breaker>>,
    unflushed: Mutex<BTreeMap<ProviderName, CallCounts>>,
}

impl Breakers {
    pub(crate) async fn read(&self, state: &State) -> Result {
        let names: Vec<ProviderName> = state.providers.iter().filter_map(provider_name).collect();
        let breakers = state.notifications.breakers(&names).await?;
        *self.known.lock() = names.into_iter().zip(breakers).collect();
        Ok(())
    }

    /// The breakers of `providers`. Whether one is busy is checked once it was chosen.
    pub(crate) fn states<'a>(
        &self,
        providers: impl Iterator<Item = &'a Arc<dyn Provider>>,
        now: Timestamp,
    ) -> Vec<ProviderState> {
        let known = self.known.lock();
        let breaker =
            |name: &ProviderName| known.get(name).map_or(BreakerState::Closed, |it| it.state(now));
        providers
            .filter_map(provider_name)
            .map(|name| ProviderState {
                breaker: breaker(&name),
                availability: Availability::Free,
                name,
            })
            .collect()
    }

    /// Whether a provider that failed may be tried by us, once.
    pub(crate) async fn begin_trial(&self, state: &State, name: &ProviderName) -> Result<bool> {
        let known = self.known.lock().get(name).cloned().unwrap_or_default();
        let (now, token) = (state.now(), state.token());
        let (won, row) = match state.notifications.begin_trial(name, &known, now, &token).await? {
            TrialOutcome::Won(row) => (true, row),
            TrialOutcome::Lost(row) => (false, row),
        };
        self.known.lock().insert(name.clone(), row);
        Ok(won)
    }

    pub(crate) fn record(&self, name: &ProviderName, handed: &SendOutcome) {
        self.unflushed.lock().entry(name.clone()).or_default().add(handed);
    }

    /// Adds the calls since the last flush to the rows.
    pub(crate) async fn flush(&self, state: &State, trace: &Trace) {
        let unflushed = std::mem::take(&mut *self.unflushed.lock());
        for (name, unflushed) in unflushed {
            let (now, token) = (state.now(), || state.token());
            match state.notifications.record_calls(&name, unflushed, now, token).await {
                Ok(breaker) => {
                    metrics::breaker_state(&name, breaker.state(now));
                    self.known.lock().insert(name, breaker);
                }
                Err(failure) => {
                    state.warn(&failure, trace);
                    let mut kept = self.unflushed.lock();
                    let kept = kept.entry(name).or_default();
                    kept.answered = kept.answered.saturating_add(unflushed.answered);
                    kept.failed = kept.failed.saturating_add(unflushed.failed);
                }
            }
        }
    }
}

/// A provider's name, as rows have it.
fn provider_name(provider: &Arc<dyn Provider>) -> Option<ProviderName> {
    ProviderName::parse(provider.name()).ok()
}
