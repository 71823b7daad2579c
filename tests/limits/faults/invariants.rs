//! What holds of limits once nothing goes wrong any more.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::limits::{Algorithm, Rule};

use super::definitions::{Admitted, violation};
use super::lines::Lines;
use super::requests::{API_KEY, Asked, TENANT, USERS, Wanted, address};
use super::rows::{Debited, row_of};
use super::setup::rules;
use super::{MINUTE, World};

/// Nodes of a function that there may be at once.
const NODES: u64 = 5;

impl World {
    pub(super) async fn hold(&mut self) -> Result<(), String> {
        self.lab.cloud.functions.quiesce().await;
        self.lab.cloud.functions.retire(Duration::ZERO).await;
        let lines = Lines::of(&self.lab);
        let charged = self.charged(&lines)?;
        let debited = Debited::of(&self.lab);
        for ((id, entity), admitted) in &charged {
            let rule = rules().into_iter().find(|rule| rule.id == *id).unwrap();
            let held = match violation(&rule.quota, self.slack_ms, admitted) {
                Some(what) => Err(format!("admitted {what}")),
                None => self.hold_rows(&rule, entity, admitted, &debited),
            };
            held.map_err(|what| format!("{id} for {entity}: {what}"))?;
        }
        // It takes a while, so most runs that have enough to answer for are spared it.
        if self.lab.cloud.faults.counts().is_empty() || self.dice.below(3) == 0 {
            self.hold_fresh().await?;
        }
        self.hold_secrets()
    }

    /// What was admitted and charged, by rule and entity. Everything else that was admitted is found
    /// in the log, as let pass without the store.
    fn charged(&self, lines: &Lines) -> Result<BTreeMap<(String, String), Vec<Admitted>>, String> {
        let mut charged: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for asked in &self.asked {
            let Wanted { units, .. } = asked.wanted;
            let rules: Vec<Rule> = asked.wanted.rules().collect();
            for rule in &rules {
                let entity = asked.wanted.entity(rule.dimension);
                charged.entry((rule.id.clone(), entity)).or_default();
            }
            if asked.status >= 500 {
                continue;
            }
            let said = lines.of_trace(&asked.trace).ok_or(format!("no line of {asked:?}"))?;
            // Without the rules, a node does not know that the admin's own request is exempt.
            let excused = !asked.is_informed() && lines.excuses(said);
            let odd = said.freely % units != 0 || said.freely > 3 * units;
            if !excused && (odd || (!asked.is_admitted() && said.freely > 0)) {
                return Err(format!("{said:?} is said of {asked:?}"));
            }
            if asked.rule.as_deref() == Some("shadow") {
                return Err(format!("a shadow had a say in {asked:?}"));
            }
            if !asked.is_admitted() || said.freely > 0 || rules.is_empty() {
                continue;
            }
            if !asked.is_informed() {
                if excused {
                    continue;
                }
                return Err(format!("passed without rules, and nobody said so: {asked:?}"));
            }
            let Asked { sent_ms, answered_ms, .. } = *asked;
            for rule in rules {
                let entity = asked.wanted.entity(rule.dimension);
                let admitted = Admitted { from_ms: sent_ms, to_ms: answered_ms, units };
                charged.entry((rule.id, entity)).or_default().push(admitted);
            }
        }
        Ok(charged)
    }

    /// What was admitted was debited; what was debited and not admitted can be explained.
    fn hold_rows(
        &self,
        rule: &Rule,
        entity: &str,
        admitted: &[Admitted],
        debited: &Debited,
    ) -> Result<(), String> {
        let quota = &rule.quota;
        if !matches!(quota.algorithm, Algorithm::FixedWindow | Algorithm::SlidingWindow) {
            return Ok(());
        }
        let row = row_of(&rule.id, quota, entity);
        let (sum, peak) = (debited.sum(&row), debited.peak(&row));
        let spent: i64 = admitted.iter().map(|one| one.units).sum();
        if peak > quota.limit {
            return Err(format!("a window counts {peak}"));
        }
        if spent > sum {
            return Err(format!("{spent} were admitted and {sum} debited"));
        }
        let faults: u64 = self.lab.cloud.faults.counts().values().sum();
        // A node that ends without a word, or with a window, ends with what it holds.
        let ends = NODES * (self.colds + debited.windows(&row) as u64 - u64::from(sum > 0));
        let events = if quota.is_central() { faults } else { faults + ends };
        let explained = i64::try_from(events).unwrap_or(0) * debited.largest(&row);
        if sum - spent > explained {
            let lost = sum - spent;
            return Err(format!("{lost} of {sum} are lost, and {explained} can be explained"));
        }
        Ok(())
    }

    /// A caller whom nobody knows yet gets exactly what there is.
    async fn hold_fresh(&mut self) -> Result<(), String> {
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
        let wanted = Wanted {
            resource: resource.to_owned(),
            user: USERS[2].to_owned(),
            ip: address(99),
            units,
            visit: false,
        };
        let mut statuses = Vec::new();
        for nth in 0..=most {
            statuses.push(self.ask(vec![wanted.clone()]).await[0].status);
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
    fn hold_secrets(&self) -> Result<(), String> {
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
