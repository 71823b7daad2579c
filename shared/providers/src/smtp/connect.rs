//! The line to a mail server, secured as configured before anything of ours is said.
//!
//! TLS is the stack's own, not lettre's: one set of roots, and nothing that was said in the clear is
//! taken for an answer given under TLS.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use lettre::transport::smtp::client::{AsyncSmtpConnection, AsyncTokioStream};
use outside::tls::TlsStream;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;

use super::{No, Smtp};
use crate::settings::Security;

/// The longest answer read in the clear.
const CLEAR: u64 = 8 * 1024;

/// What lettre waits for first. After STARTTLS a server does not greet again.
const GREETING: &[u8] = b"220 secured\r\n";

/// Connected, greeted, and secured as configured.
pub(super) async fn open(smtp: &Smtp) -> Result<AsyncSmtpConnection, No> {
    let stream = line(smtp).await.map_err(|_| No::Silent("cannot be reached, or not securely"))?;
    Ok(AsyncSmtpConnection::connect_with_transport(stream, &smtp.hello).await?)
}

async fn line(smtp: &Smtp) -> io::Result<Box<dyn AsyncTokioStream>> {
    let settings = &smtp.settings;
    let stream = smtp.network.connect_host(&settings.host, settings.port).await?;
    let _hint = stream.set_nodelay(true);
    Ok(match settings.security {
        Security::None => Box::new(stream),
        Security::Tls => Box::new(Secured::new(secure(smtp, stream).await?, b"")),
        Security::StartTls => {
            let stream = start_tls(stream, &smtp.hello.to_string()).await?;
            Box::new(Secured::new(secure(smtp, stream).await?, GREETING))
        }
    })
}

async fn secure(smtp: &Smtp, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
    let name = ServerName::try_from(smtp.settings.host.clone()).map_err(io::Error::other)?;
    smtp.tls.connect(name, stream).await.map_err(io::Error::other)
}

/// Asks for TLS. The answers are read byte by byte, so that nothing after the last is taken along.
async fn start_tls(mut stream: TcpStream, hello: &str) -> io::Result<TcpStream> {
    expect(&mut stream, "220").await?;
    stream.write_all(format!("EHLO {hello}\r\n").as_bytes()).await?;
    let offered = expect(&mut stream, "250").await?;
    let offers =
        |line: &str| line.get(4..).is_some_and(|it| it.trim().eq_ignore_ascii_case("STARTTLS"));
    if !offered.lines().any(offers) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    stream.write_all(b"STARTTLS\r\n").await?;
    expect(&mut stream, "220").await?;
    Ok(stream)
}

/// An answer with this code, all its lines.
async fn expect(stream: &mut TcpStream, code: &str) -> io::Result<String> {
    let mut answer = Vec::new();
    let mut limited = stream.take(CLEAR);
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

/// A line under TLS, before which a greeting is read that nobody sent.
#[derive(Debug)]
struct Secured {
    greeting: &'static [u8],
    stream: TlsStream<TcpStream>,
}

impl Secured {
    fn new(stream: TlsStream<TcpStream>, greeting: &'static [u8]) -> Self {
        Self { greeting, stream }
    }
}

impl AsyncRead for Secured {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.greeting.is_empty() {
            return Pin::new(&mut self.stream).poll_read(context, room);
        }
        let (now, later) = self.greeting.split_at(room.remaining().min(self.greeting.len()));
        room.put_slice(now);
        self.greeting = later;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Secured {
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

impl AsyncTokioStream for Secured {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.stream.get_ref().0.peer_addr()
    }
}
