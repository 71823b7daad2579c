//! Deciding without the store: what is held, then what each rule says.

use super::{Claim, Denial, Ledger, Step};
use crate::limits::rule::OnFailure;

enum Way {
    Held,
    Frozen,
    Open,
}

impl Ledger {
    /// Without the store: what is held, then what each rule says.
    pub(super) fn decide_alone(&mut self, claims: &[Claim<'_>], units: i64, now_ms: i64) -> Step {
        let mut ways = Vec::with_capacity(claims.len());
        for (index, claim) in claims.iter().enumerate() {
            let budget = self.entries.budget(claim, now_ms);
            let way = if budget.held() >= units {
                Way::Held
            } else if budget.frozen() >= units {
                Way::Frozen
            } else if claim.rule.on_failure == OnFailure::Closed {
                self.counts.closed += 1;
                let retry_at_ms = Some(self.deaf_until_ms);
                return Step::Denied(Denial { claim: index, retry_at_ms, unavailable: true });
            } else if self.entries.let_pass(claim, now_ms) + units > claim.quota.limit {
                let window = claim.quota.window_ms.max(1);
                let retry_at_ms = Some((now_ms.div_euclid(window) + 1) * window);
                return Step::Denied(Denial { claim: index, retry_at_ms, unavailable: false });
            } else {
                Way::Open
            };
            ways.push(way);
        }
        for (claim, way) in claims.iter().zip(ways) {
            match way {
                Way::Held => {
                    self.entries.budget(claim, now_ms).spend(units);
                }
                Way::Frozen => {
                    self.entries.budget(claim, now_ms).spend_frozen(units);
                    self.counts.frozen += units;
                }
                Way::Open => {
                    self.entries.note_pass(claim, units, now_ms);
                    self.counts.open += units;
                }
            }
        }
        Step::Allowed
    }
}
