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

use super::{FakeApi, KEY, run_jobs};
use crate::http::HttpClient;
use crate::{ApiError, ClaimedJob, ConnectError, HttpJobApi, JobOutput, RunOutcome, Worker};

/// The API on a port of its own, behind TLS if there is an acceptor.
async fn listen(api: &FakeApi, tls: Option<TlsAcceptor>) -> SocketAddr {
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
    let api = FakeApi::new();
    api.offer("j1", &json!("world"));
    let address = listen(&api, None).await;
    let worker = Worker::connect(&format!("http://{address}/"), KEY).unwrap().job_type("thumb");
    let outcomes = run_jobs(worker.id("w9"), 1, |job, _| async move {
        Ok(JobOutput::with_result(json!(format!("Hello, {}.", job.payload::<String>()?))))
    })
    .await;
    assert_eq!(outcomes, [RunOutcome::Completed]);
    let complete = &api.calls_to("complete")[0];
    assert_eq!(complete.body["workerId"], "w9");
    assert_eq!(complete.body["result"], "Hello, world.");
    assert_eq!(complete.key.as_deref(), Some("Bearer key1.secret"));
}

#[tokio::test]
async fn https_claims_a_job_from_a_trusted_server() {
    let api = FakeApi::new();
    api.offer("j1", &json!(null));
    let (certificate, tls) = identity();
    let port = listen(&api, Some(tls)).await.port();
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let url = format!("https://localhost:{port}");
    let http =
        HttpJobApi::with_client(HttpClient::with_roots(roots).unwrap(), &url, KEY, "w1").unwrap();
    let claimed = ClaimedJob { job_id: "j1".to_owned(), attempt: 1 };
    assert_eq!(http.claim("thumb", 1).await, Ok(vec![claimed]));
}

#[tokio::test]
async fn https_sends_nothing_to_an_untrusted_server() {
    let api = FakeApi::new();
    let (_, tls) = identity();
    let port = listen(&api, Some(tls)).await.port();
    let http = HttpJobApi::new(&format!("https://localhost:{port}"), KEY, "w1").unwrap();
    let refused = http.claim("thumb", 1).await.unwrap_err();
    assert!(refused.to_string().contains("certificate"), "{refused}");
    assert!(api.calls().is_empty());
}

#[tokio::test]
async fn a_refused_connection_is_transient() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let http = HttpJobApi::new(&format!("http://{address}"), KEY, "w1").unwrap();
    let error = tokio::time::timeout(Duration::from_secs(5), http.claim("thumb", 1)).await;
    assert!(matches!(error, Ok(Err(ApiError::Transient { .. }))), "{error:?}");
}

#[test]
fn what_cannot_be_connected_to_is_refused_and_no_key_is_shown() {
    for url in ["", "localhost:8080", "ftp://localhost", "/api"] {
        let refused = Worker::connect(url, KEY);
        assert!(matches!(refused, Err(ConnectError::Address(_))), "{url}");
    }
    for key in ["", "two words", "line\n"] {
        let refused = Worker::connect("http://localhost:8080", key);
        assert!(matches!(refused, Err(ConnectError::Key)), "{key:?}");
    }
    let worker = Worker::connect("http://localhost:8080", KEY).unwrap();
    assert!(!format!("{worker:?}").contains("secret"));
}
