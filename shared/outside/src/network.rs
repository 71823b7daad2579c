//! What the crate asks of the network: addresses, TXT records and connections.
//!
//! Functions get the machine's own; the local cloud and tests hand in others. Absent: any judgement
//! of what is asked for. The [`Fetcher`](crate::Fetcher) judges, whichever network it was given.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::net::TcpStream;

use crate::dns;

type Asked<A, T> = Arc<dyn Fn(A) -> BoxFuture<'static, T> + Send + Sync>;

/// The way out.
#[derive(Clone)]
pub struct Network {
    resolve: Asked<String, Result<Vec<IpAddr>, Unreachable>>,
    texts: Asked<String, Result<Vec<String>, Unreachable>>,
    connect: Asked<SocketAddr, io::Result<TcpStream>>,
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
