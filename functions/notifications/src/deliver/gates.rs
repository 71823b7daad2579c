//! What a node knows of its providers' breakers, and what it has seen since it last said so.
//!
//! Breakers are read once a batch; what was seen is added once a batch, or at once after a trial. What
//! can't be added is kept for the next time: a breaker that opens a moment later costs a few attempts,
//! a delivery that fails because of it would cost more.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::store::Trial;
use boundary::telemetry::Trace;
use domain::notifications::{Breaker, Gate, ProviderName, ProviderState, Seen, SendOutcome, Slot};
use domain::{Failure, Timestamp};
use providers::Provider;

use crate::deliver::{State, measures};

/// Breakers as they are known, and what they do not know yet.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    known: Mutex<BTreeMap<ProviderName, Breaker>>,
    seen: Mutex<BTreeMap<ProviderName, Seen>>,
}

impl Gates {
    /// Reads every breaker.
    pub(crate) async fn read(&self, state: &State) -> Result<(), Failure> {
        let names: Vec<ProviderName> = state.providers.iter().filter_map(named).collect();
        let breakers = state.notifications.breakers(&names).await?;
        *self.known.lock() = names.into_iter().zip(breakers).collect();
        Ok(())
    }

    /// What is known of `providers`. Whether they are busy is asked once one was chosen.
    pub(crate) fn states<'a>(
        &self,
        providers: impl Iterator<Item = &'a Arc<dyn Provider>>,
        now: Timestamp,
    ) -> Vec<ProviderState> {
        let known = self.known.lock();
        let gate = |name: &ProviderName| known.get(name).map_or(Gate::Closed, |it| it.gate(now));
        providers
            .filter_map(named)
            .map(|name| ProviderState { gate: gate(&name), slot: Slot::Free, name })
            .collect()
    }

    /// Whether a provider that failed may be tried by us, once.
    pub(crate) async fn try_one(
        &self,
        state: &State,
        name: &ProviderName,
    ) -> Result<bool, Failure> {
        let known = self.known.lock().get(name).cloned().unwrap_or_default();
        let (now, token) = (state.now(), state.token());
        let (won, row) = match state.notifications.begin_trial(name, &known, now, &token).await? {
            Trial::Won(row) => (true, row),
            Trial::Lost(row) => (false, row),
        };
        self.known.lock().insert(name.clone(), row);
        Ok(won)
    }

    /// Remembers what a provider made of a parcel.
    pub(crate) fn saw(&self, name: &ProviderName, handed: &SendOutcome) {
        self.seen.lock().entry(name.clone()).or_default().add(handed);
    }

    /// Adds what was seen to the rows.
    pub(crate) async fn tell(&self, state: &State, trace: &Trace) {
        let seen = std::mem::take(&mut *self.seen.lock());
        for (name, seen) in seen {
            let (now, token) = (state.now(), || state.token());
            match state.notifications.observe(&name, seen, now, token).await {
                Ok(breaker) => {
                    measures::gate(&name, breaker.gate(now));
                    self.known.lock().insert(name, breaker);
                }
                Err(failure) => {
                    state.warn(&failure, trace);
                    let mut kept = self.seen.lock();
                    let kept = kept.entry(name).or_default();
                    kept.fine = kept.fine.saturating_add(seen.fine);
                    kept.failed = kept.failed.saturating_add(seen.failed);
                }
            }
        }
    }
}

/// A provider's name, as rows have it.
fn named(provider: &Arc<dyn Provider>) -> Option<ProviderName> {
    ProviderName::parse(provider.name()).ok()
}
