//! A mail server that takes everything and delivers nothing (RFC 5321).
//!
//! It knows `SIZE`, `8BITMIME`, `PIPELINING`, `ENHANCEDSTATUSCODES` and `AUTH`, which is optional.
//! Guarantee: a mail is stored before it is accepted, and lines, mails and recipients are bounded.
//! Absent: `STARTTLS`, since it listens on the loopback only.

use std::sync::Arc;

use tokio::io::BufReader;
use tokio::net::{TcpListener, TcpStream};

use crate::sink::SinkState;

mod session;
mod stream;

use self::session::Session;
use self::stream::SmtpStream;

/// Serves `listener` until it is stopped.
pub(crate) async fn serve(listener: TcpListener, state: Arc<SinkState>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            let _hint = stream.set_nodelay(true);
            // The client may disconnect first.
            let _ended = session(stream, &state).await;
        });
    }
}

async fn session(stream: TcpStream, state: &SinkState) -> std::io::Result<()> {
    let mut stream = SmtpStream::new(BufReader::new(stream));
    stream.reply("220 sink.localhost ESMTP").await?;
    let mut session = Session::new(state);
    while let Some(line) = stream.line().await? {
        if !session.handle(&line, &mut stream).await? {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
