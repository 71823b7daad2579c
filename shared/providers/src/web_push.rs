//! Push to browsers: encrypted for the browser (RFC 8291), signed for its push service (RFC 8292).
//!
//! Guarantee: a browser's owner chooses the endpoint, so it is called as carefully as any URL that
//! somebody chose. The push service sees neither content nor keys. A repeat takes the place of the
//! first copy while that waits, by topic, and on the screen, by tag.

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use domain::Timestamp;
use domain::notifications::{Address, Class, Content, ProviderMessage, SendOutcome};
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue};
use outside::{PostResponse, Fetcher, FetchLimits, Network, PostRequest};
use serde_json::json;
use url::Url;

use crate::Provider;
use crate::classified::{accepted, misdirected, not_posted, refused, refused_with};
use crate::derived::group;
use crate::jwt::Signer;
use crate::settings::{Misconfigured, WebPushSettings};

mod seal;

const TTL: HeaderName = HeaderName::from_static("ttl");
const URGENCY: HeaderName = HeaderName::from_static("urgency");
const TOPIC: HeaderName = HeaderName::from_static("topic");

/// Push services keep a message for four weeks at most.
const MAX_TTL: i64 = 28 * 86_400;
const TOKEN_SECONDS: i64 = 12 * 3_600;
const ANSWER: usize = 1024;

/// Every browser's push service.
pub struct WebPush {
    subject: String,
    public: String,
    signer: Signer,
    fetcher: Fetcher,
    limits: FetchLimits,
}

impl WebPush {
    /// Calls through `network`.
    pub fn new(settings: &WebPushSettings, network: Network) -> Result<Self, Misconfigured> {
        let decode = |text: &str| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
        let public = decode(&settings.public_key).filter(|key| key.len() == 65);
        let public =
            public.ok_or_else(|| Misconfigured::new("webPush.publicKey", "not a public key"))?;
        let private = decode(settings.private_key.reveal());
        let signer = private.and_then(|private| match private.len() {
            32 => Signer::p256_raw(&private, &public),
            _ => Signer::p256(&private),
        });
        let signer = signer.ok_or_else(|| {
            Misconfigured::new("webPush.privateKey", "not the other half of the public key")
        })?;
        let limits = FetchLimits { bytes: ANSWER, redirects: 0, timeout: settings.timeout_ms.duration() };
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
        parcel: &ProviderMessage,
        endpoint: &str,
        sealed: Vec<u8>,
        now: Timestamp,
    ) -> Option<PostRequest> {
        let claims = json!({
            "aud": Url::parse(endpoint).ok()?.origin().ascii_serialization(),
            "exp": now.as_second() + TOKEN_SECONDS,
            "sub": self.subject,
        });
        let token = self.signer.token(None, &claims)?;
        let mut vapid =
            HeaderValue::try_from(format!("vapid t={token}, k={}", self.public)).ok()?;
        vapid.set_sensitive(true);
        let headers = HeaderMap::from_iter([
            (AUTHORIZATION, vapid),
            (CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
            (CONTENT_ENCODING, HeaderValue::from_static("aes128gcm")),
            (TTL, HeaderValue::from(ttl(parcel, now))),
            (URGENCY, HeaderValue::from_static(if parcel.urgent { "high" } else { "normal" })),
            (TOPIC, HeaderValue::try_from(group(parcel)).ok()?),
        ]);
        Some(PostRequest { headers, body: Bytes::from(sealed) })
    }
}

fn ttl(parcel: &ProviderMessage, now: Timestamp) -> i64 {
    let left = parcel.expires_at.map(|end| end.as_second() - now.as_second());
    left.unwrap_or(MAX_TTL).clamp(0, MAX_TTL)
}

#[async_trait]
impl Provider for WebPush {
    fn name(&self) -> &'static str {
        "web-push"
    }

    fn takes(&self, address: &Address) -> bool {
        matches!(address, Address::WebPush { .. })
    }

    fn recognises_repeats(&self) -> bool {
        true
    }

    async fn send(&self, parcel: &ProviderMessage, now: Timestamp) -> SendOutcome {
        let Address::WebPush { endpoint, p256dh, auth } = &parcel.to else { return misdirected() };
        let Content::Push { title, body, link, data } = &parcel.content else {
            return refused(Class::Content, "not for a browser");
        };
        let tag = group(parcel);
        let content =
            json!({ "title": title, "body": body, "link": link, "data": data, "tag": tag });
        let content = content.to_string();
        if content.len() > seal::LARGEST {
            return refused(Class::Content, "more than a push service takes");
        }
        let Some(sealed) = seal::seal(content.as_bytes(), p256dh, auth) else {
            return refused(Class::InvalidRecipient, "keys that are none");
        };
        let Some(post) = self.post(parcel, endpoint, sealed, now) else {
            return refused(Class::InvalidRecipient, "an endpoint that is none");
        };
        match self.fetcher.post(endpoint, post, self.limits).await {
            Err(cause) => not_posted(&cause),
            Ok(answer) => handed(&answer, now),
        }
    }
}

fn handed(answer: &PostResponse, now: Timestamp) -> SendOutcome {
    match classify(answer.status) {
        None => {
            let name = answer.headers.get(LOCATION).and_then(|at| at.to_str().ok());
            accepted(name.and_then(|at| at.rsplit('/').next()).map(str::to_owned))
        }
        Some(class) => {
            let said = format!("the push service answered with status {}", answer.status);
            refused_with(class, &answer.headers, now, said)
        }
    }
}

/// What a status means (RFC 8030); nothing if it is a yes.
fn classify(status: u16) -> Option<Class> {
    match status {
        200..300 => None,
        404 | 410 => Some(Class::InvalidRecipient),
        400 | 413 => Some(Class::Content),
        429 => Some(Class::RateLimited),
        // Who we say we are is not believed, or they are in trouble.
        401 | 403 | 408 | 500..600 => Some(Class::Outage),
        _ => Some(Class::Unrecognised),
    }
}

impl std::fmt::Debug for WebPush {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebPush").field("public", &self.public).finish_non_exhaustive()
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
