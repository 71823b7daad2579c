//! Who is calling: accounts, API keys and roles.
//!
//! Trigger: HTTP. Effect: each change is one transaction of the change, its audit row and (where the
//! caller sent an `Idempotency-Key`) its answer; then an event on the topic `account-events`.
//! Guarantee: a repeated request changes nothing twice; an event that could not be published stays
//! in the outbox for `sweep-accounts`; the last admin stays; a secret is shown once and never kept.

mod audit;
pub mod docs;
mod keys;
mod users;
mod view;

use std::time::Duration;

use boundary::http::{Access, Api, Builder};
use boundary::telemetry::Log;
use boundary::{Entropy, Host, Misconfigured};
use domain::accounts::{Audit, Role};
use http::Method;
use messaging::AccountEvents;
use store::Accounts;

pub use view::{
    AccountPatch, AccountView, AuditView, KeyCreated, KeyView, KeyWanted, MeView, NewAccountBody,
    PageQuery, PageView,
};

/// The change is committed: its answer must not be lost to a slow topic.
const COURTESY: Duration = Duration::from_secs(1);

/// What the handlers share.
#[derive(Debug)]
pub struct State {
    accounts: Accounts,
    events: AccountEvents,
    entropy: Entropy,
    log: Log,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Api<State>, Misconfigured> {
    const ADMIN: Access = Access::Role(Role::Admin);
    const ALL: &str = "/api/v1/accounts";
    const ONE: &str = "/api/v1/accounts/{userId}";
    const TRAIL: &str = "/api/v1/accounts/{userId}/audit";
    const KEYS: &str = "/api/v1/accounts/{userId}/keys";
    const KEY: &str = "/api/v1/accounts/{userId}/keys/{keyId}";
    let topic = host.vars.required("ACCOUNT_EVENTS_TOPIC")?;
    let state = State {
        accounts: host.accounts()?,
        events: AccountEvents::new(host.aws.sns(), topic),
        entropy: host.entropy.clone(),
        log: host.log.clone(),
    };
    Builder::default()
        .on(Method::GET, "/api/v1/me", "readMe", Access::Key, |s, r| Box::pin(users::me(s, r)))
        .on(Method::POST, ALL, "createAccount", ADMIN, |s, r| Box::pin(users::create(s, r)))
        .on(Method::GET, ALL, "listAccounts", ADMIN, |s, r| Box::pin(users::list(s, r)))
        .on(Method::GET, ONE, "readAccount", Access::Key, |s, r| Box::pin(users::read(s, r)))
        .on(Method::PATCH, ONE, "amendAccount", Access::Key, |s, r| Box::pin(users::amend(s, r)))
        .on(Method::DELETE, ONE, "disableAccount", ADMIN, |s, r| Box::pin(users::disable(s, r)))
        .on(Method::GET, TRAIL, "readAudit", ADMIN, |s, r| Box::pin(audit::trail(s, r)))
        .on(Method::POST, KEYS, "createKey", Access::Key, |s, r| Box::pin(keys::create(s, r)))
        .on(Method::GET, KEYS, "listKeys", Access::Key, |s, r| Box::pin(keys::list(s, r)))
        .on(Method::DELETE, KEY, "revokeKey", Access::Key, |s, r| Box::pin(keys::revoke(s, r)))
        .build(host, state)
}

impl State {
    /// Tells the world about a committed change, within a second or not at all. The row waits in the outbox until both calls have
    /// worked, so a failure here costs the caller nothing: the sweep publishes it again.
    async fn announce(&self, audit: &Audit, request: &boundary::http::Request) {
        let told = async {
            self.events.changed(audit, &request.trace.traceparent()).await?;
            self.accounts.mark_published(audit).await
        };
        match tokio::time::timeout(COURTESY, told).await {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => {
                let failure: domain::Failure = failure;
                self.log.warn(request.now, &request.trace, &failure.chain());
            }
            Err(_) => self.log.warn(request.now, &request.trace, "an event has to wait"),
        }
    }
}
