//! Whom a fetch trusts over TLS: the authorities browsers trust, and any handed in.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};

/// TLS 1.2 and 1.3 for HTTP/1.1, without client certificates; none if the provider offers neither.
/// A root that cannot be read is left out: less is trusted then, never more.
pub(super) fn client(extra: &[CertificateDer<'static>]) -> Option<Arc<ClientConfig>> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    roots.add_parsable_certificates(extra.iter().cloned());
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .ok()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Some(Arc::new(config))
}
