//! What holds of limits once nothing goes wrong any more.

use std::collections::BTreeMap;
use std::time::Duration;
use tests::Result;

use domain::limits::{Algorithm, Rule};

use super::definitions::{Admitted, violation};
use super::log_lines::LogLines;
use super::requests::{API_KEY, Exchange, Request, TENANT, USERS, address};
use super::rows::{DebitLog, row_of};
use super::setup::rules;
use super::{MINUTE, World};

/// Nodes of a function that there may be at once.
const NODES: u64 = 5;

impl World {
    pub(super) async fn check_invariants(&mut self) -> Result {
        self.lab.cloud.functions.quiesce().await;
        self.lab.cloud.functions.retire(Duration::ZERO).await;
        let lines = LogLines::of(&self.lab);
        let charged = self.charged(&lines)?;
        let debits = DebitLog::of(&self.lab);
        for ((id, entity), admitted) in &charged {
            let rule = rules().into_iter().find(|rule| rule.id == *id).unwrap();
            let held = match violation(&rule.quota, self.slack_ms, admitted) {
                Some(what) => Err(format!("admitted {what}")),
                None => self.check_rows(&rule, entity, admitted, &debits),
            };
            held.map_err(|what| format!("{id} for {entity}: {what}"))?;
        }
        // It takes a while, so most runs that have enough to answer for are spared it.
        if self.lab.cloud.faults.counts().is_empty() || self.dice.below(3) == 0 {
            self.check_fresh_caller().await?;
        }
        self.check_secrets()
    }

    /// What was admitted and charged, by rule and entity. Everything else that was admitted is found
    /// in the log, as let pass without the store.
    fn charged(&self, lines: &LogLines) -> Result<BTreeMap<(String, String), Vec<Admitted>>> {
        let mut charged: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for exchange in &self.exchanges {
            let Request { units, .. } = exchange.request;
            let rules: Vec<Rule> = exchange.request.rules().collect();
            for rule in &rules {
                let entity = exchange.request.entity(rule.dimension);
                charged.entry((rule.id.clone(), entity)).or_default();
            }
            if exchange.status >= 500 {
                continue;
            }
            let line = lines.of_trace(&exchange.trace).ok_or(format!("no line of {exchange:?}"))?;
            // Without the rules, a node does not know that the admin's own request is exempt.
            let excused = !exchange.knew_rules() && lines.excuses(line);
            let odd = line.without_store % units != 0 || line.without_store > 3 * units;
            if !excused && (odd || (!exchange.is_admitted() && line.without_store > 0)) {
                return Err(format!("{line:?} is said of {exchange:?}"));
            }
            if exchange.rule.as_deref() == Some("shadow") {
                return Err(format!("a shadow had a say in {exchange:?}"));
            }
            if !exchange.is_admitted() || line.without_store > 0 || rules.is_empty() {
                continue;
            }
            if !exchange.knew_rules() {
                if excused {
                    continue;
                }
                return Err(format!("passed without rules, and no line says so: {exchange:?}"));
            }
            let Exchange { sent_ms, answered_ms, .. } = *exchange;
            for rule in rules {
                let entity = exchange.request.entity(rule.dimension);
                let admitted = Admitted { from_ms: sent_ms, to_ms: answered_ms, units };
                charged.entry((rule.id, entity)).or_default().push(admitted);
            }
        }
        Ok(charged)
    }

    /// What was admitted was debited; what was debited and not admitted can be explained.
    fn check_rows(
        &self,
        rule: &Rule,
        entity: &str,
        admitted: &[Admitted],
        debits: &DebitLog,
    ) -> Result {
        let quota = &rule.quota;
        if !matches!(quota.algorithm, Algorithm::FixedWindow | Algorithm::SlidingWindow) {
            return Ok(());
        }
        let row = row_of(&rule.id, quota, entity);
        let (sum, peak) = (debits.sum(&row), debits.peak(&row));
        let spent: i64 = admitted.iter().map(|one| one.units).sum();
        if peak > quota.limit {
            return Err(format!("a window counts {peak}"));
        }
        if spent > sum {
            return Err(format!("{spent} were admitted and {sum} debited"));
        }
        let faults: u64 = self.lab.cloud.faults.counts().values().sum();
        // A node that ends without a word, or with a window, ends with what it holds.
        let ends = NODES * (self.cold_starts + debits.windows(&row) as u64 - u64::from(sum > 0));
        let events = if quota.is_central() { faults } else { faults + ends };
        let explained = i64::try_from(events).unwrap_or(0) * debits.largest(&row);
        if sum - spent > explained {
            let lost = sum - spent;
            return Err(format!("{lost} of {sum} are lost, and {explained} can be explained"));
        }
        Ok(())
    }

    /// A new caller gets exactly what there is.
    async fn check_fresh_caller(&mut self) -> Result {
        let now_ms = self.lab.clock.now_ms();
        let middle = (now_ms.div_euclid(MINUTE) + 3) * MINUTE + MINUTE / 2;
        self.lab.clock.advance_ms(middle - now_ms);
        let (resource, units, most) = match self.theme {
            "/t/pair" => ("/t/pair", 2, 3),
            "/t/log" => ("/t/log", 1, 4),
            // To a clock that is behind, less has come back to a bucket.
            "/t/mixed" if self.slack_ms == 0 => ("/t/mixed", 45, 2),
            "/t/bucket" if self.slack_ms == 0 => ("/t/bucket", 38, 3),
            _ => ("/t/leased", 80, 2),
        };
        let request = Request {
            resource: resource.to_owned(),
            user: USERS[2].to_owned(),
            ip: address(99),
            units,
            visit: false,
        };
        let mut statuses = Vec::new();
        for nth in 0..=most {
            statuses.push(self.send(vec![request.clone()]).await[0].status);
            if nth == 0 {
                // The next node has everything to learn; this one gives back what it holds.
                self.lab.cloud.functions.quiesce().await;
                self.lab.cloud.functions.retire(Duration::ZERO).await;
            }
        }
        let mut expected = vec![200; most];
        expected.push(429);
        if statuses == expected {
            return Ok(());
        }
        Err(format!("{resource} in units of {units} answered {statuses:?}"))
    }

    /// No address, name or secret is in a line.
    fn check_secrets(&self) -> Result {
        let secret = API_KEY.split_once('.').map_or("", |(_, secret)| secret);
        let mut secrets = USERS.to_vec();
        secrets.extend([TENANT, secret, "203.0.113.", "203-0-113-"]);
        for line in self.lab.lines() {
            if let Some(secret) = secrets.iter().find(|secret| line.contains(**secret)) {
                return Err(format!("{secret} is in {line}"));
            }
        }
        Ok(())
    }
}
