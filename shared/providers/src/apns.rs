//! Push by Apple (HTTP/2, with a signed token).
//!
//! Guarantee: a token is made every 50 minutes, as Apple asks: no more often than every 20 and no
//! less often than every 60. One that Apple calls expired is replaced once. A repeat takes the place
//! of the first copy, by its collapse id.

use parking_lot::Mutex;

use async_trait::async_trait;
use bytes::Bytes;
use domain::Timestamp;
use domain::notifications::{Address, Class, Content, ProviderMessage, SendOutcome};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use outside::{PostResponse, Http2Client, Network, PostRequest};
use serde_json::{Value, json};

use crate::Provider;
use crate::budget::Budget;
use crate::classified::{accepted, misdirected, not_posted, refused, refused_with};
use crate::derived::{group, uuid};
use crate::jwt::Signer;
use crate::settings::{ApnsSettings, Misconfigured};

mod classify;

use self::classify::{classify, reason};

const ID: HeaderName = HeaderName::from_static("apns-id");
const TOPIC: HeaderName = HeaderName::from_static("apns-topic");
const PUSH_TYPE: HeaderName = HeaderName::from_static("apns-push-type");
const PRIORITY: HeaderName = HeaderName::from_static("apns-priority");
const EXPIRATION: HeaderName = HeaderName::from_static("apns-expiration");
const COLLAPSE_ID: HeaderName = HeaderName::from_static("apns-collapse-id");

const TOKEN_SECONDS: i64 = 50 * 60;
const MAX_WAIT: i64 = 28 * 86_400;
const LARGEST: usize = 4096;
const ANSWER: usize = 4096;

/// An app on Apple's devices.
pub struct Apns {
    settings: ApnsSettings,
    topic: HeaderValue,
    signer: Signer,
    lines: Http2Client,
    token: Mutex<Option<(HeaderValue, Timestamp)>>,
}

impl Apns {
    /// Calls through `network`.
    pub fn new(settings: ApnsSettings, network: Network) -> Result<Self, Misconfigured> {
        let signer = Signer::p256_pem(settings.key.reveal())
            .ok_or_else(|| Misconfigured::new("apns.key", "not a P-256 key in PKCS#8"))?;
        let topic = HeaderValue::try_from(&settings.topic)
            .map_err(|_| Misconfigured::new("apns.topic", "not a bundle id"))?;
        let lines = Http2Client::new(network, &settings.endpoint)
            .map_err(|_| Misconfigured::new("apns.endpoint", "not a URL"))?;
        Ok(Self { settings, topic, signer, lines, token: Mutex::default() })
    }

    /// The token of the last 50 minutes, unless that is `stale`.
    fn token(&self, stale: Option<&HeaderValue>, now: Timestamp) -> Option<HeaderValue> {
        let mut kept = self.token.lock();
        if let Some((token, made)) = kept.as_ref() {
            let age = now.as_second() - made.as_second();
            if (0..TOKEN_SECONDS).contains(&age) && Some(token) != stale {
                return Some(token.clone());
            }
        }
        let claims = json!({ "iss": self.settings.team_id, "iat": now.as_second() });
        let token = self.signer.token(Some(&self.settings.key_id), &claims)?;
        let mut token = HeaderValue::try_from(format!("bearer {token}")).ok()?;
        token.set_sensitive(true);
        *kept = Some((token.clone(), now));
        Some(token)
    }

    fn post(
        &self,
        parcel: &ProviderMessage,
        token: HeaderValue,
        body: Bytes,
        now: Timestamp,
    ) -> Option<PostRequest> {
        let headers = HeaderMap::from_iter([
            (AUTHORIZATION, token),
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (ID, HeaderValue::try_from(uuid(&parcel.key)).ok()?),
            (TOPIC, self.topic.clone()),
            (PUSH_TYPE, HeaderValue::from_static("alert")),
            (PRIORITY, HeaderValue::from_static(if parcel.urgent { "10" } else { "5" })),
            (EXPIRATION, HeaderValue::from(expiration(parcel, now))),
            (COLLAPSE_ID, HeaderValue::try_from(group(parcel)).ok()?),
        ]);
        Some(PostRequest { headers, body })
    }
}

fn expiration(parcel: &ProviderMessage, now: Timestamp) -> i64 {
    let end = parcel.expires_at.map_or(i64::MAX, Timestamp::as_second);
    end.clamp(now.as_second(), now.as_second() + MAX_WAIT)
}

#[async_trait]
impl Provider for Apns {
    fn name(&self) -> &'static str {
        "apns"
    }

    fn takes(&self, address: &Address) -> bool {
        matches!(address, Address::Apns { .. })
    }

    fn recognises_repeats(&self) -> bool {
        true
    }

    async fn send(&self, parcel: &ProviderMessage, now: Timestamp) -> SendOutcome {
        let Address::Apns { token: device } = &parcel.to else { return misdirected() };
        if device.is_empty() || device.len() > 200 || !device.bytes().all(|b| b.is_ascii_hexdigit())
        {
            return refused(Class::InvalidRecipient, "not a device token");
        }
        let Some(body) = body(parcel).filter(|body| body.len() <= LARGEST) else {
            return refused(Class::Content, "not for a device, or more than Apple takes");
        };
        let path = format!("/3/device/{device}");
        let budget = Budget::new(self.settings.timeout_ms.duration(), ANSWER);
        let mut stale = None;
        loop {
            let token = self.token(stale.as_ref(), now);
            let post = token.clone().and_then(|token| self.post(parcel, token, body.clone(), now));
            let Some(post) = post else { return refused(Class::Outage, "nothing can be signed") };
            match self.lines.post(&path, post, budget.limits(), now).await {
                Ok(answer) if expired(&answer) && stale.is_none() => stale = token,
                Ok(answer) => return handed(&answer, now),
                Err(cause) => return not_posted(&cause),
            }
        }
    }
}

fn expired(answer: &PostResponse) -> bool {
    answer.status == 403 && reason(&answer.body) == "ExpiredProviderToken"
}

fn handed(answer: &PostResponse, now: Timestamp) -> SendOutcome {
    if answer.status == 200 {
        let id = answer.headers.get(ID).and_then(|id| id.to_str().ok());
        return accepted(id.map(str::to_owned));
    }
    let reason = reason(&answer.body);
    let said = format!("Apple answered with status {} {reason}", answer.status);
    refused_with(classify(answer.status, &reason), &answer.headers, now, said)
}

fn body(parcel: &ProviderMessage) -> Option<Bytes> {
    let Content::Push { title, body, link, data } = &parcel.content else { return None };
    let mut aps = json!({ "alert": { "title": title, "body": body } });
    if parcel.urgent {
        aps["sound"] = "default".into();
    }
    let mut message = json!({ "aps": aps });
    for (name, value) in [("link", link.as_ref().map(|link| json!(link))), ("data", data_of(data))]
    {
        if let Some(value) = value {
            message[name] = value;
        }
    }
    Some(Bytes::from(message.to_string()))
}

fn data_of(data: &std::collections::BTreeMap<String, String>) -> Option<Value> {
    (!data.is_empty()).then(|| json!(data))
}

impl std::fmt::Debug for Apns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Apns").field("lines", &self.lines).finish_non_exhaustive()
    }
}
