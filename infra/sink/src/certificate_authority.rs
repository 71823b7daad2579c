//! A certificate authority of the sink's own, made when it starts.

use std::io;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

pub struct CertificateAuthority {
    /// DER-encoded.
    pub root_certificate: Vec<u8>,
    /// Serves TLS with a certificate for the names.
    pub acceptor: TlsAcceptor,
}

impl CertificateAuthority {
    pub fn new(names: impl IntoIterator<Item = String>) -> io::Result<Self> {
        let mut params = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let issuer = CertifiedIssuer::self_signed(params, key).map_err(io::Error::other)?;
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let params = CertificateParams::new(names.into_iter().collect::<Vec<_>>())
            .map_err(io::Error::other)?;
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
        Ok(Self { root_certificate: issuer.der().to_vec(), acceptor })
    }
}
