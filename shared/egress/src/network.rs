//! Name resolution, TXT records and connections.
//!
//! Functions get the machine's own; the local cloud and tests hand in others, and with them the
//! root certificates of the servers found there. Absent: any judgement of names and addresses.
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
const MAX_ADDRESSES: usize = 3;
const CONNECT_TIMEOUT: Duration = Duration::from_millis(1_500);

type Hook<A, T> = Arc<dyn Fn(A) -> BoxFuture<'static, T> + Send + Sync>;

#[derive(Clone)]
pub struct Network {
    resolve: Hook<String, Result<Vec<IpAddr>, NetworkError>>,
    txt_records: Hook<String, Result<Vec<String>, NetworkError>>,
    connect: Hook<SocketAddr, io::Result<TcpStream>>,
    root_certificates: Arc<[Vec<u8>]>,
}

/// A nameserver or resolver that did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("could not {action}: {cause}")]
pub struct NetworkError {
    action: &'static str,
    cause: String,
}

impl NetworkError {
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
            txt_records: Arc::new(|name| {
                Box::pin(async move { dns::txt_records(dns::nameserver(), &name).await })
            }),
            connect: Arc::new(|address| Box::pin(TcpStream::connect(address))),
            root_certificates: Arc::default(),
        }
    }

    /// Resolves names with `resolver`.
    #[must_use]
    pub fn with_resolver<F>(mut self, resolver: F) -> Self
    where
        F: Fn(String) -> BoxFuture<'static, Result<Vec<IpAddr>, NetworkError>>
            + Send
            + Sync
            + 'static,
    {
        self.resolve = Arc::new(resolver);
        self
    }

    /// Looks TXT records up with `txt_records`.
    #[must_use]
    pub fn with_txt_records<F>(mut self, txt_records: F) -> Self
    where
        F: Fn(String) -> BoxFuture<'static, Result<Vec<String>, NetworkError>>
            + Send
            + Sync
            + 'static,
    {
        self.txt_records = Arc::new(txt_records);
        self
    }

    /// Looks TXT records up at the nameserver at `address`.
    #[must_use]
    pub fn with_nameserver(self, address: SocketAddr) -> Self {
        self.with_txt_records(move |name| {
            Box::pin(async move { dns::txt_records(address, &name).await })
        })
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

    /// Adds a DER-encoded root certificate to those that browsers trust.
    #[must_use]
    pub fn with_root_certificate(mut self, certificate: Vec<u8>) -> Self {
        let known = self.root_certificates.iter().cloned();
        self.root_certificates = known.chain([certificate]).collect();
        self
    }

    /// The root certificates that were added.
    pub fn root_certificates(&self) -> &[Vec<u8>] {
        &self.root_certificates
    }

    /// The addresses of `name`.
    pub async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, NetworkError> {
        (self.resolve)(name.to_owned()).await
    }

    /// The TXT records of `name`, each with its strings joined; none if there is no such name.
    pub async fn txt_records(&self, name: &str) -> Result<Vec<String>, NetworkError> {
        (self.txt_records)(name.to_owned()).await
    }

    /// A connection to exactly `address`.
    pub async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        (self.connect)(address).await
    }

    /// A connection to a host that comes from configuration, wherever that is: a name or an address.
    pub async fn connect_host(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        let found = match host.parse::<IpAddr>() {
            Ok(address) => vec![address],
            Err(_) => self.resolve(host).await.map_err(io::Error::other)?,
        };
        let found: Vec<_> = found.into_iter().map(|ip| SocketAddr::new(ip, port)).collect();
        self.connect_any(&found).await
    }

    /// A connection to the first of `addresses` that accepts one.
    pub(crate) async fn connect_any(&self, addresses: &[SocketAddr]) -> io::Result<TcpStream> {
        for address in addresses.iter().take(MAX_ADDRESSES) {
            if let Ok(Ok(stream)) = timeout(CONNECT_TIMEOUT, self.connect(*address)).await {
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

async fn resolve(name: String) -> Result<Vec<IpAddr>, NetworkError> {
    let found = tokio::net::lookup_host((name.as_str(), 0)).await;
    let found = found.map_err(|cause| NetworkError::new("resolve a name", cause))?;
    Ok(found.map(|address| address.ip()).collect())
}
