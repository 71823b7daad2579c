//! Every provider with an HTTP API, on one port: TLS or not, HTTP/1.1 or HTTP/2, as the client begins.
//! The path says which provider is meant; a POST to any other path is a webhook.

use std::fmt;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

use crate::sink::SinkState;
use crate::{Behaviour, ProviderKind, page};

/// A request, read to its end.
pub(crate) type Request = ::http::Request<Bytes>;
pub(crate) type Response = ::http::Response<Bytes>;

mod apns;
mod aws;
mod fcm;
mod refusal;
mod web_push;
mod webhook;

use self::refusal::Refusal;

/// SES takes mails of up to 40 MB; ours are smaller.
const MAX_BODY_BYTES: usize = 10 * 1024 * 1024;

/// Serves `listener` until it is stopped.
pub(crate) async fn serve(listener: TcpListener, state: Arc<SinkState>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            let _hint = stream.set_nodelay(true);
            connection(stream, state).await;
        });
    }
}

async fn connection(stream: TcpStream, state: Arc<SinkState>) {
    let mut first = [0];
    let handshake = matches!(stream.peek(&mut first).await, Ok(1)) && first == [0x16];
    if !handshake {
        return serve_http(stream, state).await;
    }
    if let Ok(stream) = state.authority.acceptor.accept(stream).await {
        serve_http(stream, state).await;
    }
}

async fn serve_http<S>(stream: S, state: Arc<SinkState>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request| {
        let state = Arc::clone(&state);
        async move { answer(request, &state).await.map(|answer| answer.map(Full::new)) }
    });
    // The client may disconnect first.
    let _ended = auto::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// Ends the connection without an answer.
#[derive(Debug)]
pub(crate) struct Disconnect;

impl fmt::Display for Disconnect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("scripted to disconnect")
    }
}

impl std::error::Error for Disconnect {}

async fn answer(
    request: ::http::Request<Incoming>,
    state: &SinkState,
) -> Result<Response, Disconnect> {
    let (parts, body) = request.into_parts();
    let Ok(body) = Limited::new(body, MAX_BODY_BYTES).collect().await else {
        return Ok(plain(413, "too large"));
    };
    respond(Request::from_parts(parts, body.to_bytes()), state).await
}

/// Answers a request that was read.
pub(crate) async fn respond(request: Request, state: &SinkState) -> Result<Response, Disconnect> {
    if request.method() != Method::POST || request.uri().path().starts_with(page::MOUNT_PATH) {
        return Ok(page::respond_own(state, &request));
    }
    match request.uri().path() {
        "/token" => {
            Ok(fcm::token(state, &request).unwrap_or_else(|no| no.answer(ProviderKind::Fcm)))
        }
        _ => receive(via(&request), &request, state).await,
    }
}

fn via(request: &Request) -> ProviderKind {
    let path = request.uri().path();
    match path {
        "/v2/email/outbound-emails" => ProviderKind::Ses,
        "/" if aws::is_publish(request) => ProviderKind::Sms,
        _ if path.starts_with("/push/") => ProviderKind::WebPush,
        _ if path.starts_with("/3/device/") => ProviderKind::Apns,
        _ if path.starts_with("/v1/projects/") => ProviderKind::Fcm,
        _ => ProviderKind::Webhook,
    }
}

async fn receive(
    via: ProviderKind,
    request: &Request,
    state: &SinkState,
) -> Result<Response, Disconnect> {
    let read = match via {
        ProviderKind::Ses => aws::read_mail(request),
        ProviderKind::Sms => aws::read_sms(request),
        ProviderKind::WebPush => web_push::read(state, request),
        ProviderKind::Fcm => fcm::read(state, request),
        ProviderKind::Apns => apns::read(state, request),
        ProviderKind::Webhook | ProviderKind::Smtp => webhook::read(state, request),
    };
    let received = match read {
        Ok(received) => received,
        Err(no) => return Ok(no.answer(via)),
    };
    match state.rules.take_next(via) {
        Behaviour::Accept => Ok(accepted(state, via, state.store(via, received), request)),
        Behaviour::Fail { code, reason } => Ok(Refusal::new(code, reason).answer(via)),
        Behaviour::Throttle { retry_after_seconds } => {
            Ok(Refusal::throttled(via, retry_after_seconds).answer(via))
        }
        Behaviour::Hang => pending::<Result<_, Disconnect>>().await,
        Behaviour::Slow { milliseconds } => {
            let id = state.store(via, received);
            tokio::time::sleep(Duration::from_millis(milliseconds)).await;
            Ok(accepted(state, via, id, request))
        }
        Behaviour::AcceptThenCut => {
            state.store(via, received);
            Err(Disconnect)
        }
    }
}

fn accepted(state: &SinkState, via: ProviderKind, id: u64, request: &Request) -> Response {
    match via {
        ProviderKind::Ses => json(200, &serde_json::json!({ "MessageId": state.reference(id) })),
        ProviderKind::Sms => aws::published(&state.reference(id)),
        ProviderKind::WebPush => {
            let mut answer = plain(201, "");
            let at = HeaderValue::try_from(format!("https://push.sink.localhost/message/{id}"));
            answer.headers_mut().extend(at.ok().map(|at| (http::header::LOCATION, at)));
            answer
        }
        ProviderKind::Fcm => {
            json(200, &serde_json::json!({ "name": format!("projects/sink/messages/{id}") }))
        }
        ProviderKind::Apns => {
            let mut answer = plain(200, "");
            let named = request.headers().get("apns-id").cloned();
            answer.headers_mut().extend(named.map(|id| (apns::ID, id)));
            answer
        }
        ProviderKind::Webhook | ProviderKind::Smtp => plain(204, ""),
    }
}

fn plain(status: u16, text: &str) -> Response {
    let mut answer = ::http::Response::new(Bytes::copy_from_slice(text.as_bytes()));
    *answer.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    answer
}

fn json(status: u16, body: &serde_json::Value) -> Response {
    let mut answer = plain(status, &body.to_string());
    let kind = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(http::header::CONTENT_TYPE, kind);
    answer
}

/// The request's headers, for the reader; who sent it is proved by secrets, which are left out.
fn headers(request: &Request) -> Vec<(String, String)> {
    let secret = |name: &str| matches!(name, "authorization" | "x-amz-security-token");
    let shown = request.headers().iter().filter(|(name, _)| !secret(name.as_str()));
    shown
        .map(|(name, value)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect()
}

fn header<'a>(request: &'a Request, name: &str) -> &'a str {
    request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn pretty(body: &[u8]) -> String {
    let value: Result<serde_json::Value, _> = serde_json::from_slice(body);
    let pretty = value.ok().and_then(|value| serde_json::to_string_pretty(&value).ok());
    pretty.unwrap_or_else(|| String::from_utf8_lossy(body).into_owned())
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
