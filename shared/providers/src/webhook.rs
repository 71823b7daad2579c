//! Push to a customer's server, signed as Standard Webhooks says.
//!
//! Guarantee: a customer's URL cannot make it call anything but a public address over https, and a
//! redirect is not followed. Receivers recognise a repeat by `webhook-id`, which is the message's key.

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use domain::Timestamp;
use domain::notifications::{Address, Class, Content, ProviderMessage, SendOutcome};
use egress::{FetchLimits, Fetcher, Network, PostRequest};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue};
use ring::hmac;
use serde_json::json;

use crate::Provider;
use crate::outcome::{
    accepted, from_post_error, refused, refused_by_response, unsupported_address,
};
use crate::settings::{InvalidSettings, Secret, WebhookSettings};

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

const MAX_RESPONSE_BYTES: usize = 1024;

pub struct Webhook {
    keys: Vec<hmac::Key>,
    fetcher: Fetcher,
    limits: FetchLimits,
}

impl Webhook {
    /// Calls through `network`.
    pub fn new(settings: &WebhookSettings, network: Network) -> Result<Self, InvalidSettings> {
        let keys: Option<Vec<_>> = settings.secrets.iter().map(signing_key).collect();
        let keys = keys.filter(|keys| !keys.is_empty()).ok_or_else(|| {
            InvalidSettings::new("webhook.secrets", "at least one `whsec_` with 24 to 64 bytes")
        })?;
        let limits = FetchLimits {
            bytes: MAX_RESPONSE_BYTES,
            redirects: 0,
            timeout: settings.timeout_ms.duration(),
        };
        Ok(Self { keys, fetcher: Fetcher::new(network), limits })
    }

    fn post(
        &self,
        message: &ProviderMessage,
        body: Vec<u8>,
        now: Timestamp,
    ) -> Option<PostRequest> {
        let at = now.as_second();
        let signed = [message.key.as_bytes(), format!(".{at}.").as_bytes(), &body].concat();
        let signatures: Vec<_> = self
            .keys
            .iter()
            .map(|key| format!("v1,{}", STANDARD.encode(hmac::sign(key, &signed))))
            .collect();
        let headers = HeaderMap::from_iter([
            (CONTENT_TYPE, JSON),
            (ID, HeaderValue::try_from(&message.key).ok()?),
            (TIMESTAMP, HeaderValue::from(at)),
            (SIGNATURE, HeaderValue::try_from(signatures.join(" ")).ok()?),
        ]);
        Some(PostRequest { headers, body: Bytes::from(body) })
    }
}

/// What Standard Webhooks calls a secret: 24 to 64 random bytes.
fn signing_key(secret: &Secret) -> Option<hmac::Key> {
    let bytes = STANDARD.decode(secret.reveal().strip_prefix("whsec_")?).ok()?;
    (24..=64).contains(&bytes.len()).then(|| hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

#[async_trait]
impl Provider for Webhook {
    fn name(&self) -> &'static str {
        "webhook"
    }

    fn supports(&self, address: &Address) -> bool {
        matches!(address, Address::Webhook { .. })
    }

    async fn send(&self, message: &ProviderMessage, now: Timestamp) -> SendOutcome {
        let Address::Webhook { url } = &message.to else { return unsupported_address() };
        let Content::Push { title, body, link, data } = &message.content else {
            return refused(Class::Content, "not for a server");
        };
        let content = json!({ "title": title, "body": body, "link": link, "data": data });
        let body = json!({ "type": "notification", "data": content }).to_string();
        let Some(post) = self.post(message, body.into_bytes(), now) else {
            return refused(Class::Content, "a key that cannot be sent");
        };
        match self.fetcher.post(url, post, self.limits).await {
            Err(cause) => from_post_error(&cause),
            Ok(response) => match classify(response.status) {
                None => accepted(None),
                Some(class) => {
                    let reason = format!("the server answered with status {}", response.status);
                    refused_by_response(class, &response.headers, now, reason)
                }
            },
        }
    }
}

/// What a status means; `None` for success.
fn classify(status: u16) -> Option<Class> {
    match status {
        200..300 => None,
        // The receiver unsubscribes.
        410 => Some(Class::InvalidRecipient),
        400 | 406 | 411 | 413..=415 | 422 => Some(Class::Content),
        429 => Some(Class::RateLimited),
        401 | 403 | 407 | 408 | 425 | 500..600 => Some(Class::Outage),
        _ => Some(Class::Unrecognised),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Timeout;

    #[test]
    fn each_status_has_a_class() {
        for (status, class) in [
            (200, None),
            (204, None),
            (302, Some(Class::Unrecognised)),
            (400, Some(Class::Content)),
            (401, Some(Class::Outage)),
            (403, Some(Class::Outage)),
            (404, Some(Class::Unrecognised)),
            (405, Some(Class::Unrecognised)),
            (408, Some(Class::Outage)),
            (410, Some(Class::InvalidRecipient)),
            (413, Some(Class::Content)),
            (422, Some(Class::Content)),
            (429, Some(Class::RateLimited)),
            (500, Some(Class::Outage)),
            (503, Some(Class::Outage)),
        ] {
            assert_eq!(classify(status), class, "{status}");
        }
    }

    #[test]
    fn the_signature_is_the_one_of_the_specification() {
        let secrets = vec![Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")];
        let settings = WebhookSettings { secrets, timeout_ms: Timeout::default() };
        let webhook = Webhook::new(&settings, Network::system()).unwrap();
        let message = ProviderMessage {
            key: "msg_p5jXN8AQM9LWM0D4loKWxJek".to_owned(),
            to: Address::Webhook { url: String::new() },
            content: Content::Sms { text: String::new() },
            collapse_key: None,
            urgent: false,
            expires_at: None,
            unsubscribe: None,
        };
        let now = Timestamp::from_second(1_614_265_330).unwrap();
        let post = webhook.post(&message, br#"{"test": 2432232314}"#.to_vec(), now).unwrap();
        assert_eq!(
            post.headers["webhook-signature"],
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
    }

    #[test]
    fn a_secret_that_is_none_is_refused() {
        for secret in ["", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_!"] {
            let secrets = vec![Secret::new(secret)];
            let settings = WebhookSettings { secrets, timeout_ms: Timeout::default() };
            assert!(Webhook::new(&settings, Network::system()).is_err(), "{secret}");
        }
    }
}
