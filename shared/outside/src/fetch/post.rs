//! Posting to an address that somebody else chose, with the same care as fetching from one.
//!
//! Guarantee: https only, public addresses only, no redirect followed, and a failure says whether
//! the other side can have got what was posted. Absent: retries, for the caller knows what a second
//! copy would do.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONNECTION, HOST, HeaderMap, HeaderValue, USER_AGENT};
use http::{Method, Request};
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;

use super::exchange::{HEAD, read_body};
use super::target::Target;
use super::{Fetcher, Forbidden, Limits, NotFetched};

/// A name that a server's operator can look for.
pub(crate) const AGENT: HeaderValue = HeaderValue::from_static("Switchyard/1.0");

/// What is sent.
#[derive(Clone, Default)]
pub struct Post {
    /// Beside those that every request has.
    pub headers: HeaderMap,
    /// All of it.
    pub body: Bytes,
}

/// What came back, whichever status it has.
#[derive(Clone, PartialEq, Eq)]
pub struct Answered {
    /// 100 to 999.
    pub status: u16,
    pub headers: HeaderMap,
    /// As much of it as the limits allow.
    pub body: Vec<u8>,
}

/// Why nothing came back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotPosted {
    /// Nothing can have arrived.
    #[error("not sent: {0}")]
    Unsent(NotFetched),
    /// It may have arrived, in part or as a whole.
    #[error("sent, but not answered: {0}")]
    Unanswered(NotFetched),
}

impl Fetcher {
    /// Posts to `url`, which anybody may have written.
    pub async fn post(&self, url: &str, post: Post, limits: Limits) -> Result<Answered, NotPosted> {
        let sent = Sent::default();
        let work = Box::pin(self.post_once(url, post, limits, &sent));
        let done = timeout(limits.total, work).await.unwrap_or(Err(NotFetched::Timeout));
        done.map_err(|cause| sent.tell(cause))
    }

    async fn post_once(
        &self,
        url: &str,
        post: Post,
        limits: Limits,
        sent: &Sent,
    ) -> Result<Answered, NotFetched> {
        let target = Target::parse(url)?;
        if !target.is_https() {
            return Err(NotFetched::Forbidden(Forbidden::Scheme));
        }
        let request = request(&target, post)?;
        let addresses = self.public_addresses(&target).await?;
        let stream = self.network.connect_any(&addresses).await;
        let stream = stream.map_err(|_| NotFetched::Unreachable)?;
        let stream = self.trust.secure(target.server_name()?, stream).await?;
        let (mut sender, connection) = http1::Builder::new()
            .max_buf_size(HEAD)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|_| NotFetched::NotHttp)?;
        let answer = async {
            sent.now();
            let response = sender.send_request(request).await.map_err(|_| NotFetched::NotHttp)?;
            let (head, body) = response.into_parts();
            // A body that breaks off after its status takes nothing back.
            let body = read_body(body, limits.bytes).await.unwrap_or_default();
            Ok(Answered { status: head.status.as_u16(), headers: head.headers, body })
        };
        // The connection may end before the answer has been read from it; its trouble, if any, is
        // told to the reader.
        let drive = async {
            let _ended = connection.await;
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            answer = answer => answer,
            never = drive => match never {},
        }
    }
}

fn request(target: &Target, post: Post) -> Result<Request<Full<Bytes>>, NotFetched> {
    const NOT_A_URL: NotFetched = NotFetched::Forbidden(Forbidden::NotAUrl);
    let mut request = Request::new(Full::new(post.body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = target.path_and_query().parse().map_err(|_| NOT_A_URL)?;
    *request.headers_mut() = post.headers;
    let host = HeaderValue::try_from(target.authority()).map_err(|_| NOT_A_URL)?;
    let fixed = [
        (HOST, host),
        (USER_AGENT, AGENT),
        (ACCEPT_ENCODING, HeaderValue::from_static("identity")),
        (CONNECTION, HeaderValue::from_static("close")),
    ];
    request.headers_mut().extend(fixed);
    Ok(request)
}

/// Whether any of it can have left.
#[derive(Default)]
pub(crate) struct Sent(AtomicBool);

impl Sent {
    /// From now on it can.
    pub(crate) fn now(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// What that makes of a failure.
    pub(crate) fn tell(&self, cause: NotFetched) -> NotPosted {
        let sent = self.0.load(Ordering::Relaxed);
        if sent { NotPosted::Unanswered(cause) } else { NotPosted::Unsent(cause) }
    }
}

/// Says how much there is and nothing of it: bodies and headers are in no log.
impl std::fmt::Debug for Post {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Post").field("bytes", &self.body.len()).finish_non_exhaustive()
    }
}

/// Says the status and nothing more: what a server answers may repeat what it was sent.
impl std::fmt::Debug for Answered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answered").field("status", &self.status).finish_non_exhaustive()
    }
}
