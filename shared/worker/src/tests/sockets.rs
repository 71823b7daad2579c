//! The same over real sockets and TLS, in real time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{RootCertStore, ServerConfig};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::{Api, KEY, run_jobs};
use crate::http::Wire;
use crate::{Done, Ending, Http, NotConnected, Ticket, Trouble, Worker};

/// The API on a port of its own, behind TLS if there is an acceptor.
async fn listen(api: &Api, tls: Option<TlsAcceptor>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let api = api.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (api, tls) = (api.clone(), tls.clone());
            tokio::spawn(async move {
                match tls {
                    None => api.serve(stream).await,
                    Some(tls) => {
                        if let Ok(stream) = tls.accept(stream).await {
                            api.serve(stream).await;
                        }
                    }
                }
            });
        }
    });
    address
}

/// A certificate for `localhost` that is its own authority.
fn identity() -> (CertificateDer<'static>, TlsAcceptor) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let certificate = certificate.self_signed(&key).unwrap().der().clone();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    (certificate, TlsAcceptor::from(Arc::new(config)))
}

#[tokio::test]
async fn plain_http_runs_a_job() {
    let api = Api::new();
    api.offer("j1", &json!("world"));
    let address = listen(&api, None).await;
    let worker = Worker::connect(&format!("http://{address}/"), KEY).unwrap().job_type("thumb");
    let endings = run_jobs(worker.id("w9"), 1, |job, _| async move {
        Ok(Done::with(json!(format!("Hello, {}.", job.payload::<String>()?))))
    })
    .await;
    assert_eq!(endings, [Ending::Completed]);
    let complete = &api.heard("complete")[0];
    assert_eq!(complete.body["workerId"], "w9");
    assert_eq!(complete.body["result"], "Hello, world.");
    assert_eq!(complete.key.as_deref(), Some("Bearer key1.secret"));
}

#[tokio::test]
async fn https_takes_a_job_from_whom_it_trusts() {
    let api = Api::new();
    api.offer("j1", &json!(null));
    let (certificate, tls) = identity();
    let port = listen(&api, Some(tls)).await.port();
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let url = format!("https://localhost:{port}");
    let http = Http::over(Wire::trusting(roots).unwrap(), &url, KEY, "w1").unwrap();
    let ticket = Ticket { job_id: "j1".to_owned(), attempt: 1 };
    assert_eq!(http.claim("thumb", 1).await, Ok(vec![ticket]));
}

#[tokio::test]
async fn https_says_nothing_to_whom_it_does_not_trust() {
    let api = Api::new();
    let (_, tls) = identity();
    let port = listen(&api, Some(tls)).await.port();
    let http = Http::new(&format!("https://localhost:{port}"), KEY, "w1").unwrap();
    let refused = http.claim("thumb", 1).await.unwrap_err();
    assert!(refused.to_string().contains("certificate"), "{refused}");
    assert!(api.calls().is_empty());
}

#[tokio::test]
async fn nobody_there_is_a_passing_trouble() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let http = Http::new(&format!("http://{address}"), KEY, "w1").unwrap();
    let trouble = tokio::time::timeout(Duration::from_secs(5), http.claim("thumb", 1)).await;
    assert!(matches!(trouble, Ok(Err(Trouble::Passing { .. }))), "{trouble:?}");
}

#[test]
fn what_cannot_be_connected_to_is_refused_and_no_key_is_shown() {
    for url in ["", "localhost:8080", "ftp://localhost", "/api"] {
        let refused = Worker::connect(url, KEY);
        assert!(matches!(refused, Err(NotConnected::Address(_))), "{url}");
    }
    for key in ["", "two words", "line\n"] {
        let refused = Worker::connect("http://localhost:8080", key);
        assert!(matches!(refused, Err(NotConnected::Key)), "{key:?}");
    }
    let worker = Worker::connect("http://localhost:8080", KEY).unwrap();
    assert!(!format!("{worker:?}").contains("secret"));
}
