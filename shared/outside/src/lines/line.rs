//! One connection and whoever uses it: it moves only while it is used.

use std::pin::Pin;

use bytes::Bytes;
use futures::FutureExt;
use h2::client::SendRequest;
use http::Request;

pub(super) use crate::fetch::Sent;
use crate::fetch::{Answered, NotFetched};

type Connection = Pin<Box<dyn Future<Output = Result<(), h2::Error>> + Send>>;

pub(super) struct Line {
    sender: SendRequest<Bytes>,
    /// None once it has ended.
    connection: Option<Connection>,
}

impl Line {
    pub(super) fn new(sender: SendRequest<Bytes>, connection: Connection) -> Self {
        Self { sender, connection: Some(connection) }
    }

    pub(super) fn is_open(&self) -> bool {
        self.connection.is_some()
    }

    /// Whether the other side has left it open: what it said meanwhile is read first.
    pub(super) async fn still_stands(&mut self) -> bool {
        // Whoever yields lets the runtime ask the sockets what has happened to them.
        tokio::task::yield_now().await;
        let ended = self.connection.as_mut().is_none_or(|it| it.now_or_never().is_some());
        if ended {
            self.connection = None;
        }
        !ended
    }

    /// One request and its answer.
    pub(super) async fn ask(
        &mut self,
        request: Request<()>,
        body: Bytes,
        bytes: usize,
        sent: &Sent,
    ) -> Result<Answered, NotFetched> {
        let Self { sender, connection } = self;
        let talk = talk(sender.clone(), request, body, bytes, sent);
        tokio::pin!(talk);
        loop {
            let Some(driven) = connection else { return talk.await };
            tokio::select! {
                biased;
                answer = &mut talk => return answer,
                // What had already come in can still be read.
                _ended = driven => *connection = None,
            }
        }
    }
}

async fn talk(
    sender: SendRequest<Bytes>,
    request: Request<()>,
    body: Bytes,
    bytes: usize,
    sent: &Sent,
) -> Result<Answered, NotFetched> {
    let mut sender = sender.ready().await.map_err(|_| NotFetched::Unreachable)?;
    sent.now();
    let (answer, mut stream) =
        sender.send_request(request, body.is_empty()).map_err(|_| NotFetched::NotHttp)?;
    if !body.is_empty() {
        stream.send_data(body, true).map_err(|_| NotFetched::NotHttp)?;
    }
    let (head, mut body) = answer.await.map_err(|_| NotFetched::NotHttp)?.into_parts();
    let mut kept = Vec::new();
    // A body that breaks off after its status takes nothing back.
    while kept.len() < bytes
        && let Some(Ok(data)) = body.data().await
    {
        kept.extend_from_slice(&data[..data.len().min(bytes - kept.len())]);
        let _allowed = body.flow_control().release_capacity(data.len());
    }
    Ok(Answered { status: head.status.as_u16(), headers: head.headers, body: kept })
}
