//! HTTP/2 to one configured server, over connections kept for the next request.
//!
//! Guarantee: a connection is driven by the future of the request that uses it, so nothing runs between
//! requests, and one that has been idle for a minute, or was closed meanwhile, is not used again.
//! The server comes from configuration: it may be anywhere, over TLS (`https`) or without (`http`).
//! Absent: redirects, retries of what can have arrived, and several requests on one connection at a
//! time: few are sent at once, and a connection of one request needs no other task to drive it.

use std::pin::Pin;

use bytes::Bytes;
use domain::Timestamp;
use h2::client::SendRequest;
use http::header::USER_AGENT;
use http::{Method, Request, Uri};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use url::Url;

use crate::fetch::{
    FetchError, FetchLimits, ForbiddenUrl, PostError, PostRequest, PostResponse, SentFlag, Target,
};
use crate::{IdleConnections, Network, TlsClient};

mod connection;

use self::connection::Http2Connection;

const MAX_RESPONSE_HEAD: u32 = 64 * 1024;

/// Posts to one server.
pub struct Http2Client {
    network: Network,
    tls: TlsClient,
    target: Target,
    idle: IdleConnections<Http2Connection>,
}

impl Http2Client {
    /// To the server at `origin`, as in `https://api.push.apple.com`. Nothing is connected yet.
    pub fn new(network: Network, origin: &str) -> Result<Self, ForbiddenUrl> {
        let url = Url::parse(origin).map_err(|_| ForbiddenUrl::NotAUrl)?;
        let target = Target::from_configuration(url)?;
        let tls = TlsClient::new(&network, &[b"h2"]);
        Ok(Self { network, tls, target, idle: IdleConnections::default() })
    }

    /// Posts to `path` there.
    pub async fn post(
        &self,
        path: &str,
        post: PostRequest,
        limits: FetchLimits,
        now: Timestamp,
    ) -> Result<PostResponse, PostError> {
        let sent = SentFlag::default();
        let work = Box::pin(self.post_once(path, post, limits, now, &sent));
        let done = timeout(limits.timeout, work).await.unwrap_or(Err(FetchError::Timeout));
        done.map_err(|cause| sent.classify(cause))
    }

    async fn post_once(
        &self,
        path: &str,
        post: PostRequest,
        limits: FetchLimits,
        now: Timestamp,
        sent: &SentFlag,
    ) -> Result<PostResponse, FetchError> {
        let (request, body) = self.request(path, post)?;
        let mut connection = match self.idle_connection(now).await {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        let response = connection.send(request, body, limits.bytes, sent).await?;
        if connection.is_open() {
            self.idle.put(connection, now);
        }
        Ok(response)
    }

    fn request(&self, path: &str, post: PostRequest) -> Result<(Request<()>, Bytes), FetchError> {
        let scheme = if self.target.is_https() { "https" } else { "http" };
        let uri = Uri::builder()
            .scheme(scheme)
            .authority(self.target.authority())
            .path_and_query(path)
            .build()
            .map_err(|_| FetchError::Forbidden(ForbiddenUrl::NotAUrl))?;
        let mut request = Request::new(());
        (*request.method_mut(), *request.uri_mut()) = (Method::POST, uri);
        *request.headers_mut() = post.headers;
        request.headers_mut().insert(USER_AGENT, crate::fetch::USER_AGENT_VALUE);
        Ok((request, post.body))
    }

    /// A connection that was used before and is still open.
    async fn idle_connection(&self, now: Timestamp) -> Option<Http2Connection> {
        while let Some(mut connection) = self.idle.take(now) {
            if connection.is_alive().await {
                return Some(connection);
            }
        }
        None
    }

    async fn connect(&self) -> Result<Http2Connection, FetchError> {
        let stream = self.network.connect_host(self.target.host(), self.target.port()).await;
        let stream = stream.map_err(|_| FetchError::Unreachable)?;
        // A request is small and whole: waiting for more of it only delays the response.
        let _hint = stream.set_nodelay(true);
        if self.target.is_https() {
            let name = self.target.server_name()?;
            handshake(self.tls.connect(name, stream).await?).await
        } else {
            handshake(stream).await
        }
    }
}

async fn handshake<S>(stream: S) -> Result<Http2Connection, FetchError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let connected: Result<(SendRequest<Bytes>, _), _> = h2::client::Builder::new()
        .enable_push(false)
        .max_header_list_size(MAX_RESPONSE_HEAD)
        .handshake(stream)
        .await;
    let (sender, connection) = connected.map_err(|_| FetchError::InvalidHttp)?;
    let connection: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(connection);
    Ok(Http2Connection::new(sender, connection))
}

#[cfg(test)]
mod tests;
