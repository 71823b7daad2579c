//! Checks destinations: not on the blocklist, not on a custom domain, not listed by the reputation service.

use std::collections::HashMap;

use crate::store::BlocklistEntry;
use boundary::http::Problem;
use domain::links::{DomainName, Target};
use domain::{Result, Timestamp};
use egress::ReputationVerdict;

use crate::http::state::App;

/// How long an instance uses its copy of the blocklist.
const BLOCKLIST_TTL_MS: i64 = 60_000;

/// How long, and of how many hosts, an instance remembers that they are no custom domains.
const FOREIGN_HOST_TTL_MS: i64 = 60_000;
const MAX_FOREIGN_HOSTS: usize = 10_000;

/// A copy of the blocklist.
#[derive(Debug)]
pub(crate) struct Blocklist {
    reasons: HashMap<String, String>,
    read_at: Timestamp,
}

impl App {
    /// Refuses destinations that are known to be bad, or that are one of our custom domains.
    pub(crate) async fn check_destinations<'a>(
        &self,
        targets: impl Iterator<Item = &'a Target>,
        now: Timestamp,
    ) -> Result<(), Problem> {
        for target in targets {
            if self.blocked(target, now).await?.is_some() {
                return Err(Problem::forbidden("That destination is blocked here."));
            }
            if self.is_custom_domain(target.host(), now).await? {
                let rule = "a page outside this service, not another short link";
                return Err(Problem::field("longUrl", rule));
            }
            // The scan checks again; a reputation service that is down refuses no link.
            if let Ok(ReputationVerdict::Listed(_)) =
                self.reputation.check(&self.fetcher, target.as_str()).await
            {
                return Err(Problem::forbidden("That destination is blocked here."));
            }
        }
        Ok(())
    }

    /// Whether that host is a custom domain. That it is not is remembered for a minute.
    async fn is_custom_domain(&self, host: &str, now: Timestamp) -> Result<bool> {
        let Ok(name) = DomainName::parse(host) else { return Ok(false) };
        let known = self.foreign_hosts.lock().get(host).copied();
        let age = known.map(|at| now.as_millisecond() - at.as_millisecond());
        if age.is_some_and(|age| (0..FOREIGN_HOST_TTL_MS).contains(&age)) {
            return Ok(false);
        }
        if self.links.domain_owner(&name).await?.is_some() {
            return Ok(true);
        }
        let mut foreign_hosts = self.foreign_hosts.lock();
        if foreign_hosts.len() >= MAX_FOREIGN_HOSTS {
            foreign_hosts.clear();
        }
        foreign_hosts.insert(host.to_owned(), now);
        Ok(false)
    }

    /// Why a destination is on the blocklist, if it is.
    async fn blocked(&self, target: &Target, now: Timestamp) -> Result<Option<String>> {
        let mut held = self.blocklist.lock().await;
        let age = |list: &Blocklist| now.as_millisecond() - list.read_at.as_millisecond();
        let fresh = held.as_ref().is_some_and(|list| (0..BLOCKLIST_TTL_MS).contains(&age(list)));
        if !fresh {
            let entries = self.links.blocklist().await?;
            let reasons =
                entries.into_iter().map(|BlocklistEntry { key, reason, .. }| (key, reason));
            *held = Some(Blocklist { reasons: reasons.collect(), read_at: now });
        }
        let reasons = held.as_ref().map(|list| &list.reasons);
        let found = |key: &String| reasons.and_then(|reasons| reasons.get(key)).cloned();
        Ok(target.block_keys().iter().find_map(found))
    }

    /// Drops the copy of the blocklist, so that this instance's next request reads it.
    pub(crate) async fn invalidate_blocklist(&self) {
        *self.blocklist.lock().await = None;
    }
}
