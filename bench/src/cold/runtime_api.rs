//! A stub of the Lambda Runtime API: hands out one event a number of times and times the answers.

use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Collected, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// What one process was sent and what it answered.
pub(crate) struct RuntimeApi {
    event: String,
    invokes: usize,
    progress: RefCell<Progress>,
    finished: Notify,
}

#[derive(Default)]
struct Progress {
    sent: usize,
    sent_at: Option<Instant>,
    first_answer_at: Option<Instant>,
    took: Vec<Duration>,
    problem: Option<String>,
}

impl RuntimeApi {
    pub(crate) fn new(event: &Value, invokes: usize) -> Rc<Self> {
        Rc::new(Self {
            event: event.to_string(),
            invokes,
            progress: RefCell::default(),
            finished: Notify::new(),
        })
    }

    /// Resolves when the process asks for more events than there are, or has reported a problem.
    pub(crate) async fn finished(&self) {
        self.finished.notified().await;
    }

    pub(crate) fn first_answer_at(&self) -> Option<Instant> {
        self.progress.borrow().first_answer_at
    }

    /// How long each answer but the first took, shortest first.
    pub(crate) fn warm(&self) -> Vec<Duration> {
        let mut took: Vec<_> = self.progress.borrow().took.iter().skip(1).copied().collect();
        took.sort();
        took
    }

    /// What went wrong, if anything did.
    pub(crate) fn problem(&self) -> Option<String> {
        self.progress.borrow().problem.clone()
    }

    /// Accepts connections until it is dropped.
    pub(crate) async fn serve(self: Rc<Self>, listener: TcpListener) {
        while let Ok((stream, _)) = listener.accept().await {
            let api = Rc::clone(&self);
            tokio::task::spawn_local(async move {
                let service = service_fn(|request| api.answer(request));
                let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            });
        }
    }

    async fn answer(
        &self,
        request: http::Request<Incoming>,
    ) -> Result<http::Response<Full<Bytes>>, Infallible> {
        let path = request.uri().path().to_owned();
        if path.ends_with("/invocation/next") {
            return Ok(self.next().await);
        }
        if path.ends_with("/extension/event/next") {
            std::future::pending::<()>().await;
        }
        let body = request.into_body().collect().await.map(Collected::to_bytes);
        if path.ends_with("/extension/register") {
            let mut response = http::Response::new(Full::default());
            let id = http::HeaderValue::from_static("00000000-0000-4000-8000-000000000000");
            response.headers_mut().insert("lambda-extension-identifier", id);
            return Ok(response);
        }
        self.note(&path, &body.unwrap_or_default());
        let mut response = http::Response::new(Full::default());
        *response.status_mut() = http::StatusCode::ACCEPTED;
        Ok(response)
    }

    /// The event, or after the last one an answer that never comes: the process then stands idle, as
    /// it would between invocations, and can be looked at.
    async fn next(&self) -> http::Response<Full<Bytes>> {
        let sent = self.progress.borrow().sent;
        if sent == self.invokes {
            self.finished.notify_one();
            std::future::pending::<()>().await;
        }
        let mut response = http::Response::new(Full::new(self.event(sent)));
        for (name, value) in [
            ("content-type", "application/json".to_owned()),
            ("lambda-runtime-aws-request-id", format!("00000000-0000-4000-8000-{sent:012}")),
            ("lambda-runtime-deadline-ms", "4102444800000".to_owned()),
            (
                "lambda-runtime-invoked-function-arn",
                "arn:aws:lambda:us-east-1:123456789012:function:cold".to_owned(),
            ),
            ("lambda-runtime-trace-id", "Root=1-5759e988-bd862e3fe1be46a994272793".to_owned()),
        ] {
            if let Ok(value) = http::HeaderValue::try_from(value) {
                response.headers_mut().insert(name, value);
            }
        }
        let mut progress = self.progress.borrow_mut();
        progress.sent += 1;
        progress.sent_at = Some(Instant::now());
        response
    }

    /// Where an event has a `*`, each invocation has its own number.
    fn event(&self, sent: usize) -> Bytes {
        Bytes::from(self.event.replace("/*", &format!("/{sent}")))
    }

    fn note(&self, path: &str, body: &[u8]) {
        let now = Instant::now();
        let mut progress = self.progress.borrow_mut();
        let answer = serde_json::from_slice::<Value>(body).unwrap_or_default();
        // What is not an answer to a request has no status.
        let good = matches!(answer["statusCode"].as_u64(), None | Some(200..400));
        if path.ends_with("/response") && good {
            progress.first_answer_at.get_or_insert(now);
            let took = progress.sent_at.take().map(|sent_at| now - sent_at);
            progress.took.extend(took);
        } else {
            let body = String::from_utf8_lossy(body);
            progress.problem.get_or_insert(format!("it sent {path} {body}"));
            self.finished.notify_one();
        }
    }
}
