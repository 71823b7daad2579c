//! A server with the workers' operations of the jobs API, which answers by script and records its requests.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{client, server};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, duplex};
use tokio::time::{Instant, sleep};

use crate::http::HttpClient;

/// The host of signed addresses.
const BUCKET: &str = "http://bucket.test";

#[derive(Clone)]
pub(super) struct FakeApi(Arc<Mutex<State>>);

struct State {
    begun: Instant,
    offers: VecDeque<Value>,
    started: HashMap<String, Value>,
    scripts: HashMap<String, VecDeque<Scripted>>,
    calls: Vec<Call>,
    reachable: bool,
}

/// A response in place of the default one.
#[derive(Clone)]
pub(super) enum Scripted {
    Respond(u16, Value),
    /// A status with a `Retry-After`.
    RetryAfter(u16, u64),
    /// The default response, but late.
    Delay(Duration),
    Hang,
}

#[derive(Debug, Clone)]
pub(super) struct Call {
    /// How long after the beginning it came.
    pub(super) at: Duration,
    /// The last segment of its path, or the method of a request to the bucket.
    pub(super) verb: String,
    pub(super) path: String,
    pub(super) key: Option<String>,
    pub(super) text: Bytes,
    pub(super) body: Value,
}

impl FakeApi {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            begun: Instant::now(),
            offers: VecDeque::new(),
            started: HashMap::new(),
            scripts: HashMap::new(),
            calls: Vec::new(),
            reachable: true,
        })))
    }

    /// A job that the next claim takes.
    pub(super) fn offer(&self, id: &str, payload: &Value) {
        self.offer_as(id, &json!({"payload": payload, "payloadUrl": null}));
    }

    /// A job whose payload is behind a URL.
    pub(super) fn offer_with_url(&self, id: &str, url: &str) {
        self.offer_as(id, &json!({"payload": null, "payloadUrl": url}));
    }

    fn offer_as(&self, id: &str, payload: &Value) {
        let mut job = json!({
            "jobId": id, "jobType": "thumb", "attempt": 1, "timeoutSeconds": 3_600,
            "payload": payload["payload"], "payloadUrl": payload["payloadUrl"],
        });
        let mut state = self.state();
        state.offers.push_back(job.clone());
        job["heartbeatSeconds"] = json!(20);
        state.started.insert(id.to_owned(), job);
    }

    /// Answers the next `times` requests of this kind with `scripted`.
    pub(super) fn script(&self, verb: &str, times: usize, scripted: &Scripted) {
        let mut state = self.state();
        let script = state.scripts.entry(verb.to_owned()).or_default();
        script.extend(std::iter::repeat_n(scripted.clone(), times));
    }

    /// Whether connections succeed.
    pub(super) fn set_reachable(&self, reachable: bool) {
        self.state().reachable = reachable;
    }

    /// All requests so far.
    pub(super) fn calls(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    /// The requests of this kind.
    pub(super) fn calls_to(&self, verb: &str) -> Vec<Call> {
        self.calls().into_iter().filter(|call| call.verb == verb).collect()
    }

    /// The kinds of requests about jobs, in their order: all but claims.
    pub(super) fn verbs(&self) -> Vec<String> {
        let calls = self.calls().into_iter().map(|call| call.verb);
        calls.filter(|verb| verb != "claim").collect()
    }

    /// A wire to this server, in memory.
    pub(super) fn client(&self) -> HttpClient {
        let api = self.clone();
        HttpClient::with_transport(move |request| {
            let api = api.clone();
            Box::pin(async move {
                if !api.state().reachable {
                    return Err("connection refused".into());
                }
                let (near, far) = duplex(64 * 1024);
                tokio::spawn(api.serve(far));
                let (mut sender, connection) =
                    client::conn::http1::handshake(TokioIo::new(near)).await?;
                tokio::spawn(connection);
                Ok(sender.send_request(request).await?)
            })
        })
    }

    /// Speaks HTTP on one connection.
    pub(super) async fn serve(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let service = service_fn(move |request| {
            let api = self.clone();
            async move { Ok::<_, Infallible>(api.answer(request).await) }
        });
        // The client may have closed the connection.
        let _served = server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service)
            .await;
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        let text = body.collect().await.unwrap().to_bytes();
        let path = head.uri.path().to_owned();
        let verb = match path.strip_prefix("/api/v1/") {
            Some(rest) => rest.rsplit('/').next().unwrap().to_owned(),
            None => head.method.to_string(),
        };
        let key = head.headers.get("authorization").map(|key| key.to_str().unwrap().to_owned());
        let scripted = {
            let mut state = self.state();
            let at = state.begun.elapsed();
            let body = serde_json::from_slice(&text).unwrap_or_default();
            let call = Call { at, verb: verb.clone(), path: path.clone(), key, text, body };
            state.calls.push(call);
            state.scripts.get_mut(&verb).and_then(VecDeque::pop_front)
        };
        match scripted {
            Some(Scripted::Respond(status, body)) => reply(status, &body),
            Some(Scripted::RetryAfter(status, seconds)) => {
                let mut reply = reply(status, &json!({"title": "not now"}));
                reply.headers_mut().insert("retry-after", seconds.into());
                reply
            }
            Some(Scripted::Delay(late)) => {
                sleep(late).await;
                reply(200, &self.default_response(&verb, &path))
            }
            Some(Scripted::Hang) => std::future::pending().await,
            None => reply(200, &self.default_response(&verb, &path)),
        }
    }

    fn default_response(&self, verb: &str, path: &str) -> Value {
        let mut state = self.state();
        let last = state.calls.iter().rev().find(|call| call.path == path).unwrap().body.clone();
        let job = path.split('/').nth_back(1).unwrap_or_default();
        match verb {
            "claim" => {
                let max = usize::try_from(last["max"].as_u64().unwrap()).unwrap();
                let most = max.min(state.offers.len());
                json!({"jobs": state.offers.drain(..most).collect::<Vec<_>>()})
            }
            "start" => state.started[job].clone(),
            "heartbeat" => json!({"action": "continue"}),
            "artifacts" => {
                let name = last["name"].as_str().unwrap();
                json!({"name": name, "url": format!("{BUCKET}/{name}?signature=s"), "method": "PUT"})
            }
            _ => json!({}),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

fn reply(status: u16, body: &Value) -> Response<Full<Bytes>> {
    let body = Full::from(body.to_string());
    Response::builder().status(status).body(body).unwrap()
}
