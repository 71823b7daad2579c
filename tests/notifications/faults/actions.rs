//! What callers, people, operators and providers want, and what comes of it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use http::Method;
use serde_json::{Value, json};
use sha2::Sha256;
use tests::Result;

use super::Harness;
use super::acknowledged::Acknowledged;

pub(super) const SECRET: [u8; 32] = [5; 32];

const ALL: &str = "/api/v1/notifications";

#[derive(Debug, Clone)]
pub(super) enum Action {
    Send {
        key: Option<String>,
        note: String,
        body: Value,
    },
    /// What can't be accepted, also because its key stands for something else.
    SendInvalid {
        key: Option<String>,
        body: Value,
    },
    Cancel(String),
    SavePreferences {
        user: &'static str,
        body: Value,
    },
    SaveContacts {
        user: &'static str,
        body: Value,
    },
    /// By the link in the mail of that delivery.
    Unsubscribe {
        link: String,
        delivery: String,
    },
    ProviderEvent {
        provider: &'static str,
        event: Value,
    },
    Replay(Value),
    /// The same a little later, while others wait for a provider.
    Later(Box<Action>),
    /// Every clock is a minute further, also in the middle of other calls.
    AdvanceClock,
    Deliver,
    Sweep,
}

pub(super) enum ActionResult {
    Nothing,
    NotificationRecord { key: Option<String>, note: String, body: Value, ids: Vec<String> },
    Acknowledged(Acknowledged),
}

impl Action {
    pub(super) async fn run(&self, harness: &Harness) -> Result<ActionResult> {
        match self {
            Self::Send { key, note, body } => send(harness, key.as_deref(), note, body).await,
            Self::SendInvalid { key, body } => send_invalid(harness, key.as_deref(), body).await,
            Self::Cancel(id) => cancel(harness, id).await,
            Self::SavePreferences { user, body } => save_preferences(harness, user, body).await,
            Self::SaveContacts { user, body } => save_contacts(harness, user, body).await,
            Self::Unsubscribe { link, delivery } => unsubscribe(harness, link, delivery).await,
            Self::ProviderEvent { provider, event } => {
                provider_event(harness, provider, event).await
            }
            Self::Replay(body) => {
                let path = "/api/v1/dead-letters/replay";
                let call = || harness.call(Method::POST, path).json(body);
                expect(harness.persist(call).await?.status.as_u16(), 200, body)?;
                Ok(ActionResult::Nothing)
            }
            Self::Later(action) => {
                harness.pause().await;
                Box::pin(action.run(harness)).await
            }
            Self::AdvanceClock => {
                harness.lab.advance_seconds(70);
                Ok(ActionResult::Nothing)
            }
            Self::Deliver => {
                harness.lab.cloud.settle().await;
                Ok(ActionResult::Nothing)
            }
            Self::Sweep => {
                harness.lab.run_schedule("SweepNotifications").await;
                Ok(ActionResult::Nothing)
            }
        }
    }
}

fn expect(status: u16, wanted: u16, body: &Value) -> Result {
    if status == wanted {
        return Ok(());
    }
    Err(format!("{body} was answered {status} instead of {wanted}"))
}

async fn send(
    harness: &Harness,
    key: Option<&str>,
    note: &str,
    body: &Value,
) -> Result<ActionResult> {
    let answer = harness.persist(|| post_notification(harness, key, body)).await?;
    let text = json!([body, answer.body]);
    expect(answer.status.as_u16(), 202, &text)?;
    let accepted_ids = answer.body["notifications"].as_array().into_iter().flatten();
    let ids =
        accepted_ids.filter_map(|one| one["notificationId"].as_str().map(str::to_owned)).collect();
    let (key, note) = (key.map(str::to_owned), note.to_owned());
    Ok(ActionResult::NotificationRecord { key, note, body: body.clone(), ids })
}

async fn send_invalid(harness: &Harness, key: Option<&str>, body: &Value) -> Result<ActionResult> {
    let answer = harness.persist(|| post_notification(harness, key, body)).await?;
    expect(answer.status.as_u16(), 422, body)?;
    Ok(ActionResult::Nothing)
}

fn post_notification<'a>(
    harness: &'a Harness,
    key: Option<&str>,
    body: &Value,
) -> tests::RequestBuilder<'a> {
    let call = harness.call(Method::POST, ALL).json(body);
    match key {
        Some(key) => call.header("idempotency-key", key),
        None => call,
    }
}

async fn cancel(harness: &Harness, id: &str) -> Result<ActionResult> {
    let path = format!("{ALL}/{id}");
    let answer = harness.persist(|| harness.call(Method::DELETE, &path)).await?;
    expect(answer.status.as_u16(), 200, &json!(path))?;
    Ok(ActionResult::Acknowledged(Acknowledged::Cancelled {
        id: id.to_owned(),
        at: harness.writes(),
    }))
}

async fn save_preferences(
    harness: &Harness,
    user: &'static str,
    body: &Value,
) -> Result<ActionResult> {
    let path = format!("/api/v1/users/{user}/preferences");
    let answer = harness.persist(|| harness.call(Method::PUT, &path).json(body)).await?;
    expect(answer.status.as_u16(), 200, body)?;
    let version = answer.body["version"].as_u64().unwrap_or(0);
    let at = harness.writes();
    Ok(ActionResult::Acknowledged(Acknowledged::PreferencesSaved {
        user,
        version,
        body: body.clone(),
        at,
    }))
}

async fn save_contacts(
    harness: &Harness,
    user: &'static str,
    body: &Value,
) -> Result<ActionResult> {
    let path = format!("/api/v1/users/{user}/contacts");
    let answer = harness.persist(|| harness.call(Method::PUT, &path).json(body)).await?;
    expect(answer.status.as_u16(), 200, body)?;
    let version = answer.body["version"].as_u64().unwrap_or(0);
    Ok(ActionResult::Acknowledged(Acknowledged::ContactsSaved {
        user,
        version,
        body: body.clone(),
        at: harness.writes(),
    }))
}

async fn unsubscribe(harness: &Harness, link: &str, delivery: &str) -> Result<ActionResult> {
    let path = link.strip_prefix("https://sy.test").ok_or("a link leads elsewhere")?;
    let began = harness.writes();
    let call = || {
        let call = harness.lab.call(Method::POST, path);
        let call = call.header("content-type", "application/x-www-form-urlencoded");
        call.bytes("List-Unsubscribe=One-Click")
    };
    let answer = harness.persist(call).await?;
    expect(answer.status.as_u16(), 200, &json!(path))?;
    let (delivery, at) = (delivery.to_owned(), harness.writes());
    Ok(ActionResult::Acknowledged(Acknowledged::Unsubscribed { delivery, began, at }))
}

async fn provider_event(harness: &Harness, provider: &str, event: &Value) -> Result<ActionResult> {
    let path = format!("/api/v1/providers/{provider}/events");
    let body = json!([event]).to_string();
    let began = harness.writes();
    let call = || {
        let at = (harness.lab.cloud.now_ms() / 1_000).to_string();
        let mut mac = Hmac::<Sha256>::new_from_slice(&SECRET).unwrap();
        mac.update(format!("call.{at}.{body}").as_bytes());
        let signature = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
        let call = harness.lab.call(Method::POST, &path).header("webhook-id", "call");
        let call = call.header("webhook-timestamp", &at).header("webhook-signature", &signature);
        call.bytes(body.clone())
    };
    let answer = harness.persist(call).await?;
    expect(answer.status.as_u16(), 200, event)?;
    if answer.body["noted"] == 1 {
        return Ok(ActionResult::Nothing);
    }
    let reference = event["reference"].as_str().unwrap_or_default().to_owned();
    Ok(ActionResult::Acknowledged(Acknowledged::Ignored { reference, at: began }))
}
