//! HTTP/1.1 on a socket.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

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
