//! Whoever carries notifications, and the keys that links in them are signed with.
//!
//! Only functions that ask for them link them: nothing here is made before it is asked for.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::notifications::Address;
use domain::notifications::token::{KeyRing, TokenKey};
use providers::{Provider, Settings, Ways};

use crate::{Host, Misconfigured};

const SETTINGS: &str = "PROVIDER_SETTINGS";
const KEYS: &str = "TOKEN_KEYS";

/// Providers in the order in which they are asked, and how many parcels a second each takes.
#[derive(Clone, Default)]
pub struct Providers {
    all: Vec<Arc<dyn Provider>>,
    rates: BTreeMap<String, u32>,
}

impl Providers {
    /// These, each taking as much as there is.
    pub fn new(all: Vec<Arc<dyn Provider>>) -> Self {
        Self { all, rates: BTreeMap::new() }
    }

    /// The same, but for one that takes only so many a second.
    #[must_use]
    pub fn with_rate(mut self, provider: &str, per_second: u32) -> Self {
        self.rates.insert(provider.to_owned(), per_second);
        self
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn Provider>> {
        self.all.iter()
    }

    /// Those who deliver to such an address, the one to be asked first first.
    pub fn to(&self, address: &Address) -> impl Iterator<Item = &Arc<dyn Provider>> {
        self.all.iter().filter(move |provider| provider.takes(address))
    }

    /// How many parcels a second a provider takes; `None` for as many as there are.
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
    /// Whoever carries notifications: those that the place brings, or those with an entry in
    /// `PROVIDER_SETTINGS`.
    pub fn providers(&self) -> Result<Providers, Misconfigured> {
        if let Some(brought) = &self.providers {
            return Ok(brought.clone());
        }
        let wrong = |problem: String| Misconfigured { name: SETTINGS.to_owned(), problem };
        let document = self.vars.optional(SETTINGS).unwrap_or("{}");
        let settings = Settings::parse(document).map_err(|error| wrong(format!("has {error}")))?;
        let rates = settings.rates.clone();
        let ways =
            Ways { network: self.network.clone(), ses: self.aws.sesv2(), sns: self.aws.sns() };
        let all =
            providers::wired(settings, ways).map_err(|error| wrong(format!("has {error}")))?;
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
        self.vars.parsed(KEYS, ring, "`id:base64` of at least 32 bytes each, separated by commas")
    }
}

fn ring(text: &str) -> Option<KeyRing> {
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
        assert!(ring(&format!("a:{key}")).is_some());
        assert!(ring(&format!("b:{key}, a:{key}")).is_some());
        let short = STANDARD.encode([7; 31]);
        for wrong in [key.clone(), format!("a:{short}"), format!("a:{key},"), "a:???".to_owned()] {
            assert!(ring(&wrong).is_none(), "{wrong}");
        }
    }
}
