//! TLS with the certificate authorities that browsers trust, and those that the network adds.
//!
//! Guarantee: nothing is sent to a server before its certificate is verified for the name it was called by.

use std::fmt;
use std::sync::{Arc, OnceLock};

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
pub use tokio_rustls::client::TlsStream;

use crate::fetch::FetchError;
use crate::network::Network;

/// TLS 1.2 and 1.3 without client certificates; a clone shares what was built.
#[derive(Clone)]
pub struct TlsClient {
    roots: Arc<[CertificateDer<'static>]>,
    protocols: &'static [&'static [u8]],
    built: Arc<OnceLock<Option<Arc<ClientConfig>>>>,
}

impl TlsClient {
    /// Trusts the root certificates of the network too; offers `protocols` (ALPN), the best first.
    pub fn new(network: &Network, protocols: &'static [&'static [u8]]) -> Self {
        let roots = network.root_certificates().iter().cloned().map(CertificateDer::from).collect();
        Self { roots, protocols, built: Arc::default() }
    }

    /// The handshake with the server called `name`.
    pub async fn connect(
        &self,
        name: ServerName<'static>,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, FetchError> {
        let connector = TlsConnector::from(self.config()?);
        connector.connect(name, stream).await.map_err(|_| FetchError::Untrusted)
    }

    /// Built on first use: many functions that hold one meet no https URL while they live.
    fn config(&self) -> Result<Arc<ClientConfig>, FetchError> {
        let built = self.built.get_or_init(|| client(&self.roots, self.protocols));
        built.clone().ok_or(FetchError::Untrusted)
    }
}

impl fmt::Debug for TlsClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsClient").field("extra_roots", &self.roots.len()).finish_non_exhaustive()
    }
}

/// None if the provider offers neither version. A root that cannot be read is left out: less is
/// trusted then, never more.
fn client(extra: &[CertificateDer<'static>], protocols: &[&[u8]]) -> Option<Arc<ClientConfig>> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    roots.add_parsable_certificates(extra.iter().cloned());
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .ok()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    Some(Arc::new(config))
}
