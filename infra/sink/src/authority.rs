//! Who vouches for the sink over TLS: an authority of its own, made when it starts.

use std::io;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

/// A certificate for the sink's names, and the authority it is signed by.
pub(crate) struct Authority {
    pub(crate) der: Vec<u8>,
    pub(crate) acceptor: TlsAcceptor,
}

impl Authority {
    pub(crate) fn new(names: &[String]) -> io::Result<Self> {
        let mut params = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let issuer = CertifiedIssuer::self_signed(params, key).map_err(io::Error::other)?;
        let own = ["localhost", "127.0.0.1", "sink.localhost", "*.sink.localhost"];
        let names: Vec<_> =
            own.into_iter().map(str::to_owned).chain(names.iter().cloned()).collect();
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let params = CertificateParams::new(names).map_err(io::Error::other)?;
        let leaf = params.signed_by(&key, &issuer).map_err(io::Error::other)?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(
                vec![leaf.der().clone()],
                PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            )
            .map_err(io::Error::other)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Ok(Self { der: issuer.der().to_vec(), acceptor })
    }
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}
