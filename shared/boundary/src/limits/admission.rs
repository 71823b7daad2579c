//! The answer to "may it pass?", and what the caller is told of it.

use domain::Timestamp;
use domain::limits::Quota;
use domain::limits::headers::{self, Fields};
use domain::limits::ledger::{Claim, Denial, Standing};
use domain::limits::rule::Dimension;

use crate::http::Problem;

/// Whether a request may pass, and how it stands with every rule it was held to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admission {
    /// The rules, most restrictive first.
    pub standings: Vec<Held>,
    /// Why it may not.
    pub refusal: Option<Refusal>,
    now_ms: i64,
}

/// How a request stands with one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    pub rule: String,
    /// Whom it counts.
    pub dimension: Dimension,
    /// Its quota, or the override's.
    pub quota: Quota,
    /// What is left, and until when.
    pub standing: Standing,
}

/// Why a request may not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// Which of the standings refuses.
    pub standing: usize,
    /// Seconds after which another try is worth it; `None` if none ever is.
    pub retry_after: Option<i64>,
    /// Whether the quota is used up, or only can't be asked.
    pub unavailable: bool,
}

impl Admission {
    pub(super) fn new(
        claims: &[Claim<'_>],
        standings: Vec<Standing>,
        denial: Option<Denial>,
        now: Timestamp,
    ) -> Self {
        let now_ms = now.as_millisecond();
        let mut held: Vec<Held> = claims
            .iter()
            .zip(standings)
            .map(|(claim, standing)| Held {
                rule: claim.rule.id.clone(),
                dimension: claim.rule.dimension,
                quota: claim.quota,
                standing,
            })
            .collect();
        if let Some(denial) = denial
            && let Some(held) = held.get_mut(denial.claim)
        {
            // Something may be left, but not for this request.
            held.standing.reset_at_ms =
                denial.retry_at_ms.unwrap_or(held.standing.reset_at_ms).max(now_ms);
        }
        let refusal = denial.map(|denial| Refusal {
            standing: denial.claim,
            retry_after: denial.retry_at_ms.map(|at| ((at - now_ms).max(1) + 999) / 1_000),
            unavailable: denial.unavailable,
        });
        Self { standings: held, refusal, now_ms }
    }

    /// The standing that says most: the one that refuses, or else the one with the smallest share left.
    pub fn decisive(&self) -> Option<&Held> {
        if let Some(refusal) = self.refusal {
            return self.standings.get(refusal.standing);
        }
        self.standings.iter().min_by(|one, other| {
            let share = |held: &Held, by: &Held| {
                i128::from(held.standing.remaining) * i128::from(by.quota.capacity().max(1))
            };
            share(one, other).cmp(&share(other, one))
        })
    }

    /// What the headers say; nothing if no rule applied.
    pub fn fields(&self) -> Option<Fields> {
        let standings: Vec<headers::Standing<'_>> = self
            .standings
            .iter()
            .map(|held| headers::Standing {
                policy: &held.rule,
                limit: held.quota.limit,
                window_ms: held.quota.window_ms,
                remaining: held.standing.remaining,
                reset_after_ms: held.standing.reset_at_ms - self.now_ms,
            })
            .collect();
        headers::fields(&standings, self.now_ms)
    }

    /// The problem to answer with, if it may not pass.
    pub fn problem(&self) -> Option<Problem> {
        let (refusal, held) = (self.refusal?, self.decisive()?);
        if refusal.unavailable {
            let detail = format!("The quota `{}` can't be checked right now.", held.rule);
            return Some(Problem::unavailable(detail, 1));
        }
        let (limit, seconds) = (held.quota.limit, held.quota.window_ms / 1_000);
        let detail = match refusal.retry_after {
            Some(_) => format!("The quota `{}` is used up: {limit} in {seconds} s.", held.rule),
            None => format!("The quota `{}` never has that many: {limit} at most.", held.rule),
        };
        Some(Problem::quota_exceeded(detail, refusal.retry_after, &held.rule))
    }
}
