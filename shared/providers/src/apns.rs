//! Push by Apple (HTTP/2, with a signed token).
//!
//! Guarantee: a token is made every 50 minutes, as Apple asks: no more often than every 20 and no
//! less often than every 60. One that Apple calls expired is replaced once. A repeat replaces the first
//! copy, by its collapse id.

use parking_lot::Mutex;

use async_trait::async_trait;
use bytes::Bytes;
use domain::Timestamp;
use domain::notifications::{Address, Class, Content, ProviderMessage, SendOutcome};
use egress::{Http2Client, Network, PostRequest, PostResponse};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::json;

use crate::Provider;
use crate::deadline::Deadline;
use crate::ids::{collapse_id, message_uuid};
use crate::jwt_signer::JwtSigner;
use crate::outcome::{
    accepted, from_post_error, refused, refused_by_response, unsupported_address,
};
use crate::settings::{ApnsSettings, InvalidSettings};

mod classify;

use self::classify::{classify, reason};

const ID: HeaderName = HeaderName::from_static("apns-id");
const TOPIC: HeaderName = HeaderName::from_static("apns-topic");
const PUSH_TYPE: HeaderName = HeaderName::from_static("apns-push-type");
const PRIORITY: HeaderName = HeaderName::from_static("apns-priority");
const EXPIRATION: HeaderName = HeaderName::from_static("apns-expiration");
const COLLAPSE_ID: HeaderName = HeaderName::from_static("apns-collapse-id");

const TOKEN_LIFETIME_SECONDS: i64 = 50 * 60;
const MAX_TTL: i64 = 28 * 86_400;
const MAX_PAYLOAD_BYTES: usize = 4096;
const MAX_RESPONSE_BYTES: usize = 4096;

/// An app on Apple's devices.
pub struct Apns {
    settings: ApnsSettings,
    topic: HeaderValue,
    signer: JwtSigner,
    client: Http2Client,
    token: Mutex<Option<(HeaderValue, Timestamp)>>,
}

impl Apns {
    /// Calls through `network`.
    pub fn new(settings: ApnsSettings, network: Network) -> Result<Self, InvalidSettings> {
        let signer = JwtSigner::p256_pem(settings.key.reveal())
            .ok_or_else(|| InvalidSettings::new("apns.key", "not a P-256 key in PKCS#8"))?;
        let topic = HeaderValue::try_from(&settings.topic)
            .map_err(|_| InvalidSettings::new("apns.topic", "not a bundle id"))?;
        let client = Http2Client::new(network, &settings.endpoint)
            .map_err(|_| InvalidSettings::new("apns.endpoint", "not a URL"))?;
        Ok(Self { settings, topic, signer, client, token: Mutex::default() })
    }

    /// The token of the last 50 minutes, unless that is `expired`.
    fn provider_token(&self, expired: Option<&HeaderValue>, now: Timestamp) -> Option<HeaderValue> {
        let mut cached = self.token.lock();
        if let Some((token, made)) = cached.as_ref() {
            let age = now.as_second() - made.as_second();
            if (0..TOKEN_LIFETIME_SECONDS).contains(&age) && Some(token) != expired {
                return Some(token.clone());
            }
        }
        let claims = json!({ "iss": self.settings.team_id, "iat": now.as_second() });
        let token = self.signer.sign(Some(&self.settings.key_id), &claims)?;
        let mut token = HeaderValue::try_from(format!("bearer {token}")).ok()?;
        token.set_sensitive(true);
        *cached = Some((token.clone(), now));
        Some(token)
    }

    fn post(
        &self,
        message: &ProviderMessage,
        token: HeaderValue,
        body: Bytes,
        now: Timestamp,
    ) -> Option<PostRequest> {
        let headers = HeaderMap::from_iter([
            (AUTHORIZATION, token),
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (ID, HeaderValue::try_from(message_uuid(&message.key)).ok()?),
            (TOPIC, self.topic.clone()),
            (PUSH_TYPE, HeaderValue::from_static("alert")),
            (PRIORITY, HeaderValue::from_static(if message.urgent { "10" } else { "5" })),
            (EXPIRATION, HeaderValue::from(expiration(message, now))),
            (COLLAPSE_ID, HeaderValue::try_from(collapse_id(message)).ok()?),
        ]);
        Some(PostRequest { headers, body })
    }
}

fn expiration(message: &ProviderMessage, now: Timestamp) -> i64 {
    let end = message.expires_at.map_or(i64::MAX, Timestamp::as_second);
    end.clamp(now.as_second(), now.as_second() + MAX_TTL)
}

#[async_trait]
impl Provider for Apns {
    fn name(&self) -> &'static str {
        "apns"
    }

    fn supports(&self, address: &Address) -> bool {
        matches!(address, Address::Apns { .. })
    }

    async fn send(&self, message: &ProviderMessage, now: Timestamp) -> SendOutcome {
        let Address::Apns { token: device } = &message.to else { return unsupported_address() };
        if device.is_empty() || device.len() > 200 || !device.bytes().all(|b| b.is_ascii_hexdigit())
        {
            return refused(Class::InvalidRecipient, "not a device token");
        }
        let Some(body) = body(message).filter(|body| body.len() <= MAX_PAYLOAD_BYTES) else {
            return refused(Class::Content, "not for a device, or more than Apple takes");
        };
        let path = format!("/3/device/{device}");
        let deadline = Deadline::new(self.settings.timeout_ms.duration(), MAX_RESPONSE_BYTES);
        let mut expired = None;
        loop {
            let token = self.provider_token(expired.as_ref(), now);
            let post = token.clone().and_then(|token| self.post(message, token, body.clone(), now));
            let Some(post) = post else { return refused(Class::Outage, "nothing can be signed") };
            match self.client.post(&path, post, deadline.limits(), now).await {
                Ok(response) if is_expired_token(&response) && expired.is_none() => expired = token,
                Ok(response) => return outcome(&response, now),
                Err(cause) => return from_post_error(&cause),
            }
        }
    }
}

fn is_expired_token(response: &PostResponse) -> bool {
    response.status == 403 && reason(&response.body) == "ExpiredProviderToken"
}

fn outcome(response: &PostResponse, now: Timestamp) -> SendOutcome {
    if response.status == 200 {
        let id = response.headers.get(ID).and_then(|id| id.to_str().ok());
        return accepted(id.map(str::to_owned));
    }
    let name = reason(&response.body);
    let reason = format!("Apple answered with status {} {name}", response.status);
    refused_by_response(classify(response.status, &name), &response.headers, now, reason)
}

fn body(message: &ProviderMessage) -> Option<Bytes> {
    let Content::Push { title, body, link, data } = &message.content else { return None };
    let mut aps = json!({ "alert": { "title": title, "body": body } });
    if message.urgent {
        aps["sound"] = "default".into();
    }
    let mut payload = json!({ "aps": aps });
    for (name, value) in [
        ("link", link.as_ref().map(|link| json!(link))),
        ("data", (!data.is_empty()).then(|| json!(data))),
    ] {
        if let Some(value) = value {
            payload[name] = value;
        }
    }
    Some(Bytes::from(payload.to_string()))
}
