//! One connection, driven only while a request uses it.

use std::pin::Pin;

use bytes::Bytes;
use futures::FutureExt;
use h2::client::SendRequest;
use http::Request;

use crate::fetch::{FetchError, PostResponse, SentFlag};

type Driver = Pin<Box<dyn Future<Output = Result<(), h2::Error>> + Send>>;

pub(super) struct Http2Connection {
    sender: SendRequest<Bytes>,
    /// None once the connection has ended.
    driver: Option<Driver>,
}

impl Http2Connection {
    pub(super) fn new(sender: SendRequest<Bytes>, driver: Driver) -> Self {
        Self { sender, driver: Some(driver) }
    }

    pub(super) fn is_open(&self) -> bool {
        self.driver.is_some()
    }

    /// Whether the server has left it open: what arrived since its last use is read first.
    pub(super) async fn is_alive(&mut self) -> bool {
        // Yielding lets the runtime poll the sockets.
        tokio::task::yield_now().await;
        let ended = self.driver.as_mut().is_none_or(|it| it.now_or_never().is_some());
        if ended {
            self.driver = None;
        }
        !ended
    }

    /// Sends one request and reads its response.
    pub(super) async fn send(
        &mut self,
        request: Request<()>,
        body: Bytes,
        max_bytes: usize,
        sent: &SentFlag,
    ) -> Result<PostResponse, FetchError> {
        let Self { sender, driver } = self;
        let exchange = exchange(sender.clone(), request, body, max_bytes, sent);
        tokio::pin!(exchange);
        loop {
            let Some(driven) = driver else { return exchange.await };
            tokio::select! {
                biased;
                response = &mut exchange => return response,
                // What had already come in can still be read.
                _ended = driven => *driver = None,
            }
        }
    }
}

async fn exchange(
    sender: SendRequest<Bytes>,
    request: Request<()>,
    body: Bytes,
    max_bytes: usize,
    sent: &SentFlag,
) -> Result<PostResponse, FetchError> {
    let mut sender = sender.ready().await.map_err(|_| FetchError::Unreachable)?;
    sent.set();
    let (response, mut stream) =
        sender.send_request(request, body.is_empty()).map_err(|_| FetchError::InvalidHttp)?;
    if !body.is_empty() {
        stream.send_data(body, true).map_err(|_| FetchError::InvalidHttp)?;
    }
    let (head, mut body) = response.await.map_err(|_| FetchError::InvalidHttp)?.into_parts();
    let mut read = Vec::new();
    // A body that breaks off does not take its status back.
    while read.len() < max_bytes
        && let Some(Ok(data)) = body.data().await
    {
        read.extend_from_slice(&data[..data.len().min(max_bytes - read.len())]);
        let _allowed = body.flow_control().release_capacity(data.len());
    }
    Ok(PostResponse { status: head.status.as_u16(), headers: head.headers, body: read })
}
