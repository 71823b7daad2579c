//! Deciding without the store: what is held, then what each rule says.

use super::{Denial, Ledger, LedgerDecision, QuotaCheck};
use crate::limits::rule::OnFailure;

enum Allowance {
    Held,
    Expired,
    Open,
}

impl Ledger {
    /// Without the store: what is held, then what each rule says.
    pub(super) fn decide_without_store(
        &mut self,
        checks: &[QuotaCheck<'_>],
        units: i64,
        now_ms: i64,
    ) -> LedgerDecision {
        let mut allowances = Vec::with_capacity(checks.len());
        for (index, check) in checks.iter().enumerate() {
            let budget = self.budgets.budget(check, now_ms);
            let allowance = if budget.held() >= units {
                Allowance::Held
            } else if budget.held_or_expired() >= units {
                Allowance::Expired
            } else if check.rule.on_failure == OnFailure::Closed {
                self.metrics.failed_closed += 1;
                let retry_at_ms = Some(self.store_backoff_until_ms);
                return LedgerDecision::Denied(Denial {
                    check: index,
                    retry_at_ms,
                    unavailable: true,
                });
            } else if self.budgets.passed_without_store(check, now_ms) + units > check.quota.limit {
                let window = check.quota.window_ms.max(1);
                let retry_at_ms = Some((now_ms.div_euclid(window) + 1) * window);
                return LedgerDecision::Denied(Denial {
                    check: index,
                    retry_at_ms,
                    unavailable: false,
                });
            } else {
                Allowance::Open
            };
            allowances.push(allowance);
        }
        for (check, allowance) in checks.iter().zip(allowances) {
            match allowance {
                Allowance::Held => {
                    self.budgets.budget(check, now_ms).spend(units);
                }
                Allowance::Expired => {
                    self.budgets.budget(check, now_ms).spend_expired(units);
                    self.metrics.expired_spent += units;
                }
                Allowance::Open => {
                    self.budgets.record_pass(check, units, now_ms);
                    self.metrics.failed_open += units;
                }
            }
        }
        LedgerDecision::Allowed
    }
}
