//! One HTTP/1.1 request and its response, over a connection to an address already judged.
//!
//! Guarantee: nothing runs on after the response is there or the caller has stopped waiting, since
//! the connection is driven by the caller's own future and closed with it. Absent: judging and
//! resolving.

use std::convert::Infallible;
use std::net::SocketAddr;

use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, LOCATION,
    USER_AGENT,
};
use http::response::Parts;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use super::target::Target;
use super::{FetchError, FetchedPage, Fetcher, ForbiddenUrl};

/// The same for every user, and a name that a site's operator can look for and refuse.
const PREVIEW_USER_AGENT: &str = "Switchyard-Preview/1.0";

/// The longest head of a response, and what is read at once.
const MAX_RESPONSE_HEAD: usize = 64 * 1024;

pub(super) enum FetchResponse {
    Page(FetchedPage),
    Redirect { status: u16, location: String },
}

impl Fetcher {
    /// Requests `target` at the first of `addresses` that can be connected to.
    pub(super) async fn request_page(
        &self,
        target: &Target,
        addresses: &[SocketAddr],
        accept: &'static str,
        max_bytes: usize,
    ) -> Result<FetchResponse, FetchError> {
        let stream = self.network.connect_any(addresses).await;
        let stream = stream.map_err(|_| FetchError::Unreachable)?;
        let request = request(target, accept)?;
        let max_bytes = |status: StatusCode| if status.is_success() { max_bytes } else { 0 };
        let (head, body) = if target.is_https() {
            let stream = self.tls.connect(target.server_name()?, stream).await?;
            exchange(stream, request, max_bytes).await?
        } else {
            exchange(stream, request, max_bytes).await?
        };
        if is_redirect(head.status)
            && let Some(location) = text(&head.headers, &LOCATION)
        {
            return Ok(FetchResponse::Redirect { status: head.status.as_u16(), location });
        }
        if !head.status.is_success() {
            return Err(FetchError::Status(head.status.as_u16()));
        }
        Ok(FetchResponse::Page(FetchedPage {
            url: target.url().to_owned(),
            status: head.status.as_u16(),
            content_type: text(&head.headers, &CONTENT_TYPE),
            body: body?,
        }))
    }
}

fn request(target: &Target, accept: &'static str) -> Result<Request<Empty<Bytes>>, FetchError> {
    Request::get(target.path_and_query())
        .header(HOST, target.authority())
        .header(USER_AGENT, PREVIEW_USER_AGENT)
        .header(ACCEPT, accept)
        .header(ACCEPT_ENCODING, "identity")
        .header(CONNECTION, "close")
        .body(Empty::new())
        .map_err(|_| FetchError::Forbidden(ForbiddenUrl::NotAUrl))
}

/// Sends a request and reads as much of the response's body as `max_bytes` allows for its status.
pub(super) async fn exchange<S, B>(
    stream: S,
    request: Request<B>,
    max_bytes: impl FnOnce(StatusCode) -> usize,
) -> Result<(Parts, Result<Vec<u8>, FetchError>), FetchError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    B: Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(MAX_RESPONSE_HEAD)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|_| FetchError::InvalidHttp)?;
    let response = async {
        let response = sender.send_request(request).await.map_err(|_| FetchError::InvalidHttp)?;
        let (head, body) = response.into_parts();
        let max_bytes = max_bytes(head.status);
        Ok((head, read_body(body, max_bytes).await))
    };
    // The connection may end before the response has been read from it; an error of it reaches the
    // reader.
    let driver = async {
        let _ended = connection.await;
        std::future::pending::<Infallible>().await
    };
    tokio::select! {
        response = response => response,
        never = driver => match never {},
    }
}

/// The first `max_bytes` of a body.
async fn read_body(mut body: Incoming, max_bytes: usize) -> Result<Vec<u8>, FetchError> {
    let mut read = Vec::new();
    while read.len() < max_bytes
        && let Some(frame) = body.frame().await
    {
        if let Ok(data) = frame.map_err(|_| FetchError::InvalidHttp)?.into_data() {
            read.extend_from_slice(&data[..data.len().min(max_bytes - read.len())]);
        }
    }
    Ok(read)
}

/// The redirects a GET follows; 300 and 304 lead nowhere.
fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}
