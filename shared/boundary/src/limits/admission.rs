//! The answer to "may it pass?", and what the caller is told of it.

use domain::Timestamp;
use domain::limits::Quota;
use domain::limits::headers::{self, RateLimitHeaders};
use domain::limits::ledger::{Denial, QuotaCheck, QuotaStatus};
use domain::limits::rule::Dimension;

use crate::http::Problem;

/// Whether a request may pass, and how it stands with every rule it was held to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admission {
    /// The rules, most restrictive first.
    pub statuses: Vec<RuleStatus>,
    pub refusal: Option<QuotaRefusal>,
    now_ms: i64,
}

/// How a request stands with one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleStatus {
    pub rule: String,
    pub dimension: Dimension,
    /// Its quota, or the override's.
    pub quota: Quota,
    pub status: QuotaStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaRefusal {
    pub status: usize,
    /// Seconds after which another try is worth it; `None` if none ever is.
    pub retry_after: Option<i64>,
    /// Whether the quota is used up, or only can't be asked.
    pub unavailable: bool,
}

impl Admission {
    pub(super) fn new(
        checks: &[QuotaCheck<'_>],
        statuses: Vec<QuotaStatus>,
        denial: Option<Denial>,
        now: Timestamp,
    ) -> Self {
        let now_ms = now.as_millisecond();
        let mut statuses: Vec<RuleStatus> = checks
            .iter()
            .zip(statuses)
            .map(|(check, status)| RuleStatus {
                rule: check.rule.id.clone(),
                dimension: check.rule.dimension,
                quota: check.quota,
                status,
            })
            .collect();
        if let Some(denial) = denial
            && let Some(rule) = statuses.get_mut(denial.check)
        {
            // Something may be left, but not for this request.
            rule.status.reset_at_ms =
                denial.retry_at_ms.unwrap_or(rule.status.reset_at_ms).max(now_ms);
        }
        let refusal = denial.map(|denial| QuotaRefusal {
            status: denial.check,
            retry_after: denial.retry_at_ms.map(|at| ((at - now_ms).max(1) + 999) / 1_000),
            unavailable: denial.unavailable,
        });
        Self { statuses, refusal, now_ms }
    }

    /// The status that says most: the one that refuses, or else the one with the smallest share left.
    pub fn most_restrictive(&self) -> Option<&RuleStatus> {
        if let Some(refusal) = self.refusal {
            return self.statuses.get(refusal.status);
        }
        self.statuses.iter().min_by(|one, other| {
            let share = |rule: &RuleStatus, by: &RuleStatus| {
                i128::from(rule.status.remaining) * i128::from(by.quota.capacity().max(1))
            };
            share(one, other).cmp(&share(other, one))
        })
    }

    /// What the headers say; nothing if no rule applied.
    pub fn headers(&self) -> Option<RateLimitHeaders> {
        let statuses: Vec<headers::PolicyStatus<'_>> = self
            .statuses
            .iter()
            .map(|rule| headers::PolicyStatus {
                policy: &rule.rule,
                limit: rule.quota.limit,
                window_ms: rule.quota.window_ms,
                remaining: rule.status.remaining,
                reset_after_ms: rule.status.reset_at_ms - self.now_ms,
            })
            .collect();
        headers::rate_limit_headers(&statuses, self.now_ms)
    }

    /// The problem to answer with, if it may not pass.
    pub fn problem(&self) -> Option<Problem> {
        let (refusal, rule) = (self.refusal?, self.most_restrictive()?);
        if refusal.unavailable {
            let detail = format!("The quota `{}` can't be checked right now.", rule.rule);
            return Some(Problem::unavailable(detail, 1));
        }
        let (limit, seconds) = (rule.quota.limit, rule.quota.window_ms / 1_000);
        let detail = match refusal.retry_after {
            Some(_) => format!("The quota `{}` is used up: {limit} in {seconds} s.", rule.rule),
            None => format!("The quota `{}` never has that many: {limit} at most.", rule.rule),
        };
        Some(Problem::quota_exceeded(detail, refusal.retry_after, &rule.rule))
    }
}
