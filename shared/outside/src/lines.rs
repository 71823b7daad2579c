//! Connections to one configured server, kept for the next request: HTTP/2.
//!
//! Guarantee: a connection is driven by the future of whoever uses it, so nothing runs while nobody
//! waits, and one that has been idle for a minute, or was closed meanwhile, is not used again.
//! The server comes from configuration: it may be anywhere, over TLS (`https`) or without (`http`).
//! Absent: redirects, retries of what can have arrived, and several requests on one connection at a
//! time: few are sent at once, and a connection nobody shares needs nobody to drive it.

use std::fmt;
use std::pin::Pin;

use bytes::Bytes;
use domain::Timestamp;
use h2::client::SendRequest;
use http::header::USER_AGENT;
use http::{Method, Request, Uri};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use url::Url;

use crate::fetch::{Answered, Forbidden, Limits, NotFetched, NotPosted, Post, Target};
use crate::{Network, Trust};

mod line;

use self::line::Line;

/// Longer than that and a firewall on the way may have forgotten the connection without a word.
const KEPT_SECONDS: i64 = 60;

/// As many as a batch has messages.
const KEPT: usize = 10;

/// The longest head of an answer.
const HEAD: u32 = 64 * 1024;

/// The way to one server.
pub struct Lines {
    network: Network,
    trust: Trust,
    target: Target,
    idle: Mutex<Vec<(Line, Timestamp)>>,
}

impl Lines {
    /// To the server at `origin`, as in `https://api.push.apple.com`. Nothing is connected yet.
    pub fn new(network: Network, origin: &str) -> Result<Self, Forbidden> {
        let url = Url::parse(origin).map_err(|_| Forbidden::NotAUrl)?;
        let target = Target::from_configuration(url)?;
        let trust = Trust::of(&network, &[b"h2"]);
        Ok(Self { network, trust, target, idle: Mutex::default() })
    }

    /// Posts to `path` there.
    pub async fn post(
        &self,
        path: &str,
        post: Post,
        limits: Limits,
        now: Timestamp,
    ) -> Result<Answered, NotPosted> {
        let sent = line::Sent::default();
        let work = Box::pin(self.post_once(path, post, limits, now, &sent));
        let done = timeout(limits.total, work).await.unwrap_or(Err(NotFetched::Timeout));
        done.map_err(|cause| sent.tell(cause))
    }

    async fn post_once(
        &self,
        path: &str,
        post: Post,
        limits: Limits,
        now: Timestamp,
        sent: &line::Sent,
    ) -> Result<Answered, NotFetched> {
        let (request, body) = self.request(path, post)?;
        let mut line = match self.kept(now).await {
            Some(line) => line,
            None => self.open().await?,
        };
        let answered = line.ask(request, body, limits.bytes, sent).await?;
        if line.is_open() {
            self.keep(line, now);
        }
        Ok(answered)
    }

    fn request(&self, path: &str, post: Post) -> Result<(Request<()>, Bytes), NotFetched> {
        let scheme = if self.target.is_https() { "https" } else { "http" };
        let uri = Uri::builder()
            .scheme(scheme)
            .authority(self.target.authority())
            .path_and_query(path)
            .build()
            .map_err(|_| NotFetched::Forbidden(Forbidden::NotAUrl))?;
        let mut request = Request::new(());
        (*request.method_mut(), *request.uri_mut()) = (Method::POST, uri);
        *request.headers_mut() = post.headers;
        request.headers_mut().insert(USER_AGENT, crate::fetch::AGENT);
        Ok((request, post.body))
    }

    /// A connection that was used before and still stands.
    async fn kept(&self, now: Timestamp) -> Option<Line> {
        loop {
            let (mut line, used) = self.idle().pop()?;
            let idle = now.as_second().saturating_sub(used.as_second());
            if (0..KEPT_SECONDS).contains(&idle) && line.still_stands().await {
                return Some(line);
            }
        }
    }

    fn keep(&self, line: Line, now: Timestamp) {
        let mut idle = self.idle();
        if idle.len() < KEPT {
            idle.push((line, now));
        }
    }

    fn idle(&self) -> parking_lot::MutexGuard<'_, Vec<(Line, Timestamp)>> {
        self.idle.lock()
    }

    async fn open(&self) -> Result<Line, NotFetched> {
        let stream = self.network.dial(self.target.host(), self.target.port()).await;
        let stream = stream.map_err(|_| NotFetched::Unreachable)?;
        // A request is small and whole: waiting for more of it only delays the answer.
        let _hint = stream.set_nodelay(true);
        if self.target.is_https() {
            let name = self.target.server_name()?;
            shake_hands(self.trust.secure(name, stream).await?).await
        } else {
            shake_hands(stream).await
        }
    }
}

async fn shake_hands<S>(stream: S) -> Result<Line, NotFetched>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let shaken: Result<(SendRequest<Bytes>, _), _> = h2::client::Builder::new()
        .enable_push(false)
        .max_header_list_size(HEAD)
        .handshake(stream)
        .await;
    let (sender, connection) = shaken.map_err(|_| NotFetched::NotHttp)?;
    let connection: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(connection);
    Ok(Line::new(sender, connection))
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").field("host", &self.target.host()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
