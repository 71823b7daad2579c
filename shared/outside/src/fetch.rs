//! Fetching a page whose address somebody else chose.
//!
//! Guarantee: each hop's URL is parsed and judged, its name resolved once, every address found must
//! be public, and the connection goes to one of those very addresses, so that a second answer of the
//! resolver is never asked for and never trusted. Size, hops and time are bounded. A redirect from
//! https to http is followed: nothing secret is sent, and a browser would land there too. Absent:
//! cookies, credentials, decompression, caching, keep-alive, proxies and retries of a request.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use domain::links::public_ip::is_public;
use tokio::time::timeout;
use url::Url;

use self::exchange::Exchange;
pub(crate) use self::target::Target;
use crate::{Network, Trust};

mod exchange;
mod post;
mod target;

pub(crate) use post::{AGENT, Sent};
pub use post::{Answered, NotPosted, Post};

/// Fetches pages; a clone shares what was built for TLS.
#[derive(Clone)]
pub struct Fetcher {
    network: Network,
    trust: Trust,
}

/// How far a fetch may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// What is kept of the body; the rest is not read.
    pub bytes: usize,
    pub hops: u8,
    /// From the first look-up to the last byte, redirects included.
    pub total: Duration,
}

impl Default for Limits {
    /// Enough for the head of a page: 256 KiB, 3 redirects, 5 seconds.
    fn default() -> Self {
        Self { bytes: 256 * 1024, hops: 3, total: Duration::from_secs(5) }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
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
pub enum NotFetched {
    /// The URL, or one it redirected to, is none that may be fetched.
    #[error("not allowed: {0}")]
    Forbidden(Forbidden),
    /// The host's name has no address, or nobody could tell.
    #[error("the host has no known address")]
    Unresolved,
    /// No connection could be made.
    #[error("the host cannot be reached")]
    Unreachable,
    /// The host did not prove to be who it is called.
    #[error("the host has no certificate that is trusted")]
    Untrusted,
    /// What came back is not HTTP/1.1, is too large a head, or breaks off.
    #[error("the host does not answer in proper HTTP")]
    NotHttp,
    /// An answer, but not a page.
    #[error("the host answered with status {0}")]
    Status(u16),
    /// More redirects than allowed.
    #[error("too many redirects")]
    TooManyHops,
    /// The time was up.
    #[error("it took too long")]
    Timeout,
}

/// What makes a URL one that is not fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Forbidden {
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
        Self { trust: Trust::of(&network, &[b"http/1.1"]), network }
    }

    /// Trusts these DER-encoded authorities as well.
    #[must_use]
    pub fn trusting(self, roots: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let network = roots.into_iter().fold(self.network, Network::with_authority);
        Self::new(network)
    }

    /// The page at `url`.
    pub async fn get(&self, url: &str, limits: Limits) -> Result<Page, NotFetched> {
        let fetch = Box::pin(self.follow(url, limits));
        timeout(limits.total, fetch).await.unwrap_or(Err(NotFetched::Timeout))
    }

    /// The document at a URL that comes from configuration: it may be anywhere, on any port, and
    /// redirects nobody.
    pub(crate) async fn get_trusted(&self, url: Url, limits: Limits) -> Result<Page, NotFetched> {
        let ask = Box::pin(async {
            let target = Target::from_configuration(url).map_err(NotFetched::Forbidden)?;
            let addresses = self.addresses(&target).await?;
            match self.exchange(limits, "application/json").ask(&target, &addresses).await? {
                exchange::Answer::Page(page) => Ok(page),
                exchange::Answer::Moved { status, .. } => Err(NotFetched::Status(status)),
            }
        });
        timeout(limits.total, ask).await.unwrap_or(Err(NotFetched::Timeout))
    }

    async fn follow(&self, url: &str, limits: Limits) -> Result<Page, NotFetched> {
        let mut target = Target::parse(url)?;
        for _ in 0..=limits.hops {
            let addresses = self.public_addresses(&target).await?;
            match self.exchange(limits, "text/html").ask(&target, &addresses).await? {
                exchange::Answer::Page(page) => return Ok(page),
                exchange::Answer::Moved { location, .. } => target = target.join(&location)?,
            }
        }
        Err(NotFetched::TooManyHops)
    }

    /// Where the target is, asked once: none of it but on the public internet.
    async fn public_addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, NotFetched> {
        let addresses = self.addresses(target).await?;
        if !addresses.iter().all(|address| is_public(address.ip())) {
            return Err(NotFetched::Forbidden(Forbidden::Address));
        }
        Ok(addresses)
    }

    /// Where the target is, asked once; never empty.
    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, NotFetched> {
        let found = if let Some(address) = target.literal() {
            vec![address]
        } else {
            let resolved = self.network.resolve(target.host()).await;
            resolved.map_err(|_| NotFetched::Unresolved)?
        };
        if found.is_empty() {
            return Err(NotFetched::Unresolved);
        }
        Ok(found.into_iter().map(|address| SocketAddr::new(address, target.port())).collect())
    }

    fn exchange(&self, limits: Limits, accept: &'static str) -> Exchange<'_> {
        Exchange { fetcher: self, bytes: limits.bytes, accept }
    }
}

impl fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetcher").field("trust", &self.trust).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
