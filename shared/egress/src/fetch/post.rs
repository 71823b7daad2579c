//! Posting to an address that a user chose, with the same care as fetching from one.
//!
//! Guarantee: https only, public addresses only, no redirect followed, and a failure says whether
//! the other side can have got what was posted. Absent: retries, for the caller knows what a second
//! copy would do.

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONNECTION, HOST, HeaderMap, HeaderValue, USER_AGENT};
use http::{Method, Request};
use http_body_util::Full;
use tokio::time::timeout;

use super::exchange::exchange;
use super::target::Target;
use super::{FetchError, FetchLimits, Fetcher, ForbiddenUrl};

/// A name that a server's operator can look for.
pub(crate) const USER_AGENT_VALUE: HeaderValue = HeaderValue::from_static("Switchyard/1.0");

#[derive(Clone, Default)]
pub struct PostRequest {
    /// Beside those that every request has.
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// What came back, whichever status it has.
#[derive(Clone, PartialEq, Eq)]
pub struct PostResponse {
    /// 100 to 999.
    pub status: u16,
    pub headers: HeaderMap,
    /// As much of it as the limits allow.
    pub body: Vec<u8>,
}

/// Why nothing came back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    /// Nothing can have arrived.
    #[error("not sent: {0}")]
    NotSent(FetchError),
    /// It may have arrived, in part or as a whole.
    #[error("sent, but not answered: {0}")]
    MaybeSent(FetchError),
}

impl Fetcher {
    /// Posts to `url`, which any user may have written.
    pub async fn post(
        &self,
        url: &str,
        post: PostRequest,
        limits: FetchLimits,
    ) -> Result<PostResponse, PostError> {
        let sent = SentFlag::default();
        let work = Box::pin(self.post_once(url, post, limits, &sent));
        let done = timeout(limits.timeout, work).await.unwrap_or(Err(FetchError::Timeout));
        done.map_err(|cause| sent.classify(cause))
    }

    async fn post_once(
        &self,
        url: &str,
        post: PostRequest,
        limits: FetchLimits,
        sent: &SentFlag,
    ) -> Result<PostResponse, FetchError> {
        let target = Target::parse(url)?;
        if !target.is_https() {
            return Err(FetchError::Forbidden(ForbiddenUrl::Scheme));
        }
        let request = request(&target, post)?;
        let addresses = self.public_addresses(&target).await?;
        let stream = self.network.connect_any(&addresses).await;
        let stream = stream.map_err(|_| FetchError::Unreachable)?;
        let stream = self.tls.connect(target.server_name()?, stream).await?;
        sent.set();
        let (head, body) = exchange(stream, request, |_| limits.bytes).await?;
        // A body that breaks off does not take its status back.
        let body = body.unwrap_or_default();
        Ok(PostResponse { status: head.status.as_u16(), headers: head.headers, body })
    }
}

fn request(target: &Target, post: PostRequest) -> Result<Request<Full<Bytes>>, FetchError> {
    const NOT_A_URL: FetchError = FetchError::Forbidden(ForbiddenUrl::NotAUrl);
    let mut request = Request::new(Full::new(post.body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = target.path_and_query().parse().map_err(|_| NOT_A_URL)?;
    *request.headers_mut() = post.headers;
    let host = HeaderValue::try_from(target.authority()).map_err(|_| NOT_A_URL)?;
    let fixed = [
        (HOST, host),
        (USER_AGENT, USER_AGENT_VALUE),
        (ACCEPT_ENCODING, HeaderValue::from_static("identity")),
        (CONNECTION, HeaderValue::from_static("close")),
    ];
    request.headers_mut().extend(fixed);
    Ok(request)
}

/// Whether a part of the request can have left.
#[derive(Default)]
pub(crate) struct SentFlag(AtomicBool);

impl SentFlag {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn classify(&self, cause: FetchError) -> PostError {
        let sent = self.0.load(Ordering::Relaxed);
        if sent { PostError::MaybeSent(cause) } else { PostError::NotSent(cause) }
    }
}

/// Shows the size and nothing more: bodies and headers are in no log.
impl std::fmt::Debug for PostRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostRequest").field("bytes", &self.body.len()).finish_non_exhaustive()
    }
}

/// Shows the status and nothing more: a response may repeat what the server was sent.
impl std::fmt::Debug for PostResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostResponse").field("status", &self.status).finish_non_exhaustive()
    }
}
