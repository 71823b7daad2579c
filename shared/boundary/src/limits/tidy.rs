//! What a node does about limits once an answer is out: look for new rules, report, block, give back.
//!
//! All of it may be lost with the node, without harm: a report is a report, another node counts the
//! offender's denials too, and units that are not given back end with their window.

use std::net::IpAddr;

use domain::Timestamp;
use domain::limits::firewall::automatic_rule;
use domain::limits::history;
use domain::limits::ledger::Refund;
use store::limits::{CounterKey, Document, Part};

use super::Limiter;
use super::known::RENEW_MS;

/// Refunds sent and addresses blocked after one answer, and refunds sent in the half second that an
/// environment has at its end.
const AFTER_ANSWER: usize = 4;
const AT_THE_END: usize = 64;

impl Limiter {
    /// Does what has come due. Costs nothing most of the time.
    pub async fn tidy(&self) {
        let now = self.clock.now();
        self.refresh_after(RENEW_MS, now).await;
        let mut offences = std::mem::take(&mut *self.offences.lock());
        for _ in 0..AFTER_ANSWER {
            let Some(ip) = offences.last() else { break };
            if self.block(*ip, now).await.is_none() {
                break;
            }
            offences.pop();
        }
        // An offender is named once for each block: what could not be written is tried again.
        self.offences.lock().append(&mut offences);
        let refunds = self.ledger.lock().refunds(AFTER_ANSWER);
        self.give_back(refunds, now).await;
        if self.seen.lock().due(now.as_millisecond()) {
            self.report(now).await;
        }
    }

    /// Gives everything back: the environment ends.
    pub async fn close(&self) {
        let now = self.clock.now();
        self.ledger.lock().give_up(now.as_millisecond());
        let refunds = self.ledger.lock().refunds(AT_THE_END);
        self.give_back(refunds, now).await;
        self.report(now).await;
    }

    async fn give_back(&self, refunds: Vec<Refund>, now: Timestamp) {
        for refund in refunds {
            let Some(write) = refund.write(now.as_millisecond()) else { continue };
            let Refund { rule, quota, entity, shard, .. } = &refund;
            let key = CounterKey::new(&rule.id, quota, entity, *shard);
            // A refund that fails may have been made: it is never repeated.
            let _ = self.in_time(self.rows.try_write(&key, &write, now)).await;
        }
    }

    async fn report(&self, now: Timestamp) {
        let reports = self.seen.lock().take(now.as_millisecond(), history::MOST);
        for report in &reports {
            if self.in_time(self.rows.note_seen(report)).await.is_none() {
                return;
            }
        }
    }

    /// Blocks an address everywhere for a while. Of several nodes that want to, one does. `None` if the
    /// store did not say that it is blocked.
    async fn block(&self, ip: IpAddr, now: Timestamp) -> Option<()> {
        let settings = self.configuration().settings.auto_block;
        let rule = automatic_rule(ip, settings, now.as_millisecond());
        let stands = self.in_time(self.rows.document(Part::Blocks, &rule.id)).await?;
        // What has ended may stand there for days.
        if stands.as_ref().is_some_and(|block| block.expires_at.is_some_and(|at| at > now)) {
            return Some(());
        }
        let document = Document {
            id: rule.id.clone(),
            version: stands.map_or(1, |block| block.version + 1),
            body: rule.to_document(),
            changed_by: "limits".to_owned(),
            changed_at: now,
            expires_at: rule.expires_at,
        };
        let token = self.entropy.token();
        self.in_time(self.rows.save(Part::Blocks, &document, &token)).await.map(|_| ())
    }
}
