//! A circuit breaker for each provider: one small row, to which all instances add their calls.
//!
//! ```text
//!  CLOSED ─ more than half of at least ten calls in a minute failed ─▶ OPEN
//!    ▲                                                                  │ its time is over
//!    └──── as many successes as trials ── HALF-OPEN ◀────────────────────────┘
//!                                           └─ a failure ─▶ OPEN, for twice as long
//! ```
//!
//! Nodes write under a version condition and try again from the row as it is, so no count is lost.
//! Absent: anything that an open breaker costs a message; it waits, and no attempt is used up.

use serde::{Deserialize, Serialize};

use super::{Class, SendOutcome, after};
use crate::Timestamp;

/// Whether a provider may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    Closed,
    /// By the instance that begins a trial: see [`Breaker::begin_trial`].
    HalfOpen,
    Open {
        until: Timestamp,
    },
}

/// The row of a provider.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Breaker {
    /// Counts of the last minute, oldest first.
    pub counts: Vec<SpanCounts>,
    /// Since it is not closed: when trials begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_until: Option<Timestamp>,
    /// How often it opened without having closed.
    pub opened: u32,
    /// Trials that were begun, and when the first of them was.
    pub trials: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trials_since: Option<Timestamp>,
    pub succeeded: u32,
    #[serde(rename = "v")]
    pub version: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SpanCounts {
    /// Which: seconds since 1970 ÷ 10.
    pub span: i64,
    /// Calls that were answered, with yes or no.
    #[serde(rename = "fine")]
    pub answered: u32,
    pub failed: u32,
}

/// Calls since an instance last recorded them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallCounts {
    pub answered: u32,
    pub failed: u32,
}

impl CallCounts {
    /// Adds a call. A provider that refuses a recipient or a content works, and so does one that limits our rate.
    pub fn add(&mut self, handed: &SendOutcome) {
        match handed {
            SendOutcome::Accepted { .. } => self.answered += 1,
            SendOutcome::Refused { class, .. } => match class {
                Class::InvalidRecipient | Class::OptedOut | Class::Content | Class::RateLimited => {
                    self.answered += 1;
                }
                Class::Outage | Class::Unrecognised => self.failed += 1,
            },
            SendOutcome::Unknown { .. } => self.failed += 1,
        }
    }
}

const SPAN_SECONDS: i64 = 10;
const SPANS: i64 = 6;
const MIN_CALLS: u32 = 10;
const FIRST_OPEN_SECONDS: i64 = 10;
const MAX_OPEN_SECONDS: i64 = 300;
const TRIALS: u32 = 3;
/// Trials that were never recorded are begun anew after so long.
const TRIAL_SECONDS: i64 = 60;

impl Breaker {
    pub fn state(&self, now: Timestamp) -> BreakerState {
        match self.open_until {
            None => BreakerState::Closed,
            Some(until) if until > now => BreakerState::Open { until },
            Some(_) if self.trials < TRIALS => BreakerState::HalfOpen,
            Some(_) => {
                let until = after(self.trials_since.unwrap_or(now), TRIAL_SECONDS);
                if until > now { BreakerState::Open { until } } else { BreakerState::HalfOpen }
            }
        }
    }

    /// The row with one more trial begun: the instance that writes it may call the provider once.
    pub fn begin_trial(&self, now: Timestamp) -> Option<Self> {
        (self.state(now) == BreakerState::HalfOpen).then(|| {
            let anew = self.trials >= TRIALS || self.trials == 0;
            Self {
                trials: if anew { 1 } else { self.trials + 1 },
                succeeded: if anew { 0 } else { self.succeeded },
                trials_since: if anew { Some(now) } else { self.trials_since },
                version: self.version + 1,
                ..self.clone()
            }
        })
    }

    /// The row with more calls.
    #[must_use]
    pub fn with_calls(&self, calls: CallCounts, now: Timestamp) -> Self {
        let mut next = Self { version: self.version + 1, ..self.clone() };
        match self.open_until {
            None => {
                next.count(calls, now);
                if next.fails() {
                    next.open(now);
                }
            }
            // What was on its way when it opened says nothing new.
            Some(until) if until > now => {}
            Some(_) if calls.failed > 0 => next.open(now),
            Some(_) => {
                next.succeeded += calls.answered;
                if next.succeeded >= TRIALS {
                    next = Self { version: next.version, ..Self::default() };
                }
            }
        }
        next
    }

    fn count(&mut self, calls: CallCounts, now: Timestamp) {
        // A clock that is behind adds to the latest span.
        let latest = self.counts.last().map_or(i64::MIN, |count| count.span);
        let span = now.as_second().div_euclid(SPAN_SECONDS).max(latest);
        self.counts.retain(|count| count.span > span - SPANS);
        if latest != span {
            self.counts.push(SpanCounts { span, answered: 0, failed: 0 });
        }
        if let Some(count) = self.counts.last_mut() {
            count.answered = count.answered.saturating_add(calls.answered);
            count.failed = count.failed.saturating_add(calls.failed);
        }
    }

    fn fails(&self) -> bool {
        let failed: u32 = self.counts.iter().map(|count| count.failed).sum();
        let answered: u32 = self.counts.iter().map(|count| count.answered).sum();
        failed + answered >= MIN_CALLS && failed > answered
    }

    fn open(&mut self, now: Timestamp) {
        let seconds = (FIRST_OPEN_SECONDS << self.opened.min(10)).min(MAX_OPEN_SECONDS);
        self.open_until = Some(after(now, seconds));
        self.opened += 1;
        self.counts.clear();
        self.trials = 0;
        self.trials_since = None;
        self.succeeded = 0;
    }
}

#[cfg(test)]
mod tests;
