//! What a node does about limits once an answer is out: look for new rules, report, block, give back.
//!
//! All of it may be lost with the node, without harm: a report is a report, another node counts the
//! offender's denials too, and units that are not given back end with their window.

use std::net::IpAddr;

use domain::Timestamp;
use domain::limits::firewall::auto_block_rule;
use domain::limits::history;
use domain::limits::ledger::Refund;
use store::limits::{CounterKey, DocumentPart, LimitsDocument};

use super::Limiter;
use super::configuration_cache::REFRESH_AFTER_MS;

/// Refunds sent and addresses blocked after one answer, and refunds sent in the half second that an
/// environment has at its end.
const MAX_AFTER_RESPONSE: usize = 4;
const MAX_AT_SHUTDOWN: usize = 64;

impl Limiter {
    /// Does what has come due. Costs nothing most of the time.
    pub async fn after_response(&self) {
        let now = self.clock.now();
        self.refresh_after(REFRESH_AFTER_MS, now).await;
        let mut pending = std::mem::take(&mut *self.pending_blocks.lock());
        for _ in 0..MAX_AFTER_RESPONSE {
            let Some(ip) = pending.last() else { break };
            if self.block_address(*ip, now).await.is_none() {
                break;
            }
            pending.pop();
        }
        // An offender is named once for each block: what could not be written is tried again.
        self.pending_blocks.lock().append(&mut pending);
        let refunds = self.ledger.lock().take_refunds(MAX_AFTER_RESPONSE);
        self.send_refunds(refunds, now).await;
        if self.usage.lock().is_due(now.as_millisecond()) {
            self.send_reports(now).await;
        }
    }

    /// Gives everything back: the environment ends.
    pub async fn shutdown(&self) {
        let now = self.clock.now();
        self.ledger.lock().release_all(now.as_millisecond());
        let refunds = self.ledger.lock().take_refunds(MAX_AT_SHUTDOWN);
        self.send_refunds(refunds, now).await;
        self.send_reports(now).await;
    }

    async fn send_refunds(&self, refunds: Vec<Refund>, now: Timestamp) {
        for refund in refunds {
            let Some(write) = refund.write(now.as_millisecond()) else { continue };
            let Refund { rule, quota, entity, shard, .. } = &refund;
            let key = CounterKey::new(&rule.id, quota, entity, *shard);
            // A refund that fails may have been made: it is never repeated.
            let _ = self.within_deadline(self.rows.write(&key, &write, now)).await;
        }
    }

    async fn send_reports(&self, now: Timestamp) {
        let reports = self.usage.lock().drain(now.as_millisecond(), history::MAX_REPORTS);
        for report in &reports {
            if self.within_deadline(self.rows.add_usage_report(report)).await.is_none() {
                return;
            }
        }
    }

    /// Blocks an address everywhere for a while. Of several nodes that want to, one does. `None` if the
    /// store did not say that it is blocked.
    async fn block_address(&self, ip: IpAddr, now: Timestamp) -> Option<()> {
        let settings = self.configuration().settings.auto_block;
        let rule = auto_block_rule(ip, settings, now.as_millisecond());
        let stands =
            self.within_deadline(self.rows.document(DocumentPart::Blocks, &rule.id)).await?;
        // What has ended may stand there for days.
        if stands.as_ref().is_some_and(|block| block.expires_at.is_some_and(|at| at > now)) {
            return Some(());
        }
        let document = LimitsDocument {
            id: rule.id.clone(),
            version: stands.map_or(1, |block| block.version + 1),
            body: rule.to_document(),
            changed_by: "limits".to_owned(),
            changed_at: now,
            expires_at: rule.expires_at,
        };
        let token = self.entropy.token();
        self.within_deadline(self.rows.save(DocumentPart::Blocks, &document, &token))
            .await
            .map(|_| ())
    }
}
