//! Serves the queues over HTTP: `serve PORT [FILE]`. Without a file they live in memory.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use queues::{Clock, Queues};
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let port: u16 = arguments.next().unwrap_or_else(|| "4100".into()).parse()?;
    let queues = match arguments.next() {
        Some(file) => Queues::open(Path::new(&file), clock())?,
        None => Queues::memory(clock())?,
    };
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let queues = queues.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| answer(queues.clone(), request));
            // A client that hangs up in the middle is its own affair.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

#[expect(clippy::disallowed_methods, reason = "a server lives in real time")]
fn clock() -> Clock {
    Arc::new(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

async fn answer(
    queues: Queues,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    Ok(queues.handle(Request::from_parts(head, body)).await.map(Full::new))
}
