//! What callers, people, operators and providers want, and what comes of it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use http::Method;
use serde_json::{Value, json};
use sha2::Sha256;

use super::Watch;
use super::promises::Promise;

/// What every provider signs with.
pub(super) const SECRET: [u8; 32] = [5; 32];

const ALL: &str = "/api/v1/notifications";

/// Something that somebody wants.
#[derive(Debug, Clone)]
pub(super) enum Wish {
    Tell {
        key: Option<String>,
        note: String,
        body: Value,
    },
    /// What can't be accepted, also because its key stands for something else.
    TellWrongly {
        key: Option<String>,
        body: Value,
    },
    Cancel(String),
    Prefer {
        user: &'static str,
        body: Value,
    },
    Reach {
        user: &'static str,
        body: Value,
    },
    /// By the link in the mail of that delivery.
    Unsubscribe {
        link: String,
        delivery: String,
    },
    CallBack {
        provider: &'static str,
        event: Value,
    },
    Replay(Value),
    /// The same a little later, while others wait for a provider.
    Later(Box<Wish>),
    /// Every clock is a minute further, whoever is at work.
    Leap,
    Deliver,
    Sweep,
}

/// What came of it.
pub(super) enum Done {
    Nothing,
    Told { key: Option<String>, note: String, body: Value, ids: Vec<String> },
    Promised(Promise),
}

impl Wish {
    pub(super) async fn fulfil(&self, watch: &Watch) -> Result<Done, String> {
        match self {
            Self::Tell { key, note, body } => tell(watch, key.as_deref(), note, body).await,
            Self::TellWrongly { key, body } => tell_wrongly(watch, key.as_deref(), body).await,
            Self::Cancel(id) => cancel(watch, id).await,
            Self::Prefer { user, body } => prefer(watch, user, body).await,
            Self::Reach { user, body } => reach(watch, user, body).await,
            Self::Unsubscribe { link, delivery } => unsubscribe(watch, link, delivery).await,
            Self::CallBack { provider, event } => call_back(watch, provider, event).await,
            Self::Replay(body) => {
                let path = "/api/v1/dead-letters/replay";
                let call = || watch.call(Method::POST, path).json(body);
                expect(watch.persist(call).await?.status.as_u16(), 200, body)?;
                Ok(Done::Nothing)
            }
            Self::Later(wish) => {
                watch.pause().await;
                Box::pin(wish.fulfil(watch)).await
            }
            Self::Leap => {
                watch.lab.advance_seconds(70);
                Ok(Done::Nothing)
            }
            Self::Deliver => {
                watch.lab.cloud.settle().await;
                Ok(Done::Nothing)
            }
            Self::Sweep => {
                watch.sweep().await;
                Ok(Done::Nothing)
            }
        }
    }
}

fn expect(status: u16, wanted: u16, body: &Value) -> Result<(), String> {
    if status == wanted {
        return Ok(());
    }
    Err(format!("{body} was answered {status} instead of {wanted}"))
}

async fn tell(watch: &Watch, key: Option<&str>, note: &str, body: &Value) -> Result<Done, String> {
    let answer = watch.persist(|| sent(watch, key, body)).await?;
    let text = json!([body, answer.body]);
    expect(answer.status.as_u16(), 202, &text)?;
    let told = answer.body["notifications"].as_array().into_iter().flatten();
    let ids = told.filter_map(|one| one["notificationId"].as_str().map(str::to_owned)).collect();
    let (key, note) = (key.map(str::to_owned), note.to_owned());
    Ok(Done::Told { key, note, body: body.clone(), ids })
}

async fn tell_wrongly(watch: &Watch, key: Option<&str>, body: &Value) -> Result<Done, String> {
    let answer = watch.persist(|| sent(watch, key, body)).await?;
    expect(answer.status.as_u16(), 422, body)?;
    Ok(Done::Nothing)
}

fn sent<'a>(watch: &'a Watch, key: Option<&str>, body: &Value) -> tests::RequestBuilder<'a> {
    let call = watch.call(Method::POST, ALL).json(body);
    match key {
        Some(key) => call.header("idempotency-key", key),
        None => call,
    }
}

async fn cancel(watch: &Watch, id: &str) -> Result<Done, String> {
    let path = format!("{ALL}/{id}");
    let answer = watch.persist(|| watch.call(Method::DELETE, &path)).await?;
    expect(answer.status.as_u16(), 200, &json!(path))?;
    Ok(Done::Promised(Promise::Cancelled { id: id.to_owned(), at: watch.writes() }))
}

async fn prefer(watch: &Watch, user: &'static str, body: &Value) -> Result<Done, String> {
    let path = format!("/api/v1/users/{user}/preferences");
    let answer = watch.persist(|| watch.call(Method::PUT, &path).json(body)).await?;
    expect(answer.status.as_u16(), 200, body)?;
    let version = answer.body["version"].as_u64().unwrap_or(0);
    let at = watch.writes();
    Ok(Done::Promised(Promise::Preferred { user, version, body: body.clone(), at }))
}

async fn reach(watch: &Watch, user: &'static str, body: &Value) -> Result<Done, String> {
    let path = format!("/api/v1/users/{user}/contacts");
    let answer = watch.persist(|| watch.call(Method::PUT, &path).json(body)).await?;
    expect(answer.status.as_u16(), 200, body)?;
    let version = answer.body["version"].as_u64().unwrap_or(0);
    Ok(Done::Promised(Promise::Reached { user, version, body: body.clone(), at: watch.writes() }))
}

async fn unsubscribe(watch: &Watch, link: &str, delivery: &str) -> Result<Done, String> {
    let path = link.strip_prefix("https://sy.test").ok_or("a link leads elsewhere")?;
    let began = watch.writes();
    let call = || {
        let call = watch.lab.call(Method::POST, path);
        let call = call.header("content-type", "application/x-www-form-urlencoded");
        call.bytes("List-Unsubscribe=One-Click")
    };
    let answer = watch.persist(call).await?;
    expect(answer.status.as_u16(), 200, &json!(path))?;
    let (delivery, at) = (delivery.to_owned(), watch.writes());
    Ok(Done::Promised(Promise::Unsubscribed { delivery, began, at }))
}

async fn call_back(watch: &Watch, provider: &str, event: &Value) -> Result<Done, String> {
    let path = format!("/api/v1/providers/{provider}/events");
    let body = json!([event]).to_string();
    let began = watch.writes();
    let call = || {
        let at = (watch.lab.cloud.now_ms() / 1_000).to_string();
        let mut mac = Hmac::<Sha256>::new_from_slice(&SECRET).unwrap();
        mac.update(format!("call.{at}.{body}").as_bytes());
        let signature = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
        let call = watch.lab.call(Method::POST, &path).header("webhook-id", "call");
        let call = call.header("webhook-timestamp", &at).header("webhook-signature", &signature);
        call.bytes(body.clone())
    };
    let answer = watch.persist(call).await?;
    expect(answer.status.as_u16(), 200, event)?;
    if answer.body["noted"] == 1 {
        return Ok(Done::Nothing);
    }
    let reference = event["reference"].as_str().unwrap_or_default().to_owned();
    Ok(Done::Promised(Promise::Ignored { reference, at: began }))
}
