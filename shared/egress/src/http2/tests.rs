//! Kept connections: used again, but not when they may be dead.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::*;
use crate::testing::{FakeNetwork, in_time, serve};

/// What the server does with a request.
#[derive(Clone, Copy, PartialEq)]
enum ServerBehaviour {
    Responds,
    RespondsThenCloses,
    Closes,
    Hangs,
}

/// A server without TLS, and how many connected to it.
async fn server(behaviour: ServerBehaviour) -> (SocketAddr, Arc<AtomicUsize>) {
    let connected = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&connected);
    let address = serve(move |stream| {
        counter.fetch_add(1, Ordering::SeqCst);
        async move {
            let mut connection = h2::server::handshake(stream).await.unwrap();
            let mut held = Vec::new();
            while let Some(Ok((request, mut respond))) = connection.accept().await {
                match behaviour {
                    ServerBehaviour::Closes => return,
                    ServerBehaviour::Hangs => {
                        held.push(respond);
                        continue;
                    }
                    ServerBehaviour::Responds | ServerBehaviour::RespondsThenCloses => {}
                }
                let answer = http::Response::builder()
                    .status(200)
                    .header("path", request.uri().path())
                    .body(())
                    .unwrap();
                let mut body = respond.send_response(answer, false).unwrap();
                body.send_data(Bytes::from(vec![b'x'; 100]), true).unwrap();
                if behaviour == ServerBehaviour::RespondsThenCloses {
                    connection.graceful_shutdown();
                }
            }
        }
    })
    .await;
    (address, connected)
}

fn client(address: SocketAddr) -> Http2Client {
    Http2Client::new(FakeNetwork::default().network(), &format!("http://{address}")).unwrap()
}

fn limits() -> FetchLimits {
    FetchLimits { bytes: 10, redirects: 0, timeout: Duration::from_millis(500) }
}

async fn post(client: &Http2Client, now: i64) -> Result<PostResponse, PostError> {
    let request = PostRequest { body: Bytes::from_static(b"hello"), ..PostRequest::default() };
    let now = Timestamp::from_second(now).unwrap();
    in_time(client.post("/there", request, limits(), now)).await
}

#[tokio::test]
async fn one_connection_serves_one_request_after_another() {
    let (address, connected) = server(ServerBehaviour::Responds).await;
    let client = client(address);
    for _ in 0..3 {
        let answer = post(&client, 0).await.unwrap();
        assert_eq!((answer.status, answer.body.len()), (200, 10));
        assert_eq!(answer.headers["path"], "/there");
    }
    assert_eq!(connected.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn requests_at_once_have_a_connection_each() {
    let (address, connected) = server(ServerBehaviour::Responds).await;
    let client = client(address);
    let answers = tokio::join!(post(&client, 0), post(&client, 0), post(&client, 0));
    assert!(answers.0.is_ok() && answers.1.is_ok() && answers.2.is_ok());
    assert_eq!(connected.load(Ordering::SeqCst), 3);
    post(&client, 1).await.unwrap();
    assert_eq!(connected.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_connection_idle_for_a_minute_is_not_used_again() {
    let (address, connected) = server(ServerBehaviour::Responds).await;
    let client = client(address);
    for (now, connections) in [(0, 1), (59, 1), (119, 2), (100, 3)] {
        post(&client, now).await.unwrap();
        assert_eq!(connected.load(Ordering::SeqCst), connections, "at {now}");
    }
}

#[tokio::test]
async fn a_connection_that_was_closed_meanwhile_is_not_used_again() {
    let (address, connected) = server(ServerBehaviour::RespondsThenCloses).await;
    let client = client(address);
    for connections in 1..=3 {
        post(&client, 0).await.unwrap();
        // Nothing of ours listens meanwhile.
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(connected.load(Ordering::SeqCst), connections);
    }
}

#[tokio::test]
async fn a_connection_cut_or_silent_after_the_request_may_have_sent_it() {
    for (behaviour, why) in [
        (ServerBehaviour::Closes, FetchError::InvalidHttp),
        (ServerBehaviour::Hangs, FetchError::Timeout),
    ] {
        let (address, _) = server(behaviour).await;
        assert_eq!(post(&client(address), 0).await, Err(PostError::MaybeSent(why)));
    }
}

#[tokio::test]
async fn nothing_is_sent_to_a_server_that_cannot_be_reached() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let unreachable = post(&client(closed), 0).await;
    assert_eq!(unreachable, Err(PostError::NotSent(FetchError::Unreachable)));
    let unknown =
        Http2Client::new(FakeNetwork::default().network(), "https://unknown.test").unwrap();
    assert_eq!(post(&unknown, 0).await, Err(PostError::NotSent(FetchError::Unreachable)));
}

#[test]
fn only_web_urls_have_a_client() {
    for url in ["", "apple", "ftp://a.test", "https://user:secret@a.test"] {
        assert!(Http2Client::new(Network::system(), url).is_err(), "{url}");
    }
}
