//! Reads commands and mails from an SMTP client, and writes replies.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// RFC 5321 allows 512 bytes, extensions and authentication some more.
const MAX_LINE_BYTES: u64 = 4096;

/// The largest mail.
pub(super) const MAX_MAIL_BYTES: usize = 25 * 1024 * 1024;

pub(super) struct SmtpStream(BufReader<TcpStream>);

impl SmtpStream {
    pub(super) fn new(stream: BufReader<TcpStream>) -> Self {
        Self(stream)
    }

    pub(super) async fn reply(&mut self, line: &str) -> io::Result<()> {
        self.0.get_mut().write_all(format!("{line}\r\n").as_bytes()).await
    }

    /// The next line without its end; none once the client is gone.
    pub(super) async fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        let read = (&mut self.0).take(MAX_LINE_BYTES).read_until(b'\n', &mut line).await?;
        if read == 0 {
            return Ok(None);
        }
        if !line.ends_with(b"\n") {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let line = String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned();
        Ok(Some(line))
    }

    /// A mail up to the line with a single dot, the dots doubled on the way removed; none if it is
    /// too large, which is read to its end all the same.
    pub(super) async fn mail(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut mail = Vec::new();
        let mut too_large = false;
        loop {
            let start = mail.len();
            if (&mut self.0).take(MAX_MAIL_BYTES as u64).read_until(b'\n', &mut mail).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let line = &mail[start..];
            if line == b".\r\n" {
                mail.truncate(start);
                return Ok((!too_large).then_some(mail));
            }
            if line.starts_with(b".") {
                mail.remove(start);
            }
            if mail.len() > MAX_MAIL_BYTES {
                too_large = true;
                mail.clear();
            }
        }
    }
}
