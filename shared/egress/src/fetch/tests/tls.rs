//! Which servers are trusted over TLS.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;

use crate::fetch::{FetchError, FetchLimits};
use crate::testing::{
    FakeNetwork, PUBLIC, http_server, in_time, ok, read_head, redirect_to, serve,
};

pub(super) fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate for `name`, by `issuer` or by itself.
pub(super) fn certificate(
    name: &str,
    issuer: Option<&CertifiedIssuer<'static, KeyPair>>,
) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let signed = match issuer {
        Some(issuer) => params.signed_by(&key, issuer),
        None => params.self_signed(&key),
    };
    (signed.unwrap().der().clone(), PrivateKeyDer::Pkcs8(key.serialize_der().into()))
}

/// What a TLS server received: the name in SNI, and the request's head.
type Requests = Arc<Mutex<Vec<(Option<String>, String)>>>;

pub(super) fn acceptor(
    (certificate, key): (CertificateDer<'static>, PrivateKeyDer<'static>),
) -> TlsAcceptor {
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

async fn secure(
    certificate: (CertificateDer<'static>, PrivateKeyDer<'static>),
) -> (SocketAddr, Requests) {
    let acceptor = acceptor(certificate);
    let seen = Requests::default();
    let log = Arc::clone(&seen);
    let address = serve(move |stream| {
        let (acceptor, log) = (acceptor.clone(), Arc::clone(&log));
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            let name = stream.get_ref().1.server_name().map(ToOwned::to_owned);
            let head = read_head(&mut stream).await;
            let answer = if head.starts_with("GET /away ") {
                redirect_to("http://plain.test/")
            } else {
                ok("text/html", "secret garden")
            };
            log.lock().unwrap().push((name, head));
            stream.write_all(&answer).await.unwrap();
            let _ended = stream.shutdown().await;
        }
    })
    .await;
    (address, seen)
}

pub(super) fn fake(server: SocketAddr) -> FakeNetwork {
    FakeNetwork::default().name("secure.test", &[PUBLIC]).route("93.184.216.34:443", server)
}

#[tokio::test]
async fn a_certificate_of_a_trusted_authority_is_accepted_for_the_name_it_is_for() {
    let authority = authority();
    let (server, seen) = secure(certificate("secure.test", Some(&authority))).await;
    let fake = fake(server);
    let fetcher = fake.fetcher().with_root_certificates([authority.der().to_vec()]);
    let page = in_time(fetcher.get("https://secure.test/", FetchLimits::default())).await.unwrap();
    assert_eq!(
        (page.body.as_slice(), page.url.as_str()),
        (&b"secret garden"[..], "https://secure.test/")
    );
    assert_eq!(fake.connected(), ["93.184.216.34:443"]);
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0].0.as_deref(), Some("secure.test"));
    assert!(seen[0].1.contains("\r\nhost: secure.test\r\n"));
}

#[tokio::test]
async fn a_certificate_for_an_address_is_accepted_for_that_address() {
    let authority = authority();
    let (server, _) = secure(certificate(PUBLIC, Some(&authority))).await;
    let fetcher = fake(server).fetcher().with_root_certificates([authority.der().to_vec()]);
    let page = in_time(fetcher.get("https://93.184.216.34/", FetchLimits::default())).await;
    assert_eq!(page.unwrap().body, b"secret garden");
}

#[tokio::test]
async fn any_other_certificate_is_refused_before_anything_is_sent() {
    let (authority, stranger) = (authority(), self::authority());
    for (what, certificate) in [
        ("self-signed", certificate("secure.test", None)),
        ("a stranger's", certificate("secure.test", Some(&stranger))),
        ("for another name", certificate("other.test", Some(&authority))),
        ("for another address", certificate("1.1.1.1", Some(&authority))),
    ] {
        let (server, seen) = secure(certificate).await;
        let fetcher = fake(server).fetcher().with_root_certificates([authority.der().to_vec()]);
        for url in ["https://secure.test/", "https://93.184.216.34/"] {
            let refused = in_time(fetcher.get(url, FetchLimits::default())).await;
            assert_eq!(refused, Err(FetchError::Untrusted), "{what} at {url}");
        }
        assert!(seen.lock().unwrap().is_empty(), "{what}");
    }
}

#[tokio::test]
async fn an_authority_is_trusted_only_by_the_fetcher_it_was_added_to() {
    let authority = authority();
    let (server, _) = secure(certificate("secure.test", Some(&authority))).await;
    let plain = fake(server).fetcher();
    let _told =
        plain.clone().with_root_certificates([authority.der().to_vec(), b"not a root".to_vec()]);
    let refused = in_time(plain.get("https://secure.test/", FetchLimits::default())).await;
    assert_eq!(refused, Err(FetchError::Untrusted));
}

#[tokio::test]
async fn what_does_not_speak_tls_is_not_trusted() {
    let server = serve(|mut stream| async move {
        stream.write_all(&ok("text/html", "plain")).await.unwrap();
    })
    .await;
    let refused =
        in_time(fake(server).fetcher().get("https://secure.test/", FetchLimits::default())).await;
    assert_eq!(refused, Err(FetchError::Untrusted));
}

#[tokio::test]
async fn a_redirect_may_go_from_https_to_http_and_back() {
    let authority = authority();
    let (secure, seen) = secure(certificate("secure.test", Some(&authority))).await;
    let plain = http_server(|_| redirect_to("https://secure.test/")).await;
    let fake = fake(secure).name("plain.test", &["1.1.1.1"]).route("1.1.1.1:80", plain);
    let fetcher = fake.fetcher().with_root_certificates([authority.der().to_vec()]);
    let page =
        in_time(fetcher.get("https://secure.test/away", FetchLimits::default())).await.unwrap();
    assert_eq!(page.url, "https://secure.test/");
    assert_eq!(fake.resolved(), ["secure.test", "plain.test", "secure.test"]);
    assert_eq!(seen.lock().unwrap().len(), 2);
}
