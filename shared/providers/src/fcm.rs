//! Push by Firebase Cloud Messaging (HTTP v1).
//!
//! Guarantee: a token that Firebase no longer believes is replaced once, and only once. A repeat
//! replaces the first copy on the screen, by tag.

use async_trait::async_trait;
use bytes::Bytes;
use domain::Timestamp;
use domain::notifications::{Address, Class, Content, ProviderMessage, SendOutcome};
use egress::{FetchLimits, Http2Client, Network, PostError, PostRequest, PostResponse};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::Provider;
use crate::deadline::Deadline;
use crate::ids::{collapse_id, hashed_id};
use crate::outcome::{
    accepted, from_post_error, refused, refused_by_response, unsupported_address,
};
use crate::settings::{FcmSettings, InvalidSettings, Timeout};

mod classify;
mod token;

use self::classify::FcmError;
use self::token::AccessTokens;

const MAX_PAYLOAD_BYTES: usize = 4096;
const MAX_TTL: i64 = 28 * 86_400;
const MAX_RESPONSE_BYTES: usize = 16 * 1024;

/// A Firebase project.
pub struct Fcm {
    path: String,
    client: Http2Client,
    tokens: AccessTokens,
    timeout: Timeout,
}

impl Fcm {
    /// Calls through `network`.
    pub fn new(settings: &FcmSettings, network: Network) -> Result<Self, InvalidSettings> {
        let project = &settings.service_account.project_id;
        let proper = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b':' | b'.');
        if project.is_empty() || !project.bytes().all(proper) {
            return Err(InvalidSettings::new("fcm.serviceAccount.project_id", "not a project"));
        }
        let client = Http2Client::new(network.clone(), &settings.endpoint)
            .map_err(|_| InvalidSettings::new("fcm.endpoint", "not a URL"))?;
        let tokens = AccessTokens::new(&settings.service_account, network)?;
        let path = format!("/v1/projects/{project}/messages:send");
        Ok(Self { path, client, tokens, timeout: settings.timeout_ms })
    }

    async fn post_message(
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
        self.client.post(&self.path, PostRequest { headers, body }, limits, now).await
    }
}

#[async_trait]
impl Provider for Fcm {
    fn name(&self) -> &'static str {
        "fcm"
    }

    fn supports(&self, address: &Address) -> bool {
        matches!(address, Address::Fcm { .. })
    }

    async fn send(&self, message: &ProviderMessage, now: Timestamp) -> SendOutcome {
        let Address::Fcm { token: device } = &message.to else { return unsupported_address() };
        let Some(request) = request(message, device, now) else {
            return refused(Class::Content, "not for a device");
        };
        let body = Bytes::from(request.to_string());
        if body.len() > MAX_PAYLOAD_BYTES {
            return refused(Class::Content, "more than Firebase takes");
        }
        let deadline = Deadline::new(self.timeout.duration(), MAX_RESPONSE_BYTES);
        let mut rejected: Option<String> = None;
        loop {
            let token = match self.tokens.current(rejected.as_deref(), deadline, now).await {
                Ok(token) => token,
                Err(reason) => return refused(Class::Outage, reason),
            };
            match self.post_message(&token, body.clone(), deadline.limits(), now).await {
                Ok(response) if response.status == 401 && rejected.is_none() => {
                    rejected = Some(token);
                }
                Ok(response) => return outcome(&response, now),
                Err(cause) => return from_post_error(&cause),
            }
        }
    }
}

fn request(message: &ProviderMessage, device: &str, now: Timestamp) -> Option<Value> {
    let Content::Push { title, body, link, data } = &message.content else { return None };
    let mut data = data.clone();
    data.extend(link.clone().map(|link| ("link".to_owned(), link)));
    let left = message.expires_at.map(|end| end.as_second() - now.as_second());
    let left = left.unwrap_or(MAX_TTL).clamp(0, MAX_TTL);
    let mut android = json!({
        "priority": if message.urgent { "HIGH" } else { "NORMAL" },
        "ttl": format!("{left}s"),
        "notification": { "tag": collapse_id(message) },
    });
    // Firebase keeps four groups for a device, so that a message without one gets none of its own.
    if let Some(key) = &message.collapse_key {
        android["collapse_key"] = hashed_id(key).into();
    }
    let apns = json!({
        "apns-collapse-id": collapse_id(message),
        "apns-priority": if message.urgent { "10" } else { "5" },
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

fn outcome(response: &PostResponse, now: Timestamp) -> SendOutcome {
    if (200..300).contains(&response.status) {
        let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        return accepted(body["name"].as_str().map(str::to_owned));
    }
    let error = FcmError::read(response.status, &response.body);
    refused_by_response(error.class(), &response.headers, now, error.to_string())
}
