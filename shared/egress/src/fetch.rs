//! Fetching a page whose URL a user chose.
//!
//! Guarantee: each hop's URL is parsed and judged, its name resolved once, every address found must
//! be public, and the connection goes to one of those very addresses, so that a second answer of the
//! resolver is never asked for and never trusted. Size, redirects and time are bounded. A redirect from
//! https to http is followed: nothing secret is sent, and a browser would land there too. Absent:
//! cookies, credentials, decompression, caching, keep-alive, proxies and retries of a request.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use domain::links::public_ip::is_public;
use tokio::time::timeout;
use url::Url;

use self::exchange::FetchResponse;
pub(crate) use self::target::Target;
use crate::{Network, TlsClient};

mod exchange;
mod post;
mod target;

pub use post::{PostError, PostRequest, PostResponse};
pub(crate) use post::{SentFlag, USER_AGENT_VALUE};

/// Fetches pages; a clone shares what was built for TLS.
#[derive(Clone)]
pub struct Fetcher {
    network: Network,
    tls: TlsClient,
}

/// How far a fetch may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchLimits {
    /// How much of the body is read.
    pub bytes: usize,
    pub redirects: u8,
    /// From the first look-up to the last byte, redirects included.
    pub timeout: Duration,
}

impl Default for FetchLimits {
    /// Enough for the head of a page: 256 KiB, 3 redirects, 5 seconds.
    fn default() -> Self {
        Self { bytes: 256 * 1024, redirects: 3, timeout: Duration::from_secs(5) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedPage {
    /// Where it was found, after redirects.
    pub url: String,
    /// 200 to 299.
    pub status: u16,
    /// What the server called it.
    pub content_type: Option<String>,
    /// As much of it as the limits allow, exactly as sent.
    pub body: Vec<u8>,
}

/// Why there is no page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The URL, or one it redirected to, is none that may be fetched.
    #[error("not allowed: {0}")]
    Forbidden(ForbiddenUrl),
    /// The host's name has no address, or no resolver answered.
    #[error("the host has no known address")]
    Unresolved,
    /// No connection could be made.
    #[error("the host cannot be reached")]
    Unreachable,
    /// The host presented no certificate that is trusted for its name.
    #[error("the host has no certificate that is trusted")]
    Untrusted,
    /// What came back is not HTTP/1.1, is too large a head, or breaks off.
    #[error("the host does not answer in proper HTTP")]
    InvalidHttp,
    /// An answer, but not a page.
    #[error("the host answered with status {0}")]
    Status(u16),
    /// More redirects than allowed.
    #[error("too many redirects")]
    TooManyRedirects,
    /// The time was up.
    #[error("it took too long")]
    Timeout,
}

/// What makes a URL one that is not fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ForbiddenUrl {
    /// It cannot be parsed.
    #[error("not a URL")]
    NotAUrl,
    /// Neither http nor https.
    #[error("a scheme other than http and https")]
    Scheme,
    /// It carries a user name or a password.
    #[error("a URL with credentials")]
    Credentials,
    /// The port is known for something other than the web.
    #[error("port {0} is not for the web")]
    Port(u16),
    /// An address, or one of the name's addresses, is not public.
    #[error("an address that is not public")]
    Address,
}

impl Fetcher {
    /// Fetches through `network`, trusting the certificate authorities that browsers trust, and those
    /// of the network.
    pub fn new(network: Network) -> Self {
        Self { tls: TlsClient::new(&network, &[b"http/1.1"]), network }
    }

    /// Trusts these DER-encoded authorities as well.
    #[must_use]
    pub fn with_root_certificates(self, roots: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let network = roots.into_iter().fold(self.network, Network::with_root_certificate);
        Self::new(network)
    }

    /// The page at `url`.
    pub async fn get(&self, url: &str, limits: FetchLimits) -> Result<FetchedPage, FetchError> {
        let fetch = Box::pin(self.follow(url, limits));
        timeout(limits.timeout, fetch).await.unwrap_or(Err(FetchError::Timeout))
    }

    /// The document at a URL that comes from configuration: it may be anywhere, on any port, and
    /// a redirect is not followed.
    pub(crate) async fn get_trusted(
        &self,
        url: Url,
        limits: FetchLimits,
    ) -> Result<FetchedPage, FetchError> {
        let fetch = Box::pin(async {
            let target = Target::from_configuration(url).map_err(FetchError::Forbidden)?;
            let found = self.addresses(&target).await?;
            match self.request_page(&target, &found, "application/json", limits.bytes).await? {
                FetchResponse::Page(page) => Ok(page),
                FetchResponse::Redirect { status, .. } => Err(FetchError::Status(status)),
            }
        });
        timeout(limits.timeout, fetch).await.unwrap_or(Err(FetchError::Timeout))
    }

    async fn follow(&self, url: &str, limits: FetchLimits) -> Result<FetchedPage, FetchError> {
        let mut target = Target::parse(url)?;
        for _ in 0..=limits.redirects {
            let addresses = self.public_addresses(&target).await?;
            match self.request_page(&target, &addresses, "text/html", limits.bytes).await? {
                FetchResponse::Page(page) => return Ok(page),
                FetchResponse::Redirect { location, .. } => target = target.join(&location)?,
            }
        }
        Err(FetchError::TooManyRedirects)
    }

    /// The target's addresses, resolved once; an error unless all of them are public.
    async fn public_addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, FetchError> {
        let addresses = self.addresses(target).await?;
        if !addresses.iter().all(|address| is_public(address.ip())) {
            return Err(FetchError::Forbidden(ForbiddenUrl::Address));
        }
        Ok(addresses)
    }

    /// The target's addresses, resolved once; never empty.
    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, FetchError> {
        let found = if let Some(address) = target.literal() {
            vec![address]
        } else {
            let resolved = self.network.resolve(target.host()).await;
            resolved.map_err(|_| FetchError::Unresolved)?
        };
        if found.is_empty() {
            return Err(FetchError::Unresolved);
        }
        Ok(found.into_iter().map(|address| SocketAddr::new(address, target.port())).collect())
    }
}

impl fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetcher").field("tls", &self.tls).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
