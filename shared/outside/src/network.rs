//! What the crate asks of the network: addresses, TXT records and connections.
//!
//! Functions get the machine's own; the local cloud and tests hand in others, and with them the
//! authorities that speak for the servers found there. Absent: any judgement of what is asked for.
//! The [`Fetcher`](crate::Fetcher) judges, whichever network it was given.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::dns;

/// A host with several addresses may have some that are down, or that this machine has no route to.
const ADDRESSES: usize = 3;
const CONNECT: Duration = Duration::from_millis(1_500);

type Asked<A, T> = Arc<dyn Fn(A) -> BoxFuture<'static, T> + Send + Sync>;

/// The way out.
#[derive(Clone)]
pub struct Network {
    resolve: Asked<String, Result<Vec<IpAddr>, Unreachable>>,
    texts: Asked<String, Result<Vec<String>, Unreachable>>,
    connect: Asked<SocketAddr, io::Result<TcpStream>>,
    authorities: Arc<[Vec<u8>]>,
}

/// Nobody answered who could have known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("could not {action}: {cause}")]
pub struct Unreachable {
    action: &'static str,
    cause: String,
}

impl Unreachable {
    /// What was attempted, as in "could not `action`", and what stood in its way.
    pub fn new(action: &'static str, cause: impl fmt::Display) -> Self {
        Self { action, cause: cause.to_string() }
    }
}

impl Network {
    /// The machine's own: its resolver, the first nameserver of `/etc/resolv.conf`, its sockets.
    pub fn system() -> Self {
        Self {
            resolve: Arc::new(|name| Box::pin(resolve(name))),
            texts: Arc::new(|name| {
                Box::pin(async move { dns::texts(dns::nameserver(), &name).await })
            }),
            connect: Arc::new(|address| Box::pin(TcpStream::connect(address))),
            authorities: Arc::default(),
        }
    }

    /// Asks `resolver` for a name's addresses.
    #[must_use]
    pub fn with_resolver<F>(mut self, resolver: F) -> Self
    where
        F: Fn(String) -> BoxFuture<'static, Result<Vec<IpAddr>, Unreachable>>
            + Send
            + Sync
            + 'static,
    {
        self.resolve = Arc::new(resolver);
        self
    }

    /// Asks `texts` for a name's TXT records.
    #[must_use]
    pub fn with_texts<F>(mut self, texts: F) -> Self
    where
        F: Fn(String) -> BoxFuture<'static, Result<Vec<String>, Unreachable>>
            + Send
            + Sync
            + 'static,
    {
        self.texts = Arc::new(texts);
        self
    }

    /// Asks the nameserver at `address` for TXT records.
    #[must_use]
    pub fn with_nameserver(self, address: SocketAddr) -> Self {
        self.with_texts(move |name| Box::pin(async move { dns::texts(address, &name).await }))
    }

    /// Opens connections with `connect`.
    #[must_use]
    pub fn with_connect<F>(mut self, connect: F) -> Self
    where
        F: Fn(SocketAddr) -> BoxFuture<'static, io::Result<TcpStream>> + Send + Sync + 'static,
    {
        self.connect = Arc::new(connect);
        self
    }

    /// Adds a DER-encoded authority to those that browsers trust.
    #[must_use]
    pub fn with_authority(mut self, authority: Vec<u8>) -> Self {
        let known = self.authorities.iter().cloned();
        self.authorities = known.chain([authority]).collect();
        self
    }

    /// The authorities that were added.
    pub fn authorities(&self) -> &[Vec<u8>] {
        &self.authorities
    }

    /// The addresses of `name`.
    pub async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, Unreachable> {
        (self.resolve)(name.to_owned()).await
    }

    /// The TXT records of `name`, each with its strings joined; none if there is no such name.
    pub async fn texts(&self, name: &str) -> Result<Vec<String>, Unreachable> {
        (self.texts)(name.to_owned()).await
    }

    /// A connection to exactly `address`.
    pub async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        (self.connect)(address).await
    }

    /// A connection to a host that comes from configuration, wherever that is: a name or an address.
    pub async fn dial(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        let found = match host.parse::<IpAddr>() {
            Ok(address) => vec![address],
            Err(_) => self.resolve(host).await.map_err(io::Error::other)?,
        };
        let found: Vec<_> = found.into_iter().map(|ip| SocketAddr::new(ip, port)).collect();
        self.connect_any(&found).await
    }

    /// A connection to the first of `addresses` that lets itself be connected to.
    pub(crate) async fn connect_any(&self, addresses: &[SocketAddr]) -> io::Result<TcpStream> {
        for address in addresses.iter().take(ADDRESSES) {
            if let Ok(Ok(stream)) = timeout(CONNECT, self.connect(*address)).await {
                return Ok(stream);
            }
        }
        Err(io::ErrorKind::HostUnreachable.into())
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").finish_non_exhaustive()
    }
}

async fn resolve(name: String) -> Result<Vec<IpAddr>, Unreachable> {
    let found = tokio::net::lookup_host((name.as_str(), 0)).await;
    let found = found.map_err(|cause| Unreachable::new("resolve a name", cause))?;
    Ok(found.map(|address| address.ip()).collect())
}
