//! One request and its answer, over a connection made for it to an address already judged.
//!
//! Guarantee: nothing runs on after the answer is there or the caller has stopped waiting, since
//! the connection is driven by the caller's own future and closed with it. Absent: judging and
//! resolving.

use std::convert::Infallible;
use std::net::SocketAddr;

use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, LOCATION,
    USER_AGENT,
};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use super::target::Target;
use super::{Fetcher, Forbidden, NotFetched, Page};

/// The same for everybody, and a name that a site's operator can look for and refuse.
const AGENT: &str = "Switchyard-Preview/1.0";

/// The longest head of an answer, and what is read at once.
pub(super) const HEAD: usize = 64 * 1024;

/// How an answer is asked for.
pub(super) struct Exchange<'a> {
    pub(super) fetcher: &'a Fetcher,
    pub(super) bytes: usize,
    pub(super) accept: &'static str,
}

/// What came back.
pub(super) enum Answer {
    Page(Page),
    Moved { status: u16, location: String },
}

impl Exchange<'_> {
    /// Asks for `target` at the first of `addresses` that lets itself be connected to.
    pub(super) async fn ask(
        &self,
        target: &Target,
        addresses: &[SocketAddr],
    ) -> Result<Answer, NotFetched> {
        let stream = self.fetcher.network.connect_any(addresses).await;
        let stream = stream.map_err(|_| NotFetched::Unreachable)?;
        if !target.is_https() {
            return self.talk(target, stream).await;
        }
        self.talk(target, self.fetcher.trust.secure(target.server_name()?, stream).await?).await
    }

    async fn talk<S>(&self, target: &Target, stream: S) -> Result<Answer, NotFetched>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let request = self.request(target)?;
        let (mut sender, connection) = http1::Builder::new()
            .max_buf_size(HEAD)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|_| NotFetched::NotHttp)?;
        let answer = async {
            let response = sender.send_request(request).await.map_err(|_| NotFetched::NotHttp)?;
            self.read(target, response).await
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

    fn request(&self, target: &Target) -> Result<Request<Empty<Bytes>>, NotFetched> {
        Request::get(target.path_and_query())
            .header(HOST, target.authority())
            .header(USER_AGENT, AGENT)
            .header(ACCEPT, self.accept)
            .header(ACCEPT_ENCODING, "identity")
            .header(CONNECTION, "close")
            .body(Empty::new())
            .map_err(|_| NotFetched::Forbidden(Forbidden::NotAUrl))
    }

    async fn read(
        &self,
        target: &Target,
        response: Response<Incoming>,
    ) -> Result<Answer, NotFetched> {
        let status = response.status();
        if is_redirect(status)
            && let Some(location) = text(response.headers(), &LOCATION)
        {
            return Ok(Answer::Moved { status: status.as_u16(), location });
        }
        if !status.is_success() {
            return Err(NotFetched::Status(status.as_u16()));
        }
        Ok(Answer::Page(Page {
            url: target.url().to_owned(),
            status: status.as_u16(),
            content_type: text(response.headers(), &CONTENT_TYPE),
            body: read_body(response.into_body(), self.bytes).await?,
        }))
    }
}

/// The first `bytes` of a body.
pub(super) async fn read_body(mut body: Incoming, bytes: usize) -> Result<Vec<u8>, NotFetched> {
    let mut kept = Vec::new();
    while kept.len() < bytes
        && let Some(frame) = body.frame().await
    {
        if let Ok(data) = frame.map_err(|_| NotFetched::NotHttp)?.into_data() {
            kept.extend_from_slice(&data[..data.len().min(bytes - kept.len())]);
        }
    }
    Ok(kept)
}

/// The redirects a GET follows; 300 and 304 send nobody anywhere.
fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}
