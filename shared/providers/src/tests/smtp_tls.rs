//! Mail servers under TLS: from the first byte, and by STARTTLS.

use std::net::SocketAddr;

use domain::notifications::{Class, SendOutcome};
use egress::Network;
use sink::{CertificateAuthority, ProviderKind};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::harness::{Harness, closed_network, now, refusal};
use crate::settings::ProviderSettings;
use crate::{Provider, Smtp};

fn authority(name: &str) -> CertificateAuthority {
    CertificateAuthority::new([name.to_owned()]).unwrap()
}

/// A server that speaks TLS and passes everything on to the sink.
async fn server(sink: SocketAddr, acceptor: TlsAcceptor, start_tls: bool) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            if start_tls {
                start_tls_session(&mut stream).await;
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

async fn start_tls_session(stream: &mut TcpStream) {
    stream.write_all(b"220 mail.test\r\n").await.unwrap();
    let mut lines = BufReader::new(stream);
    let mut received = String::new();
    lines.read_line(&mut received).await.unwrap();
    assert!(received.starts_with("EHLO "), "{received}");
    lines.get_mut().write_all(b"250-mail.test\r\n250 STARTTLS\r\n").await.unwrap();
    received.clear();
    lines.read_line(&mut received).await.unwrap();
    assert_eq!(received, "STARTTLS\r\n");
    lines.get_mut().write_all(b"220 go\r\n").await.unwrap();
}

fn smtp(harness: &Harness, port: u16, security: &str, network: Network) -> Smtp {
    let mut settings = harness.sink.settings();
    settings["smtp"]["security"] = security.into();
    settings["smtp"]["port"] = port.into();
    let settings = ProviderSettings::parse(&settings.to_string()).unwrap().smtp.unwrap();
    Smtp::new(settings, network).unwrap()
}

#[tokio::test]
async fn a_mail_travels_under_tls_either_way() {
    let harness = Harness::new().await;
    for (security, start_tls) in [("tls", false), ("starttls", true)] {
        let CertificateAuthority { root_certificate, acceptor } = authority("127.0.0.1");
        let port = server(harness.sink.smtp(), acceptor, start_tls).await;
        let smtp = smtp(
            &harness,
            port,
            security,
            closed_network().with_root_certificate(root_certificate),
        );
        for _ in 0..2 {
            let outcome = smtp.send(&harness.message(ProviderKind::Smtp), now()).await;
            assert!(matches!(outcome, SendOutcome::Accepted { .. }), "{security}: {outcome:?}");
        }
    }
    assert_eq!(harness.sink.sent(ProviderKind::Smtp).len(), 4);
}

#[tokio::test]
async fn an_untrusted_server_gets_nothing() {
    let harness = Harness::new().await;
    for (security, start_tls) in [("tls", false), ("starttls", true)] {
        for (name, trusted) in [("127.0.0.1", false), ("mail.test", true)] {
            let CertificateAuthority { root_certificate, acceptor } = authority(name);
            let port = server(harness.sink.smtp(), acceptor, start_tls).await;
            let network = if trusted {
                closed_network().with_root_certificate(root_certificate)
            } else {
                closed_network()
            };
            let smtp = smtp(&harness, port, security, network);
            let outcome = smtp.send(&harness.message(ProviderKind::Smtp), now()).await;
            assert_eq!(refusal(&outcome).0, Class::Outage, "{security} {name}: {outcome:?}");
        }
    }
    assert!(harness.sink.messages().is_empty());
}
