//! Firebase: the token endpoint that believes in service accounts, and the call that sends.

use serde_json::{Value, json};

use super::{Refusal, header, headers, json as json_answer, pretty, text};
use crate::http::{Request, Response};
use crate::jwt::VerifiedJwt;
use crate::message::ReceivedMessage;
use crate::sink::SinkState;

const SCOPE: &str = "https://www.googleapis.com/auth/firebase.messaging";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// Trades a signed assertion for a token.
pub(super) fn token(state: &SinkState, request: &Request) -> Result<Response, Refusal> {
    let form: Vec<_> = form_urlencoded::parse(request.body()).into_owned().collect();
    let field = |name: &str| form.iter().find(|(n, _)| n == name).map_or("", |(_, v)| v.as_str());
    if field("grant_type") != GRANT {
        return Err(Refusal::new(400, "unsupported_grant_type"));
    }
    let invalid = |_| Refusal::new(400, "invalid_grant");
    let token =
        VerifiedJwt::rs256(field("assertion"), &state.credentials.fcm_public).map_err(invalid)?;
    let (made, ends) = (token.time("iat").map_err(invalid)?, token.time("exp").map_err(invalid)?);
    let now = state.now().as_second();
    let claims = &token.claims;
    let proper = claims["iss"] == "developer@sink.localhost"
        && claims["aud"].as_str().is_some_and(|aud| aud.ends_with("/token"))
        && claims["scope"] == SCOPE
        && ends > now
        && ends - made <= 3600;
    if !proper {
        return Err(invalid(""));
    }
    let body = json!({
        "access_token": state.credentials.fcm_token,
        "expires_in": 3599,
        "token_type": "Bearer",
    });
    Ok(json_answer(200, &body))
}

/// A message for a device.
pub(super) fn read(state: &SinkState, request: &Request) -> Result<ReceivedMessage, Refusal> {
    if header(request, "authorization") != format!("Bearer {}", state.credentials.fcm_token) {
        return Err(Refusal::new(401, "UNAUTHENTICATED"));
    }
    if request.uri().path() != "/v1/projects/sink/messages:send" {
        return Err(Refusal::new(404, "NOT_FOUND"));
    }
    let body: Value = serde_json::from_slice(request.body())
        .map_err(|_| Refusal::new(400, "INVALID_ARGUMENT"))?;
    let message = &body["message"];
    let to = text(&message["token"]);
    let all_text =
        |map: &Value| map.as_object().is_none_or(|map| map.values().all(Value::is_string));
    if to.is_empty() || request.body().len() > 4096 || !all_text(&message["data"]) {
        return Err(Refusal::new(400, "INVALID_ARGUMENT"));
    }
    Ok(ReceivedMessage {
        to,
        title: text(&message["notification"]["title"]),
        text: text(&message["notification"]["body"]),
        headers: headers(request),
        source: pretty(request.body()),
        ..ReceivedMessage::default()
    })
}
