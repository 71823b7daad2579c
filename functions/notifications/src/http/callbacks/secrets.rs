//! The secrets that providers sign with, as Standard Webhooks says.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use boundary::{Host, Misconfigured};
use domain::Timestamp;
use domain::notifications::ProviderName;
use hmac::{Hmac, KeyInit, Mac};
use http::HeaderMap;
use sha2::Sha256;

use crate::http::header;

/// A call that was signed longer ago, or ahead, may be replayed by a third party.
const TOLERANCE_SECONDS: i64 = 300;

/// Secrets by provider; one with several is changing them.
#[derive(Clone, Default)]
pub(crate) struct CallbackSecrets(Vec<(ProviderName, Vec<u8>)>);

/// Says whose: secrets are in no log.
impl std::fmt::Debug for CallbackSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(provider, _)| provider.as_str())).finish()
    }
}

impl CallbackSecrets {
    /// Those that `CALLBACK_SECRETS` has: `provider:base64`, separated by commas; without it,
    /// no provider calls back.
    pub(crate) fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        const RULE: &str = "`provider:base64` of 24 to 64 bytes each, separated by commas";
        Ok(host.vars.parsed("CALLBACK_SECRETS", Self::parse, RULE)?.unwrap_or_default())
    }

    fn parse(text: &str) -> Option<Self> {
        let entry = |entry: &str| {
            let (provider, secret) = entry.trim().split_once(':')?;
            let secret = STANDARD.decode(secret.trim_start_matches("whsec_")).ok()?;
            let fits = (24..=64).contains(&secret.len());
            fits.then_some((ProviderName::parse(provider).ok()?, secret))
        };
        text.split(',').map(entry).collect::<Option<Vec<_>>>().map(Self)
    }

    /// Whether a provider calls back at all.
    pub(crate) fn knows(&self, provider: &ProviderName) -> bool {
        self.0.iter().any(|(known, _)| known == provider)
    }

    /// Whether the provider signed this call, within the last minutes.
    pub(crate) fn signed(
        &self,
        provider: &ProviderName,
        headers: &HeaderMap,
        body: &[u8],
        now: Timestamp,
    ) -> bool {
        let header = |name| header(headers, name).unwrap_or_default();
        let claimed = Signed {
            id: header("webhook-id"),
            at: header("webhook-timestamp"),
            signatures: header("webhook-signature"),
            body,
        };
        let mut secrets = self.0.iter().filter(|(known, _)| known == provider);
        secrets.any(|(_, secret)| claimed.is_valid(secret, now))
    }
}

/// What a call says about itself.
struct Signed<'a> {
    id: &'a str,
    at: &'a str,
    signatures: &'a str,
    body: &'a [u8],
}

impl Signed<'_> {
    fn is_valid(&self, secret: &[u8], now: Timestamp) -> bool {
        let Ok(at) = self.at.parse::<i64>() else { return false };
        if self.id.is_empty() || now.as_second().abs_diff(at) > TOLERANCE_SECONDS.unsigned_abs() {
            return false;
        }
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return false };
        for part in [self.id.as_bytes(), b".", self.at.as_bytes(), b".", self.body] {
            mac.update(part);
        }
        let given = self.signatures.split(' ').filter_map(|one| one.strip_prefix("v1,"));
        given
            .filter_map(|text| STANDARD.decode(text).ok())
            // Compares in constant time.
            .any(|tag| mac.clone().verify_slice(&tag).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_the_one_of_the_specification() {
        let secrets =
            CallbackSecrets::parse("smtp:whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let secret = &secrets.0[0].1;
        let now = |seconds: i64| Timestamp::from_second(1_614_265_330 + seconds).unwrap();
        let call = Signed {
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            at: "1614265330",
            signatures: "v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            body: br#"{"test": 2432232314}"#,
        };
        assert!(call.is_valid(secret, now(0)) && call.is_valid(secret, now(300)));
        assert!(!call.is_valid(secret, now(301)) && !call.is_valid(secret, now(-301)));
        assert!(!Signed { body: b"{}", ..call }.is_valid(secret, now(0)));
        assert!(!call.is_valid(&[1; 32], now(0)));
    }

    #[test]
    fn secrets_name_their_provider_and_are_long_enough() {
        let good = STANDARD.encode([1; 24]);
        assert!(CallbackSecrets::parse(&format!("ses:{good}, ses:{good},smtp:{good}")).is_some());
        for wrong in [good.clone(), format!("SES:{good}"), "ses:AAAA".to_owned()] {
            assert!(CallbackSecrets::parse(&wrong).is_none(), "{wrong}");
        }
    }
}
