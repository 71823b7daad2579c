//! Destinations that get in: not blocked, not ours, not known to be bad.

use std::collections::HashMap;

use crate::store::Entry;
use boundary::http::Problem;
use domain::links::{DomainName, Rejected, Target};
use domain::{Failure, Timestamp};
use outside::ReputationVerdict;

use crate::http::state::App;

/// How long a node trusts its copy of the blocklist.
const BLOCKLIST_MS: i64 = 60_000;

/// How long a node remembers that a host is not one of our custom domains, and of how many.
const STRANGERS_MS: i64 = 60_000;
const STRANGERS: usize = 10_000;

/// A copy of the blocklist.
#[derive(Debug)]
pub(crate) struct Blocklist {
    reasons: HashMap<String, String>,
    read_at: Timestamp,
}

impl App {
    /// Refuses destinations that are known to be bad, or that are one of our custom domains.
    pub(crate) async fn vet<'a>(
        &self,
        targets: impl Iterator<Item = &'a Target>,
        now: Timestamp,
    ) -> Result<(), Problem> {
        for target in targets {
            if self.blocked(target, now).await?.is_some() {
                return Err(Rejected::Blocklisted.into());
            }
            if self.is_custom_domain(target.host(), now).await? {
                let rule = "a page outside this service, not another short link";
                return Err(Rejected::field("longUrl", rule).into());
            }
            // The scan asks again; a reputation service that is down stops nobody.
            if let Ok(ReputationVerdict::Listed(_)) =
                self.reputation.check(&self.fetcher, target.as_str()).await
            {
                return Err(Rejected::Blocklisted.into());
            }
        }
        Ok(())
    }

    /// Whether links of ours live on that host. That they don't is remembered for a minute.
    async fn is_custom_domain(&self, host: &str, now: Timestamp) -> Result<bool, Failure> {
        let Ok(name) = DomainName::parse(host) else { return Ok(false) };
        let known = self.strangers.lock().get(host).copied();
        let age = known.map(|at| now.as_millisecond() - at.as_millisecond());
        if age.is_some_and(|age| (0..STRANGERS_MS).contains(&age)) {
            return Ok(false);
        }
        if self.links.domain_owner(&name).await?.is_some() {
            return Ok(true);
        }
        let mut strangers = self.strangers.lock();
        if strangers.len() >= STRANGERS {
            strangers.clear();
        }
        strangers.insert(host.to_owned(), now);
        Ok(false)
    }

    /// Why a destination is on the blocklist, if it is.
    async fn blocked(&self, target: &Target, now: Timestamp) -> Result<Option<String>, Failure> {
        let mut held = self.blocklist.lock().await;
        let age = |list: &Blocklist| now.as_millisecond() - list.read_at.as_millisecond();
        let fresh = held.as_ref().is_some_and(|list| (0..BLOCKLIST_MS).contains(&age(list)));
        if !fresh {
            let entries = self.links.blocklist().await?;
            let reasons = entries.into_iter().map(|Entry { key, reason, .. }| (key, reason));
            *held = Some(Blocklist { reasons: reasons.collect(), read_at: now });
        }
        let reasons = held.as_ref().map(|list| &list.reasons);
        let found = |key: &String| reasons.and_then(|reasons| reasons.get(key)).cloned();
        Ok(target.block_keys().iter().find_map(found))
    }

    /// Forgets the blocklist, so that the next request of this node reads it.
    pub(crate) async fn forget_blocklist(&self) {
        *self.blocklist.lock().await = None;
    }
}
