//! The providers that deliver notifications, and the keys that links in them are signed with.
//!
//! Both are made on first use, so that other functions do not link them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::notifications::Address;
use domain::notifications::token::{KeyRing, TokenKey};
use providers::{Provider, ProviderClients, ProviderSettings};

use crate::{Host, Misconfigured};

const SETTINGS: &str = "PROVIDER_SETTINGS";
const KEYS: &str = "TOKEN_KEYS";

/// Providers in the order of preference, and how many messages a second each takes.
#[derive(Clone, Default)]
pub struct Providers {
    all: Vec<Arc<dyn Provider>>,
    rates: BTreeMap<String, u32>,
}

impl Providers {
    /// Without limits on their rates.
    pub fn new(all: Vec<Arc<dyn Provider>>) -> Self {
        Self { all, rates: BTreeMap::new() }
    }

    #[must_use]
    pub fn with_rate(mut self, provider: &str, per_second: u32) -> Self {
        self.rates.insert(provider.to_owned(), per_second);
        self
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Provider>> {
        self.all.iter()
    }

    /// Those that deliver to such an address, the preferred first.
    pub fn for_address(&self, address: &Address) -> impl Iterator<Item = &Arc<dyn Provider>> {
        self.all.iter().filter(move |provider| provider.supports(address))
    }

    /// How many messages a second a provider takes; `None` without a limit.
    pub fn rate(&self, provider: &str) -> Option<u32> {
        self.rates.get(provider).copied()
    }
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all.iter().map(|provider| provider.name())).finish()
    }
}

impl Host {
    /// The providers that the host was given, or those with an entry in `PROVIDER_SETTINGS`.
    pub fn providers(&self) -> Result<Providers, Misconfigured> {
        if let Some(given) = &self.providers {
            return Ok(given.clone());
        }
        let wrong = |problem: String| Misconfigured { name: SETTINGS.to_owned(), problem };
        let document = self.vars.optional(SETTINGS).unwrap_or("{}");
        let settings =
            ProviderSettings::parse(document).map_err(|error| wrong(format!("has {error}")))?;
        let rates = settings.rates.clone();
        let (network, ses, sns) = (self.network.clone(), self.aws.ses(), self.aws.sns());
        let all = providers::from_settings(settings, ProviderClients { network, ses, sns })
            .map_err(|error| wrong(format!("has {error}")))?;
        for (name, per_second) in &rates {
            if *per_second == 0 || !all.iter().any(|provider| provider.name() == name) {
                let problem = format!("has rates.{name}: 0, or of a provider without an entry");
                return Err(wrong(problem));
            }
        }
        Ok(Providers { all, rates })
    }

    /// The keys that `TOKEN_KEYS` has, the one that signs first: `id:base64`, separated by commas.
    /// `None` if there are none.
    pub fn token_ring(&self) -> Result<Option<KeyRing>, Misconfigured> {
        self.vars.parsed(
            KEYS,
            parse_token_keys,
            "`id:base64` of at least 32 bytes each, separated by commas",
        )
    }
}

fn parse_token_keys(text: &str) -> Option<KeyRing> {
    let mut keys = text.split(',').map(|entry| {
        let (id, secret) = entry.trim().split_once(':')?;
        TokenKey::new(id, &STANDARD.decode(secret).ok()?)
    });
    let first = keys.next()??;
    Some(KeyRing::new(first, keys.collect::<Option<Vec<TokenKey>>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_named_and_long_enough() {
        let key = STANDARD.encode([7; 32]);
        assert!(parse_token_keys(&format!("a:{key}")).is_some());
        assert!(parse_token_keys(&format!("b:{key}, a:{key}")).is_some());
        let short = STANDARD.encode([7; 31]);
        for wrong in [key.clone(), format!("a:{short}"), format!("a:{key},"), "a:???".to_owned()] {
            assert!(parse_token_keys(&wrong).is_none(), "{wrong}");
        }
    }
}
