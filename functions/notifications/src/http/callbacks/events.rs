//! The body of a provider's events: a list of ours, or one of SES through SNS.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use boundary::http::{Call, Problem, Result, parse_json};
use boundary::openapi::{DescribeExtractor, OperationEntry};
use domain::Timestamp;
use domain::notifications::{Callback, CallbackKind};
use http::request::Parts;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use serde_json::Value;

use crate::http::state::App;

/// Events in one call at most.
const MAX_EVENTS: usize = 500;

/// What became of something that was handed over.
#[derive(JsonSchema)]
#[schemars(rename = "ProviderEvent")]
#[expect(dead_code, reason = "only its shape is used")]
pub(crate) struct ProviderEventSchema {
    /// The provider's name for it, or the key that it was handed over with.
    reference: String,
    /// `delivered`, `bounced` or `complained`.
    kind: String,
    /// Whether it bounced for good, because the address does not exist: needed where it did.
    hard: Option<bool>,
    /// When.
    at: String,
}

/// What SNS wraps a message in.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Wrapped {
    message: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SesEvent {
    #[serde(alias = "notificationType")]
    event_type: String,
    mail: SesMail,
    delivery: Option<SesTime>,
    bounce: Option<SesTime>,
    complaint: Option<SesTime>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SesMail {
    message_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SesTime {
    timestamp: Timestamp,
    bounce_type: Option<String>,
}

/// Each thing that is said; `None` for what says nothing about a message.
pub(crate) struct ProviderEvents(pub(super) Vec<Option<Callback>>);

impl FromRequestParts<Arc<App>> for ProviderEvents {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        let body: Value = Call::from_request_parts(parts, app).await?.json()?;
        if body.is_object() {
            let Wrapped { message } = parse_json(body)?;
            return Ok(Self(vec![message.as_deref().and_then(from_ses)]));
        }
        let events: Vec<Callback> = parse_json(body)?;
        if !(1..=MAX_EVENTS).contains(&events.len()) {
            return Err(Problem::invalid_field("", "The body must be a list of 1 to 500 events."));
        }
        Ok(Self(events.into_iter().map(Some).collect()))
    }
}

impl DescribeExtractor for ProviderEvents {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        entry.request_body(true, schemas.subschema_for::<Vec<ProviderEventSchema>>());
    }
}

/// SES speaks of more than we listen to.
fn from_ses(message: &str) -> Option<Callback> {
    let event: SesEvent = serde_json::from_str(message).ok()?;
    let (kind, at) = match event.event_type.as_str() {
        "Delivery" => (CallbackKind::Delivered, event.delivery?.timestamp),
        "Complaint" => (CallbackKind::Complained, event.complaint?.timestamp),
        "Bounce" => {
            let bounce = event.bounce?;
            let hard = bounce.bounce_type.as_deref() == Some("Permanent");
            (CallbackKind::Bounced { hard }, bounce.timestamp)
        }
        _ => return None,
    };
    Some(Callback { reference: event.mail.message_id, kind, at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ses_says_is_understood() {
        let parsed = |kind: &str, more: &str| {
            from_ses(&format!(
                r#"{{"eventType":"{kind}","mail":{{"messageId":"m1"}},
                    "{}":{{"timestamp":"2026-03-01T12:00:00Z"{more}}}}}"#,
                kind.to_lowercase()
            ))
            .map(|callback| (callback.reference, callback.kind))
        };
        let m1 = || "m1".to_owned();
        assert_eq!(parsed("Delivery", ""), Some((m1(), CallbackKind::Delivered)));
        assert_eq!(parsed("Complaint", ""), Some((m1(), CallbackKind::Complained)));
        let hard = CallbackKind::Bounced { hard: true };
        assert_eq!(parsed("Bounce", r#","bounceType":"Permanent""#), Some((m1(), hard)));
        let soft = CallbackKind::Bounced { hard: false };
        assert_eq!(parsed("Bounce", r#","bounceType":"Transient""#), Some((m1(), soft)));
        assert_eq!(parsed("Open", ""), None);
        assert_eq!(from_ses("hello"), None);
    }
}
