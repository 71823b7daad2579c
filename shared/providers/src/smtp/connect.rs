//! The connection to a mail server, under TLS as configured before a command of ours is sent.
//!
//! TLS is the stack's own, not lettre's: one set of roots, and nothing that was received in plaintext is
//! taken for a reply under TLS.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use egress::tls::TlsStream;
use lettre::transport::smtp::client::{AsyncSmtpConnection, AsyncTokioStream};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;

use super::{Smtp, SmtpFailure};
use crate::settings::SmtpSecurity;

const MAX_PLAINTEXT_REPLY: u64 = 8 * 1024;

/// What lettre waits for first. After STARTTLS a server does not greet again.
const GREETING: &[u8] = b"220 secured\r\n";

/// Connected, greeted, and secured as configured.
pub(super) async fn connect(smtp: &Smtp) -> Result<AsyncSmtpConnection, SmtpFailure> {
    let stream = stream(smtp)
        .await
        .map_err(|_| SmtpFailure::NoReply("cannot be reached, or not securely"))?;
    Ok(AsyncSmtpConnection::connect_with_transport(stream, &smtp.client_id).await?)
}

async fn stream(smtp: &Smtp) -> io::Result<Box<dyn AsyncTokioStream>> {
    let settings = &smtp.settings;
    let stream = smtp.network.connect_host(&settings.host, settings.port).await?;
    let _hint = stream.set_nodelay(true);
    Ok(match settings.security {
        SmtpSecurity::None => Box::new(stream),
        SmtpSecurity::Tls => Box::new(TlsWithGreeting::new(tls(smtp, stream).await?, b"")),
        SmtpSecurity::StartTls => {
            let stream = start_tls(stream, &smtp.client_id.to_string()).await?;
            Box::new(TlsWithGreeting::new(tls(smtp, stream).await?, GREETING))
        }
    })
}

async fn tls(smtp: &Smtp, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
    let name = ServerName::try_from(smtp.settings.host.clone()).map_err(io::Error::other)?;
    smtp.tls.connect(name, stream).await.map_err(io::Error::other)
}

/// STARTTLS. Replies are read byte by byte, so that nothing after the last is read in plaintext.
async fn start_tls(mut stream: TcpStream, client_id: &str) -> io::Result<TcpStream> {
    read_reply(&mut stream, "220").await?;
    stream.write_all(format!("EHLO {client_id}\r\n").as_bytes()).await?;
    let offered = read_reply(&mut stream, "250").await?;
    let offers =
        |line: &str| line.get(4..).is_some_and(|it| it.trim().eq_ignore_ascii_case("STARTTLS"));
    if !offered.lines().any(offers) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    stream.write_all(b"STARTTLS\r\n").await?;
    read_reply(&mut stream, "220").await?;
    Ok(stream)
}

/// Reads a reply with this code, all its lines.
async fn read_reply(stream: &mut TcpStream, code: &str) -> io::Result<String> {
    let mut answer = Vec::new();
    let mut limited = stream.take(MAX_PLAINTEXT_REPLY);
    loop {
        let start = answer.len();
        while !answer.ends_with(b"\n") || answer.len() == start {
            answer.push(limited.read_u8().await?);
        }
        let line = &answer[start..];
        if !line.starts_with(code.as_bytes()) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if line.get(3) != Some(&b'-') {
            return String::from_utf8(answer).map_err(io::Error::other);
        }
    }
}

/// A TLS stream that starts with a greeting for lettre, which the server does not repeat after STARTTLS.
#[derive(Debug)]
struct TlsWithGreeting {
    greeting: &'static [u8],
    stream: TlsStream<TcpStream>,
}

impl TlsWithGreeting {
    fn new(stream: TlsStream<TcpStream>, greeting: &'static [u8]) -> Self {
        Self { greeting, stream }
    }
}

impl AsyncRead for TlsWithGreeting {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.greeting.is_empty() {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let (now, later) = self.greeting.split_at(buffer.remaining().min(self.greeting.len()));
        buffer.put_slice(now);
        self.greeting = later;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for TlsWithGreeting {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl AsyncTokioStream for TlsWithGreeting {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.stream.get_ref().0.peer_addr()
    }
}
