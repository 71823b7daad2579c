//! A mail server that takes everything and delivers nothing (RFC 5321).
//!
//! It knows `SIZE`, `8BITMIME`, `PIPELINING`, `ENHANCEDSTATUSCODES` and `AUTH`. Who authenticates must
//! do so rightly; nobody has to. Guarantee: a mail is kept before it is accepted, and lines, mails and
//! recipients are bounded. Absent: `STARTTLS`, since it listens on the loopback only.

use std::sync::Arc;

use tokio::io::BufReader;
use tokio::net::{TcpListener, TcpStream};

use crate::sink::Desk;

mod session;
mod wire;

use self::session::Session;
use self::wire::Wire;

/// Serves `listener` until it is stopped.
pub(crate) async fn serve(listener: TcpListener, desk: Arc<Desk>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let desk = Arc::clone(&desk);
        tokio::spawn(async move {
            let _hint = stream.set_nodelay(true);
            // A client that hangs up is its own affair.
            let _ended = session(stream, &desk).await;
        });
    }
}

async fn session(stream: TcpStream, desk: &Desk) -> std::io::Result<()> {
    let mut wire = Wire::new(BufReader::new(stream));
    wire.say("220 sink.localhost ESMTP").await?;
    let mut session = Session::new(desk);
    while let Some(line) = wire.line().await? {
        if !session.hear(&line, &mut wire).await? {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
