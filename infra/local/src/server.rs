//! HTTP/1.1 on a socket, and the client side of `cargo lambda watch`.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

/// Answers whole requests.
pub(crate) type Handler =
    Arc<dyn Fn(Request<Bytes>, IpAddr) -> BoxFuture<'static, Response<Bytes>> + Send + Sync>;

/// Serves `listener` until the runtime ends; a body over `cap` bytes is refused.
pub(crate) async fn serve(listener: TcpListener, cap: usize, handler: Handler) {
    loop {
        let Ok((stream, peer)) = listener.accept().await else { continue };
        let handler = Arc::clone(&handler);
        tokio::spawn(async move {
            let _ = stream.set_nodelay(true);
            let service = service_fn(move |request: Request<Incoming>| {
                let handler = Arc::clone(&handler);
                async move { Ok::<_, Infallible>(answer(request, peer, cap, &handler).await) }
            });
            // A peer that hangs up in the middle is its own affair.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .with_upgrades()
                .await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    peer: SocketAddr,
    cap: usize,
    handler: &Handler,
) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let body = match Limited::new(body, cap).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            return crate::gateway::too_large(parts.uri.path()).map(Full::new);
        }
        Err(_) => {
            let mut response = Response::new(Full::default());
            *response.status_mut() = StatusCode::BAD_REQUEST;
            return response;
        }
    };
    handler(Request::from_parts(parts, body), peer.ip()).await.map(Full::new)
}

/// Functions that run behind `cargo lambda watch`.
#[derive(Debug, Clone)]
pub struct Remote {
    authority: String,
}

impl Remote {
    /// At an address like `http://localhost:9000`.
    pub fn at(url: &str) -> Result<Self, String> {
        let authority = url
            .strip_prefix("http://")
            .map(|rest| rest.trim_end_matches('/'))
            .filter(|rest| !rest.is_empty() && !rest.contains('/'))
            .ok_or_else(|| "it must be an address like http://localhost:9000".to_owned())?;
        Ok(Self { authority: authority.to_owned() })
    }

    pub(crate) async fn invoke(
        &self,
        function: &str,
        event: Vec<u8>,
        timeout: Duration,
    ) -> Result<Vec<u8>, String> {
        let path = format!("/2015-03-31/functions/{function}/invocations");
        let work = self.post(&path, event);
        let (status, body) = tokio::time::timeout(timeout, work)
            .await
            .map_err(|_| format!("{function} did not answer within {} s", timeout.as_secs()))?
            .map_err(|error| format!("{function} at {}: {error}", self.authority))?;
        if status.is_success() {
            Ok(body.to_vec())
        } else {
            Err(format!("{function}: {status} {}", String::from_utf8_lossy(&body)))
        }
    }

    async fn post(
        &self,
        path: &str,
        body: Vec<u8>,
    ) -> Result<(StatusCode, Bytes), Box<dyn std::error::Error + Send + Sync>> {
        let stream = TcpStream::connect(&self.authority).await?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let request = Request::post(path)
            .header(http::header::HOST, &self.authority)
            .header(http::header::CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))?;
        let response = sender.send_request(request).await?;
        let status = response.status();
        Ok((status, response.into_body().collect().await?.to_bytes()))
    }
}
