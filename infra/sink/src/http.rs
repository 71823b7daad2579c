//! Every provider that is spoken to over HTTP, on one port: TLS or not, HTTP/1.1 or HTTP/2, as the
//! client begins. The path says which provider is meant; whatever is posted elsewhere is a webhook.

use std::fmt;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

use crate::sink::Desk;
use crate::{Behaviour, Via, page};

mod apns;
mod aws;
mod fcm;
mod refusal;
mod web_push;
mod webhook;

use self::refusal::Refusal;

/// SES takes mails of up to 40 MB; ours are smaller.
const BODY: usize = 10 * 1024 * 1024;

/// Serves `listener` until it is stopped.
pub(crate) async fn serve(listener: TcpListener, desk: Arc<Desk>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let desk = Arc::clone(&desk);
        tokio::spawn(async move {
            let _hint = stream.set_nodelay(true);
            connection(stream, desk).await;
        });
    }
}

async fn connection(stream: TcpStream, desk: Arc<Desk>) {
    let mut first = [0];
    let handshake = matches!(stream.peek(&mut first).await, Ok(1)) && first == [0x16];
    if !handshake {
        return talk(stream, desk).await;
    }
    if let Ok(stream) = desk.authority.acceptor.accept(stream).await {
        talk(stream, desk).await;
    }
}

async fn talk<S>(stream: S, desk: Arc<Desk>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request| {
        let desk = Arc::clone(&desk);
        async move { answer(request, &desk).await.map(|answer| answer.map(Full::new)) }
    });
    // A client that hangs up is its own affair.
    let _ended = auto::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// Ends the connection without an answer.
#[derive(Debug)]
pub(crate) struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("told to cut the line")
    }
}

impl std::error::Error for Cut {}

async fn answer(request: Request<Incoming>, desk: &Desk) -> Result<Response<Bytes>, Cut> {
    let (parts, body) = request.into_parts();
    let Ok(body) = Limited::new(body, BODY).collect().await else {
        return Ok(plain(413, "too large"));
    };
    respond(Request::from_parts(parts, body.to_bytes()), desk).await
}

/// Answers a request that was read.
pub(crate) async fn respond(request: Request<Bytes>, desk: &Desk) -> Result<Response<Bytes>, Cut> {
    if request.method() != Method::POST || request.uri().path().starts_with(page::AT) {
        return Ok(page::respond_at(desk, &request));
    }
    match request.uri().path() {
        "/token" => Ok(fcm::token(desk, &request).unwrap_or_else(|no| no.answer(Via::Fcm))),
        _ => take(via(&request), &request, desk).await,
    }
}

fn via(request: &Request<Bytes>) -> Via {
    let path = request.uri().path();
    match path {
        "/v2/email/outbound-emails" => Via::Ses,
        "/" if aws::is_publish(request) => Via::Sms,
        _ if path.starts_with("/push/") => Via::WebPush,
        _ if path.starts_with("/3/device/") => Via::Apns,
        _ if path.starts_with("/v1/projects/") => Via::Fcm,
        _ => Via::Webhook,
    }
}

async fn take(via: Via, request: &Request<Bytes>, desk: &Desk) -> Result<Response<Bytes>, Cut> {
    let read = match via {
        Via::Ses => aws::read_mail(request),
        Via::Sms => aws::read_sms(request),
        Via::WebPush => web_push::read(desk, request),
        Via::Fcm => fcm::read(desk, request),
        Via::Apns => apns::read(desk, request),
        Via::Webhook | Via::Smtp => webhook::read(desk, request),
    };
    let draft = match read {
        Ok(draft) => draft,
        Err(no) => return Ok(no.answer(via)),
    };
    match desk.plans.next(via) {
        Behaviour::Accept => Ok(accepted(desk, via, desk.keep(via, draft), request)),
        Behaviour::Fail { code, said } => Ok(Refusal::new(code, said).answer(via)),
        Behaviour::Throttle { retry_after_seconds } => {
            Ok(Refusal::throttled(via, retry_after_seconds).answer(via))
        }
        Behaviour::Hang => pending::<Result<_, Cut>>().await,
        Behaviour::Slow { milliseconds } => {
            let id = desk.keep(via, draft);
            tokio::time::sleep(Duration::from_millis(milliseconds)).await;
            Ok(accepted(desk, via, id, request))
        }
        Behaviour::AcceptThenCut => {
            desk.keep(via, draft);
            Err(Cut)
        }
    }
}

fn accepted(desk: &Desk, via: Via, id: u64, request: &Request<Bytes>) -> Response<Bytes> {
    match via {
        Via::Ses => json(200, &serde_json::json!({ "MessageId": desk.reference(id) })),
        Via::Sms => aws::published(&desk.reference(id)),
        Via::WebPush => {
            let mut answer = plain(201, "");
            let at = HeaderValue::try_from(format!("https://push.sink.localhost/message/{id}"));
            answer.headers_mut().extend(at.ok().map(|at| (http::header::LOCATION, at)));
            answer
        }
        Via::Fcm => {
            json(200, &serde_json::json!({ "name": format!("projects/sink/messages/{id}") }))
        }
        Via::Apns => {
            let mut answer = plain(200, "");
            let named = request.headers().get("apns-id").cloned();
            answer.headers_mut().extend(named.map(|id| (apns::ID, id)));
            answer
        }
        Via::Webhook | Via::Smtp => plain(204, ""),
    }
}

fn plain(status: u16, text: &str) -> Response<Bytes> {
    let mut answer = Response::new(Bytes::copy_from_slice(text.as_bytes()));
    *answer.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    answer
}

fn json(status: u16, body: &serde_json::Value) -> Response<Bytes> {
    let mut answer = plain(status, &body.to_string());
    let kind = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(http::header::CONTENT_TYPE, kind);
    answer
}

/// The request's headers, for the reader; who sent it is proved by secrets, which are left out.
fn headers(request: &Request<Bytes>) -> Vec<(String, String)> {
    let secret = |name: &str| matches!(name, "authorization" | "x-amz-security-token");
    let shown = request.headers().iter().filter(|(name, _)| !secret(name.as_str()));
    shown
        .map(|(name, value)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect()
}

fn header<'a>(request: &'a Request<Bytes>, name: &str) -> &'a str {
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
