//! Push to browsers: encrypted for the browser (RFC 8291), signed for its push service (RFC 8292).
//!
//! Guarantee: a browser's owner chooses the endpoint, so it is called as carefully as any URL that
//! a user chose. The push service sees neither content nor keys. A repeat takes the place of the
//! first copy while that waits, by topic, and on the screen, by tag.

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use domain::Timestamp;
use domain::notifications::{Address, Class, Content, ProviderMessage, SendOutcome};
use egress::{FetchLimits, Fetcher, Network, PostRequest, PostResponse};
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::json;
use url::Url;

use crate::Provider;
use crate::ids::collapse_id;
use crate::jwt_signer::JwtSigner;
use crate::outcome::{
    accepted, from_post_error, refused, refused_by_response, unsupported_address,
};
use crate::settings::{InvalidSettings, WebPushSettings};

mod encrypt;

const TTL: HeaderName = HeaderName::from_static("ttl");
const URGENCY: HeaderName = HeaderName::from_static("urgency");
const TOPIC: HeaderName = HeaderName::from_static("topic");

/// Push services keep a message for four weeks at most.
const MAX_TTL: i64 = 28 * 86_400;
const TOKEN_LIFETIME_SECONDS: i64 = 12 * 3_600;
const MAX_RESPONSE_BYTES: usize = 1024;

/// Every browser's push service.
pub struct WebPush {
    subject: String,
    public: String,
    signer: JwtSigner,
    fetcher: Fetcher,
    limits: FetchLimits,
}

impl WebPush {
    /// Calls through `network`.
    pub fn new(settings: &WebPushSettings, network: Network) -> Result<Self, InvalidSettings> {
        let decode = |text: &str| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
        let public = decode(&settings.public_key).filter(|key| key.len() == 65);
        let public =
            public.ok_or_else(|| InvalidSettings::new("webPush.publicKey", "not a public key"))?;
        let private = decode(settings.private_key.reveal());
        let signer = private.and_then(|private| match private.len() {
            32 => JwtSigner::p256_raw(&private, &public),
            _ => JwtSigner::p256(&private),
        });
        let signer = signer.ok_or_else(|| {
            InvalidSettings::new("webPush.privateKey", "not the other half of the public key")
        })?;
        let limits = FetchLimits {
            bytes: MAX_RESPONSE_BYTES,
            redirects: 0,
            timeout: settings.timeout_ms.duration(),
        };
        Ok(Self {
            subject: settings.subject.clone(),
            public: URL_SAFE_NO_PAD.encode(public),
            signer,
            fetcher: Fetcher::new(network),
            limits,
        })
    }

    fn post(
        &self,
        message: &ProviderMessage,
        endpoint: &str,
        encrypted: Vec<u8>,
        now: Timestamp,
    ) -> Option<PostRequest> {
        let claims = json!({
            "aud": Url::parse(endpoint).ok()?.origin().ascii_serialization(),
            "exp": now.as_second() + TOKEN_LIFETIME_SECONDS,
            "sub": self.subject,
        });
        let token = self.signer.sign(None, &claims)?;
        let mut vapid =
            HeaderValue::try_from(format!("vapid t={token}, k={}", self.public)).ok()?;
        vapid.set_sensitive(true);
        let headers = HeaderMap::from_iter([
            (AUTHORIZATION, vapid),
            (CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
            (CONTENT_ENCODING, HeaderValue::from_static("aes128gcm")),
            (TTL, HeaderValue::from(ttl(message, now))),
            (URGENCY, HeaderValue::from_static(if message.urgent { "high" } else { "normal" })),
            (TOPIC, HeaderValue::try_from(collapse_id(message)).ok()?),
        ]);
        Some(PostRequest { headers, body: Bytes::from(encrypted) })
    }
}

fn ttl(message: &ProviderMessage, now: Timestamp) -> i64 {
    let left = message.expires_at.map(|end| end.as_second() - now.as_second());
    left.unwrap_or(MAX_TTL).clamp(0, MAX_TTL)
}

#[async_trait]
impl Provider for WebPush {
    fn name(&self) -> &'static str {
        "web-push"
    }

    fn supports(&self, address: &Address) -> bool {
        matches!(address, Address::WebPush { .. })
    }

    async fn send(&self, message: &ProviderMessage, now: Timestamp) -> SendOutcome {
        let Address::WebPush { endpoint, p256dh, auth } = &message.to else {
            return unsupported_address();
        };
        let Content::Push { title, body, link, data } = &message.content else {
            return refused(Class::Content, "not for a browser");
        };
        let tag = collapse_id(message);
        let content =
            json!({ "title": title, "body": body, "link": link, "data": data, "tag": tag });
        let content = content.to_string();
        if content.len() > encrypt::MAX_PLAINTEXT_BYTES {
            return refused(Class::Content, "more than a push service takes");
        }
        let Some(encrypted) = encrypt::encrypt(content.as_bytes(), p256dh, auth) else {
            return refused(Class::InvalidRecipient, "invalid keys");
        };
        let Some(post) = self.post(message, endpoint, encrypted, now) else {
            return refused(Class::InvalidRecipient, "an invalid endpoint");
        };
        match self.fetcher.post(endpoint, post, self.limits).await {
            Err(cause) => from_post_error(&cause),
            Ok(response) => outcome(&response, now),
        }
    }
}

fn outcome(response: &PostResponse, now: Timestamp) -> SendOutcome {
    match classify(response.status) {
        None => {
            let name = response.headers.get(LOCATION).and_then(|at| at.to_str().ok());
            accepted(name.and_then(|at| at.rsplit('/').next()).map(str::to_owned))
        }
        Some(class) => {
            let reason = format!("the push service answered with status {}", response.status);
            refused_by_response(class, &response.headers, now, reason)
        }
    }
}

/// What a status means (RFC 8030); `None` for success.
fn classify(status: u16) -> Option<Class> {
    match status {
        200..300 => None,
        404 | 410 => Some(Class::InvalidRecipient),
        400 | 413 => Some(Class::Content),
        429 => Some(Class::RateLimited),
        // Our signature is not accepted, or the push service is down.
        401 | 403 | 408 | 500..600 => Some(Class::Outage),
        _ => Some(Class::Unrecognised),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_has_a_class() {
        for (status, class) in [
            (200, None),
            (201, None),
            (202, None),
            (301, Some(Class::Unrecognised)),
            (400, Some(Class::Content)),
            (401, Some(Class::Outage)),
            (403, Some(Class::Outage)),
            (404, Some(Class::InvalidRecipient)),
            (410, Some(Class::InvalidRecipient)),
            (413, Some(Class::Content)),
            (429, Some(Class::RateLimited)),
            (500, Some(Class::Outage)),
            (503, Some(Class::Outage)),
        ] {
            assert_eq!(classify(status), class, "{status}");
        }
    }
}
