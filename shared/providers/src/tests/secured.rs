//! Mail servers under TLS: from the first byte, and after a few words.

use std::net::SocketAddr;
use std::sync::Arc;

use domain::notifications::{Class, SendOutcome};
use outside::Network;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use sink::Via;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::stage::{Stage, alone, now, refusal};
use crate::settings::Settings;
use crate::{Provider, Smtp};

/// Whoever vouches for the server, and the server's side of TLS.
fn certified(name: &str) -> (Vec<u8>, TlsAcceptor) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &issuer);
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![leaf.unwrap().der().clone()], key)
        .unwrap();
    (issuer.der().to_vec(), TlsAcceptor::from(Arc::new(config)))
}

/// A server that speaks TLS and passes everything on to the sink.
async fn server(sink: SocketAddr, acceptor: TlsAcceptor, start_tls: bool) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            if start_tls {
                begin(&mut stream).await;
            }
            let Ok(mut secured) = acceptor.accept(stream).await else { continue };
            let mut behind = TcpStream::connect(sink).await.unwrap();
            if start_tls {
                // It has greeted already.
                while behind.read_u8().await.unwrap() != b'\n' {}
            }
            let _ended = copy_bidirectional(&mut secured, &mut behind).await;
        }
    });
    port
}

/// The words before TLS.
async fn begin(stream: &mut TcpStream) {
    stream.write_all(b"220 mail.test\r\n").await.unwrap();
    let mut lines = BufReader::new(stream);
    let mut heard = String::new();
    lines.read_line(&mut heard).await.unwrap();
    assert!(heard.starts_with("EHLO "), "{heard}");
    lines.get_mut().write_all(b"250-mail.test\r\n250 STARTTLS\r\n").await.unwrap();
    heard.clear();
    lines.read_line(&mut heard).await.unwrap();
    assert_eq!(heard, "STARTTLS\r\n");
    lines.get_mut().write_all(b"220 go\r\n").await.unwrap();
}

fn smtp(stage: &Stage, port: u16, security: &str, network: Network) -> Smtp {
    let mut settings = stage.sink.settings();
    settings["smtp"]["security"] = security.into();
    settings["smtp"]["port"] = port.into();
    let settings = Settings::parse(&settings.to_string()).unwrap().smtp.unwrap();
    Smtp::new(settings, network).unwrap()
}

#[tokio::test]
async fn a_mail_travels_under_tls_either_way() {
    let stage = Stage::new().await;
    for (security, start_tls) in [("tls", false), ("starttls", true)] {
        let (authority, acceptor) = certified("127.0.0.1");
        let port = server(stage.sink.smtp(), acceptor, start_tls).await;
        let smtp = smtp(&stage, port, security, alone().with_root_certificate(authority));
        for _ in 0..2 {
            let handed = smtp.send(&stage.parcel(Via::Smtp), now()).await;
            assert!(matches!(handed, SendOutcome::Accepted { .. }), "{security}: {handed:?}");
        }
    }
    assert_eq!(stage.sink.sent(Via::Smtp).len(), 4);
}

#[tokio::test]
async fn a_server_that_nobody_vouches_for_gets_nothing() {
    let stage = Stage::new().await;
    for (security, start_tls) in [("tls", false), ("starttls", true)] {
        for (name, trusted) in [("127.0.0.1", false), ("mail.test", true)] {
            let (authority, acceptor) = certified(name);
            let port = server(stage.sink.smtp(), acceptor, start_tls).await;
            let network = if trusted { alone().with_root_certificate(authority) } else { alone() };
            let smtp = smtp(&stage, port, security, network);
            let handed = smtp.send(&stage.parcel(Via::Smtp), now()).await;
            assert_eq!(refusal(&handed).0, Class::Outage, "{security} {name}: {handed:?}");
        }
    }
    assert!(stage.sink.messages().is_empty());
}
