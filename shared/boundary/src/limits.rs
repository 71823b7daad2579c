//! Quotas: may this subject do so much more?
//!
//! A node takes units from the store in small lots and spends them without asking again, so that a
//! large quota costs a write for every hundredth use. Absent: a unit spent twice, a request that is
//! let through on an empty quota, a refused request that used anything up.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use domain::Timestamp;
use store::Links;
use store::links::{Grant, Rule};

use crate::http::{Error, Problem};

/// Subjects remembered at once; beyond that a node forgets its lots, which only costs units.
const SUBJECTS: usize = 10_000;

/// Decides by the windows that the store counts.
#[derive(Debug)]
pub struct Limits {
    quotas: Links,
    lots: Mutex<HashMap<String, Lot>>,
}

/// Units that were taken and not yet spent, good until their window ends.
#[derive(Debug, Clone, Copy)]
struct Lot {
    left: u32,
    until: i64,
}

impl Limits {
    /// Counts in the rows of that table.
    pub fn new(quotas: Links) -> Self {
        Self { quotas, lots: Mutex::default() }
    }

    /// Takes `units` of every rule for `subject`, or answers 429 and takes nothing.
    pub async fn take(
        &self,
        subject: &str,
        rules: &[Rule],
        units: u32,
        now: Timestamp,
    ) -> Result<(), Error> {
        if units == 0 || self.spend(subject, units, now) {
            return Ok(());
        }
        let lot = rules.iter().map(|rule| rule.limit / 100).min().unwrap_or(0).max(units);
        let mut grant = self.quotas.take_units(subject, rules, lot, now).await?;
        if grant == Grant::Granted {
            self.keep(subject, rules, lot - units, now);
        } else if lot > units {
            grant = self.quotas.take_units(subject, rules, units, now).await?;
        }
        match grant {
            Grant::Granted => Ok(()),
            Grant::Denied { wait } => Err(refusal(rules, wait).into()),
        }
    }

    /// Spends from the lot at hand, if it is large enough and its window is still open.
    fn spend(&self, subject: &str, units: u32, now: Timestamp) -> bool {
        let mut lots = self.lots.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(lot) = lots.get_mut(subject) else { return false };
        let enough = lot.until > now.as_second() && lot.left >= units;
        if enough {
            lot.left -= units;
        }
        enough
    }

    fn keep(&self, subject: &str, rules: &[Rule], left: u32, now: Timestamp) {
        if left == 0 {
            return;
        }
        let until = rules.iter().map(|rule| rule.resets_in(now)).min().unwrap_or(0);
        let mut lots = self.lots.lock().unwrap_or_else(PoisonError::into_inner);
        if lots.len() >= SUBJECTS {
            lots.clear();
        }
        lots.insert(subject.to_owned(), Lot { left, until: now.as_second() + until });
    }
}

fn refusal(rules: &[Rule], wait: i64) -> Problem {
    let quotas: Vec<String> =
        rules.iter().map(|rule| format!("{} in {} s", rule.limit, rule.seconds)).collect();
    Problem::too_many(format!("The quota is used up: {}.", quotas.join(", ")), wait)
}
