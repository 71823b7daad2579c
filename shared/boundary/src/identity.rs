//! Who is calling: an API key that a node remembers for at most a minute, or verified OIDC claims.
//!
//! Absent: a key that works for more than 60 seconds after it was revoked (an entry of the cache is
//! never prolonged by using it, and it is read strongly consistent), an unknown key that costs a
//! read for each guess (5 seconds), a difference in time between an unknown key and a wrong one.

use std::collections::HashMap;
use std::time::Duration;

use domain::Result;
use domain::Timestamp;
use domain::accounts::{
    Account, ApiKey, KeyId, KeyVerdict, PresentedKey, Principal, Role, Roles, SecretHash, Tenant,
    UserId, hour_of, verify,
};
use messaging::KeyUseQueue;
use parking_lot::Mutex;
use store::Accounts;

use crate::http::{IncomingRequest, Problem};
use crate::telemetry::{Log, Trace};
use crate::{Host, Misconfigured};

const KEY_TTL_MS: i64 = 60_000;
const UNKNOWN_KEY_TTL_MS: i64 = 5_000;

/// A node that meets more keys than this forgets them all and starts over: memory stays bounded,
/// and the keys in use come back with two reads each.
const MAX_CACHED_KEYS: usize = 10_000;

/// How long reporting the use of a key may hold up the request.
const USE_REPORT_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Identity {
    accounts: Accounts,
    uses: KeyUseQueue,
    root: Option<SecretHash>,
    cache: Mutex<HashMap<KeyId, CachedKey>>,
}

/// What was stored under a key id when it was read.
#[derive(Debug, Clone)]
struct CachedKey {
    key: Option<ApiKey>,
    /// Read only for a caller who knows the secret, so that a wrong one costs what an unknown one
    /// does.
    account: Option<Account>,
    read_at: Timestamp,
    /// When the key's use is worth reporting again.
    next_report_at: Timestamp,
}

impl CachedKey {
    /// A clock that stepped back makes an entry old, never young.
    fn is_fresh(&self, now: Timestamp) -> bool {
        let age = now.as_millisecond() - self.read_at.as_millisecond();
        let limit = if self.key.is_some() { KEY_TTL_MS } else { UNKNOWN_KEY_TTL_MS };
        (0..limit).contains(&age)
    }
}

impl Identity {
    pub fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        let root = host.vars.parsed(
            "ADMIN_KEY_HASH",
            SecretHash::from_hex,
            "the SHA-256 of the admin key's secret, as 64 hex digits",
        )?;
        Ok(Self {
            accounts: host.accounts()?,
            uses: KeyUseQueue::new(host.aws.sqs(), host.vars.required("KEY_USES_QUEUE")?),
            root,
            cache: Mutex::default(),
        })
    }

    /// The caller, or the problem to answer with.
    pub(crate) async fn authenticate(
        &self,
        arrival: &IncomingRequest,
        authorization: Option<&str>,
        log: &Log,
    ) -> Result<Principal, Problem> {
        if let Some(claims) = &arrival.claims {
            return principal_from(claims).ok_or_else(Problem::unauthenticated);
        }
        let token = authorization.and_then(bearer).ok_or_else(Problem::unauthenticated)?;
        self.authenticate_key(token, arrival.now, &arrival.trace, log).await
    }

    /// Whose key it is, or the problem to answer with.
    pub(crate) async fn authenticate_key(
        &self,
        token: &str,
        now: Timestamp,
        trace: &Trace,
        log: &Log,
    ) -> Result<Principal, Problem> {
        let presented = PresentedKey::parse(token).ok_or_else(Problem::unauthenticated)?;
        if presented.key_id.as_str() == KeyId::ROOT {
            return self.root(&presented).ok_or_else(Problem::unauthenticated);
        }
        let cached = self.find(&presented, now).await?;
        let stored = cached.key.as_ref().zip(cached.account.as_ref());
        match verify(&presented, stored, now) {
            KeyVerdict::Valid(principal) => {
                self.report_use(&presented.key_id, &cached, now, trace, log).await;
                Ok(principal)
            }
            KeyVerdict::Denied => Err(Problem::unauthenticated()),
        }
    }

    /// The bootstrap admin, whose hash is configured and who has no row.
    fn root(&self, presented: &PresentedKey) -> Option<Principal> {
        let expected = self.root.as_ref()?;
        expected.matches(&presented.hash).then(|| Principal {
            user_id: UserId::outside(UserId::ROOT),
            name: "Root".to_owned(),
            roles: [Role::Admin].into_iter().collect(),
            tenant: Tenant::default(),
            key_id: Some(presented.key_id.clone()),
            key_expires_at: None,
        })
    }

    async fn find(&self, presented: &PresentedKey, now: Timestamp) -> Result<CachedKey> {
        let key_id = &presented.key_id;
        let previous = self.cache.lock().get(key_id).cloned();
        let mut cached = match previous {
            Some(cached) if cached.is_fresh(now) => cached,
            _ => CachedKey {
                key: self.accounts.find_key(key_id).await?,
                account: None,
                read_at: now,
                next_report_at: previous.map_or(Timestamp::MIN, |cached| cached.next_report_at),
            },
        };
        if let (Some(key), None) = (&cached.key, &cached.account)
            && key.hash.matches(&presented.hash)
        {
            cached.account = self.accounts.find(&key.user_id).await?;
        }
        let mut cache = self.cache.lock();
        if cache.len() >= MAX_CACHED_KEYS {
            // Guesses go first; keys in use stay.
            cache.retain(|_, cached| cached.key.is_some() && cached.is_fresh(now));
            if cache.len() >= MAX_CACHED_KEYS {
                cache.clear();
            }
        }
        cache.insert(key_id.clone(), cached.clone());
        Ok(cached)
    }

    /// Reports the use once an hour, for the list of keys. It may cost the caller a second at most and
    /// never their answer; after a failure it is not tried again for a minute.
    async fn report_use(
        &self,
        key_id: &KeyId,
        cached: &CachedKey,
        now: Timestamp,
        trace: &Trace,
        log: &Log,
    ) {
        let hour = hour_of(now);
        let reported = cached.key.as_ref().and_then(|key| key.last_used_at);
        if now < cached.next_report_at || reported.is_some_and(|reported| reported >= hour) {
            return;
        }
        let traceparent = trace.traceparent();
        let sent = self.uses.send(key_id, now, &traceparent);
        let report_again_in = match tokio::time::timeout(USE_REPORT_TIMEOUT, sent).await {
            Ok(Ok(())) => 3600 - (now.as_second() - hour.as_second()),
            Ok(Err(failure)) => {
                log.warn(now, trace, &failure.chain());
                60
            }
            Err(_) => {
                log.warn(now, trace, "a key's use could not be reported in time");
                60
            }
        };
        let next_report_at = Timestamp::from_second(now.as_second() + report_again_in);
        if let (Some(cached), Ok(next_report_at)) =
            (self.cache.lock().get_mut(key_id), next_report_at)
        {
            cached.next_report_at = next_report_at;
        }
    }
}

pub(crate) fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The principal in claims that API Gateway's JWT authorizer has verified: `sub`, `name`, `tenant`
/// and `roles` (separated by spaces or commas, in brackets or not, as the gateway flattens lists).
fn principal_from(claims: &HashMap<String, String>) -> Option<Principal> {
    let subject = claims.get("sub").filter(|subject| !subject.is_empty())?;
    let roles: Roles = claims
        .get("roles")
        .map(String::as_str)
        .unwrap_or_default()
        .split([' ', ',', '[', ']'])
        .filter_map(Role::from_name)
        .collect();
    Some(Principal {
        user_id: UserId::outside(&format!("{}{subject}", UserId::OIDC)),
        name: claims.get("name").unwrap_or(subject).clone(),
        roles,
        tenant: claims.get("tenant").and_then(|t| Tenant::parse(t).ok()).unwrap_or_default(),
        key_id: None,
        key_expires_at: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_become_a_principal_with_known_roles_only() {
        let claims = HashMap::from([
            ("sub".to_owned(), "auth0|7".to_owned()),
            ("roles".to_owned(), "[member job-viewer owner]".to_owned()),
        ]);
        let principal = principal_from(&claims).unwrap();
        assert_eq!(principal.user_id.as_str(), "oidc|auth0|7");
        assert_eq!(principal.roles, [Role::Member, Role::JobViewer].into_iter().collect());
        assert_eq!(principal_from(&HashMap::new()), None);
    }

    #[test]
    fn a_cached_key_ages_by_the_clock_and_never_by_use() {
        let at = |ms| Timestamp::from_millisecond(ms).unwrap();
        let unknown =
            CachedKey { key: None, account: None, read_at: at(10_000), next_report_at: at(0) };
        for (now, fresh) in [(10_000, true), (14_999, true), (15_000, false), (9_999, false)] {
            assert_eq!(unknown.is_fresh(at(now)), fresh, "{now}");
        }
    }

    #[test]
    fn only_bearer_tokens_are_read() {
        assert_eq!(bearer("Bearer a.b"), Some("a.b"));
        assert_eq!(bearer("bearer  a.b "), Some("a.b"));
        assert_eq!(bearer("Basic a.b"), None);
        assert_eq!(bearer("a.b"), None);
    }
}
