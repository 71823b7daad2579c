//! Who is calling: an API key that a node remembers for at most a minute, or verified OIDC claims.
//!
//! Absent: a key that works for more than 60 seconds after it was revoked (a memory is never
//! prolonged by using it, and it is read strongly consistent), an unknown key that costs a read for
//! each guess (5 seconds), a difference in time between an unknown key and a wrong one.

use std::collections::HashMap;
use std::time::Duration;

use domain::Failure;
use domain::Timestamp;
use domain::accounts::{
    Account, ApiKey, Key, KeyId, Principal, Role, Roles, SecretHash, Tenant, UserId, Verdict,
    hour_of, verify,
};
use messaging::KeyUses;
use parking_lot::Mutex;
use store::Accounts;

use crate::http::{IncomingRequest, Problem};
use crate::telemetry::{Log, Trace};
use crate::{Host, Misconfigured};

const KNOWN_FOR_MS: i64 = 60_000;
const UNKNOWN_FOR_MS: i64 = 5_000;

/// A node that meets more keys than this forgets them all and starts over: memory stays bounded,
/// and the keys in use come back with two reads each.
const REMEMBERED_KEYS: usize = 10_000;

/// What a courtesy may cost.
const COURTESY: Duration = Duration::from_secs(1);

/// Answers who sent a request.
#[derive(Debug)]
pub struct Identity {
    accounts: Accounts,
    uses: KeyUses,
    root: Option<SecretHash>,
    memory: Mutex<HashMap<KeyId, Memory>>,
}

/// What was stored under a key id when we looked.
#[derive(Debug, Clone)]
struct Memory {
    key: Option<Key>,
    /// Read only for a caller who knows the secret, so that a wrong one costs what an unknown one
    /// does.
    account: Option<Account>,
    looked_at: Timestamp,
    /// When the key's use is worth reporting again.
    quiet_until: Timestamp,
}

impl Memory {
    /// A clock that stepped back makes a memory old, never young.
    fn is_fresh(&self, now: Timestamp) -> bool {
        let age = now.as_millisecond() - self.looked_at.as_millisecond();
        let limit = if self.key.is_some() { KNOWN_FOR_MS } else { UNKNOWN_FOR_MS };
        (0..limit).contains(&age)
    }
}

impl Identity {
    /// Set up from a function's environment.
    pub fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        let root = host.vars.parsed(
            "ADMIN_KEY_HASH",
            SecretHash::from_hex,
            "the SHA-256 of the admin key's secret, as 64 hex digits",
        )?;
        Ok(Self {
            accounts: host.accounts()?,
            uses: KeyUses::new(host.aws.sqs(), host.vars.required("KEY_USES_QUEUE")?),
            root,
            memory: Mutex::default(),
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
        self.recognise(token, arrival.now, &arrival.trace, log).await
    }

    /// Whose key it is, or the problem to answer with.
    pub(crate) async fn recognise(
        &self,
        token: &str,
        now: Timestamp,
        trace: &Trace,
        log: &Log,
    ) -> Result<Principal, Problem> {
        let presented = ApiKey::parse(token).ok_or_else(Problem::unauthenticated)?;
        if presented.key_id.as_str() == KeyId::ROOT {
            return self.root(&presented).ok_or_else(Problem::unauthenticated);
        }
        let memory = self.look_up(&presented, now).await?;
        let stored = memory.key.as_ref().zip(memory.account.as_ref());
        match verify(&presented, stored, now) {
            Verdict::Valid(principal) => {
                self.tell_use(&presented.key_id, &memory, now, trace, log).await;
                Ok(principal)
            }
            Verdict::Denied => Err(Problem::unauthenticated()),
        }
    }

    /// The bootstrap admin, whose hash is configured and who has no row.
    fn root(&self, presented: &ApiKey) -> Option<Principal> {
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

    async fn look_up(&self, presented: &ApiKey, now: Timestamp) -> Result<Memory, Failure> {
        let key_id = &presented.key_id;
        let remembered = self.memory().get(key_id).cloned();
        let mut memory = match remembered {
            Some(memory) if memory.is_fresh(now) => memory,
            _ => Memory {
                key: self.accounts.find_key(key_id).await?,
                account: None,
                looked_at: now,
                quiet_until: remembered.map_or(Timestamp::MIN, |memory| memory.quiet_until),
            },
        };
        if let (Some(key), None) = (&memory.key, &memory.account)
            && key.hash.matches(&presented.hash)
        {
            memory.account = self.accounts.find(&key.user_id).await?;
        }
        let mut memories = self.memory();
        if memories.len() >= REMEMBERED_KEYS {
            // Guesses go first; keys in use stay.
            memories.retain(|_, memory| memory.key.is_some() && memory.is_fresh(now));
            if memories.len() >= REMEMBERED_KEYS {
                memories.clear();
            }
        }
        memories.insert(key_id.clone(), memory.clone());
        Ok(memory)
    }

    /// Reports the use once an hour. It is a courtesy to whoever reads the list of keys: it may cost
    /// the caller a second at most and never their answer, and a failure is left alone for a minute.
    async fn tell_use(
        &self,
        key_id: &KeyId,
        memory: &Memory,
        now: Timestamp,
        trace: &Trace,
        log: &Log,
    ) {
        let hour = hour_of(now);
        let noted = memory.key.as_ref().and_then(|key| key.last_used_at);
        if now < memory.quiet_until || noted.is_some_and(|noted| noted >= hour) {
            return;
        }
        let traceparent = trace.traceparent();
        let told = self.uses.used(key_id, now, &traceparent);
        let quiet_for = match tokio::time::timeout(COURTESY, told).await {
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
        let quiet_until = Timestamp::from_second(now.as_second() + quiet_for);
        if let (Some(memory), Ok(quiet_until)) = (self.memory().get_mut(key_id), quiet_until) {
            memory.quiet_until = quiet_until;
        }
    }

    fn memory(&self) -> parking_lot::MutexGuard<'_, HashMap<KeyId, Memory>> {
        // A panic elsewhere can't leave a memory half written: entries are replaced whole.
        self.memory.lock()
    }
}

/// The token of an `Authorization` header.
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
        .filter_map(Role::named)
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
        let who = principal_from(&claims).unwrap();
        assert_eq!(who.user_id.as_str(), "oidc|auth0|7");
        assert_eq!(who.roles, [Role::Member, Role::JobViewer].into_iter().collect());
        assert_eq!(principal_from(&HashMap::new()), None);
    }

    #[test]
    fn a_memory_ages_by_the_clock_and_never_by_use() {
        let at = |ms| Timestamp::from_millisecond(ms).unwrap();
        let unknown =
            Memory { key: None, account: None, looked_at: at(10_000), quiet_until: at(0) };
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
