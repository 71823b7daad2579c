//! A server that takes webhooks, and verifies them as Standard Webhooks says.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use serde_json::Value;

use super::{Refusal, header, headers, pretty, text};
use crate::http::Request;
use crate::message::ReceivedMessage;
use crate::sink::SinkState;

/// An older signature may be a replay.
const TOLERANCE: i64 = 300;

pub(super) fn read(state: &SinkState, request: &Request) -> Result<ReceivedMessage, Refusal> {
    let (id, at) = (header(request, "webhook-id"), header(request, "webhook-timestamp"));
    let age = at.parse::<i64>().map(|at| (state.now().as_second() - at).abs());
    if id.is_empty() || !age.is_ok_and(|age| age <= TOLERANCE) {
        return Err(Refusal::new(401, "not signed, or not now"));
    }
    let signed = [id.as_bytes(), b".", at.as_bytes(), b".", request.body()].concat();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &state.credentials.webhook_secret);
    let right = header(request, "webhook-signature").split(' ').any(|signature| {
        let signature = signature.strip_prefix("v1,").and_then(|text| STANDARD.decode(text).ok());
        signature.is_some_and(|signature| hmac::verify(&key, &signed, &signature).is_ok())
    });
    if !right {
        return Err(Refusal::new(401, "a wrong signature"));
    }
    let body: Value = serde_json::from_slice(request.body()).unwrap_or_default();
    let host = request.uri().authority().map_or(header(request, "host"), |it| it.as_str());
    Ok(ReceivedMessage {
        to: format!("https://{host}{}", request.uri().path()),
        title: text(&body["data"]["title"]),
        text: text(&body["data"]["body"]),
        headers: headers(request),
        source: pretty(request.body()),
        ..ReceivedMessage::default()
    })
}
