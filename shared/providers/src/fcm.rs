//! Push by Firebase Cloud Messaging (HTTP v1).
//!
//! Guarantee: a token that Firebase no longer believes is replaced once, and only once. A repeat takes
//! the place of the first copy on the screen, by tag.

use async_trait::async_trait;
use bytes::Bytes;
use domain::Timestamp;
use domain::notifications::{Address, Class, Content, ProviderMessage, SendOutcome};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use outside::{PostResponse, FetchLimits, Http2Client, Network, PostError, PostRequest};
use serde_json::{Value, json};

use crate::Provider;
use crate::budget::Budget;
use crate::classified::{accepted, misdirected, not_posted, refused, refused_with};
use crate::derived::{group, label};
use crate::settings::{FcmSettings, Misconfigured, Patience};

mod classify;
mod token;

use self::classify::Problem;
use self::token::Tokens;

/// Firebase takes no more than that.
const LARGEST: usize = 4096;
const MAX_TTL: i64 = 28 * 86_400;
const ANSWER: usize = 16 * 1024;

/// A Firebase project.
pub struct Fcm {
    path: String,
    lines: Http2Client,
    tokens: Tokens,
    patience: Patience,
}

impl Fcm {
    /// Calls through `network`.
    pub fn new(settings: &FcmSettings, network: Network) -> Result<Self, Misconfigured> {
        let project = &settings.service_account.project_id;
        let proper = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b':' | b'.');
        if project.is_empty() || !project.bytes().all(proper) {
            return Err(Misconfigured::new("fcm.serviceAccount.project_id", "not a project"));
        }
        let lines = Http2Client::new(network.clone(), &settings.endpoint)
            .map_err(|_| Misconfigured::new("fcm.endpoint", "not a URL"))?;
        let tokens = Tokens::new(&settings.service_account, network)?;
        let path = format!("/v1/projects/{project}/messages:send");
        Ok(Self { path, lines, tokens, patience: settings.timeout_ms })
    }

    async fn send(
        &self,
        token: &str,
        body: Bytes,
        limits: FetchLimits,
        now: Timestamp,
    ) -> Result<PostResponse, PostError> {
        let bearer = HeaderValue::try_from(format!("Bearer {token}"));
        let mut bearer = bearer.unwrap_or(HeaderValue::from_static("Bearer"));
        bearer.set_sensitive(true);
        let headers = HeaderMap::from_iter([
            (AUTHORIZATION, bearer),
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        ]);
        self.lines.post(&self.path, PostRequest { headers, body }, limits, now).await
    }
}

#[async_trait]
impl Provider for Fcm {
    fn name(&self) -> &'static str {
        "fcm"
    }

    fn takes(&self, address: &Address) -> bool {
        matches!(address, Address::Fcm { .. })
    }

    fn recognises_repeats(&self) -> bool {
        true
    }

    async fn send(&self, parcel: &ProviderMessage, now: Timestamp) -> SendOutcome {
        let Address::Fcm { token: device } = &parcel.to else { return misdirected() };
        let Some(message) = message(parcel, device, now) else {
            return refused(Class::Content, "not for a device");
        };
        let body = Bytes::from(message.to_string());
        if body.len() > LARGEST {
            return refused(Class::Content, "more than Firebase takes");
        }
        let budget = Budget::new(self.patience.duration(), ANSWER);
        let mut stale: Option<String> = None;
        loop {
            let token = match self.tokens.current(stale.as_deref(), budget, now).await {
                Ok(token) => token,
                Err(said) => return refused(Class::Outage, said),
            };
            match self.send(&token, body.clone(), budget.limits(), now).await {
                Ok(answer) if answer.status == 401 && stale.is_none() => stale = Some(token),
                Ok(answer) => return handed(&answer, now),
                Err(cause) => return not_posted(&cause),
            }
        }
    }
}

fn message(parcel: &ProviderMessage, device: &str, now: Timestamp) -> Option<Value> {
    let Content::Push { title, body, link, data } = &parcel.content else { return None };
    let mut data = data.clone();
    data.extend(link.clone().map(|link| ("link".to_owned(), link)));
    let left = parcel.expires_at.map(|end| end.as_second() - now.as_second());
    let left = left.unwrap_or(MAX_TTL).clamp(0, MAX_TTL);
    let mut android = json!({
        "priority": if parcel.urgent { "HIGH" } else { "NORMAL" },
        "ttl": format!("{left}s"),
        "notification": { "tag": group(parcel) },
    });
    // Firebase keeps four groups for a device, so that a parcel without one gets none of its own.
    if let Some(key) = &parcel.collapse_key {
        android["collapse_key"] = label(key).into();
    }
    let apns = json!({
        "apns-collapse-id": group(parcel),
        "apns-priority": if parcel.urgent { "10" } else { "5" },
        "apns-expiration": (now.as_second() + left).to_string(),
    });
    Some(json!({ "message": {
        "token": device,
        "notification": { "title": title, "body": body },
        "data": data,
        "android": android,
        "apns": { "headers": apns },
    } }))
}

fn handed(answer: &PostResponse, now: Timestamp) -> SendOutcome {
    if (200..300).contains(&answer.status) {
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        return accepted(body["name"].as_str().map(str::to_owned));
    }
    let problem = Problem::read(answer.status, &answer.body);
    refused_with(problem.class(), &answer.headers, now, problem.to_string())
}

impl std::fmt::Debug for Fcm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fcm").field("lines", &self.lines).finish_non_exhaustive()
    }
}
