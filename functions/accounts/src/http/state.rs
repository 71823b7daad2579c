//! What the handlers share, and what all changes have in common: who may make them, their audit
//! row, their event.

use std::time::Duration;

use boundary::http::{Call, Result};
use boundary::telemetry::Log;
use boundary::{Entropy, Host, Misconfigured};
use domain::Failure;
use domain::accounts::{Account, AccountChange, AuditEntry, Rejected, UserId};
use messaging::AccountEvents;
use store::Accounts;

/// The change is committed: its answer must not be lost to a slow topic.
const PUBLISH_TIMEOUT: Duration = Duration::from_secs(1);

/// What the handlers share.
#[derive(Debug)]
pub struct App {
    pub(crate) accounts: Accounts,
    pub(crate) entropy: Entropy,
    events: AccountEvents,
    log: Log,
}

impl App {
    pub(crate) fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        let topic = host.vars.required("ACCOUNT_EVENTS_TOPIC")?;
        Ok(Self {
            accounts: host.accounts()?,
            entropy: host.entropy.clone(),
            events: AccountEvents::new(host.aws.sns(), topic),
            log: host.log.clone(),
        })
    }

    /// The account, if the caller may manage it. Another user's is not found, so that ids can't be
    /// probed.
    pub(crate) async fn managed(&self, user_id: &UserId, call: &Call) -> Result<Account> {
        if !call.caller()?.may_manage(user_id) {
            return Err(Rejected::UnknownAccount.into());
        }
        let found = self.accounts.find(user_id).await?;
        found.ok_or_else(|| Rejected::UnknownAccount.into())
    }

    /// An audit row for a change that the caller is making now.
    pub(crate) fn audit(
        &self,
        change: AccountChange,
        user_id: &UserId,
        call: &Call,
    ) -> Result<AuditEntry> {
        let by = &call.caller()?.user_id;
        Ok(AuditEntry::new(change, user_id, None, by, call.now, self.entropy.bytes()))
    }

    /// Tells the world about a committed change, within a second or not at all. The row waits in
    /// the outbox until both calls have worked, so a failure here costs the caller nothing: the
    /// sweep publishes it again.
    pub(crate) async fn publish(&self, audit: &AuditEntry, call: &Call) {
        let told = async {
            self.events.publish(audit, &call.trace.traceparent()).await?;
            self.accounts.mark_published(audit).await
        };
        match tokio::time::timeout(PUBLISH_TIMEOUT, told).await {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => {
                let failure: Failure = failure;
                self.log.warn(call.now, &call.trace, &failure.chain());
            }
            Err(_) => self.log.warn(call.now, &call.trace, "an event has to wait"),
        }
    }
}
