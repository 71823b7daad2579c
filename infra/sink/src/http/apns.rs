//! Apple's push service: HTTP/2 only, with a signed token that is at most an hour old.

use http::{HeaderName, Version};
use serde_json::Value;

use super::{Refusal, header, headers, pretty, text};
use crate::http::Request;
use crate::jwt::VerifiedJwt;
use crate::message::ReceivedMessage;
use crate::sink::SinkState;

pub(super) const ID: HeaderName = HeaderName::from_static("apns-id");

/// A message for a device.
pub(super) fn read(state: &SinkState, request: &Request) -> Result<ReceivedMessage, Refusal> {
    if request.version() != Version::HTTP_2 {
        return Err(Refusal::new(400, "HTTP/2 is required"));
    }
    verify_token(state, request).map_err(|why| Refusal::new(403, why))?;
    let to = request.uri().path().trim_start_matches("/3/device/").to_owned();
    if to.len() < 32 || !to.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Refusal::new(400, "BadDeviceToken"));
    }
    for (bad, reason) in [
        (header(request, "apns-topic") != "localhost.sink.app", "BadTopic"),
        (!is_uuid(header(request, "apns-id")), "BadMessageId"),
        (!matches!(header(request, "apns-priority"), "" | "1" | "5" | "10"), "BadPriority"),
        (header(request, "apns-collapse-id").len() > 64, "BadCollapseId"),
        (!is_time(header(request, "apns-expiration")), "BadExpirationDate"),
    ] {
        if bad {
            return Err(Refusal::new(400, reason));
        }
    }
    if request.body().len() > 4096 {
        return Err(Refusal::new(413, "PayloadTooLarge"));
    }
    let body: Value = serde_json::from_slice(request.body()).unwrap_or_default();
    let alert = &body["aps"]["alert"];
    if alert.is_null() {
        return Err(Refusal::new(400, "PayloadEmpty"));
    }
    Ok(ReceivedMessage {
        to,
        title: text(&alert["title"]),
        text: text(&alert["body"]),
        headers: headers(request),
        source: pretty(request.body()),
        ..ReceivedMessage::default()
    })
}

fn verify_token(state: &SinkState, request: &Request) -> Result<(), &'static str> {
    let token = header(request, "authorization").strip_prefix("bearer ");
    let token = token.ok_or("MissingProviderToken")?;
    let token = VerifiedJwt::es256(token, state.credentials.apns.public_key_raw());
    let token = token.map_err(|_| "InvalidProviderToken")?;
    if token.header["kid"] != "SINKKEY001" || token.claims["iss"] != "SINKTEAM01" {
        return Err("InvalidProviderToken");
    }
    let age = state.now().as_second() - token.time("iat").map_err(|_| "InvalidProviderToken")?;
    if age < 3600 { Ok(()) } else { Err("ExpiredProviderToken") }
}

fn is_uuid(id: &str) -> bool {
    id.is_empty() || (id.len() == 36 && id.split('-').map(str::len).eq([8, 4, 4, 4, 12]))
}

fn is_time(time: &str) -> bool {
    time.is_empty() || time.parse::<u64>().is_ok()
}
