//! Kept connections: used again, but not when they may be dead.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::*;
use crate::testing::{Stage, serve, soon};

/// How a server treats a request.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    Answers,
    HangsUpAfterwards,
    Cuts,
    Hangs,
}

/// A server without TLS, and how many connected to it.
async fn server(manner: Manner) -> (SocketAddr, Arc<AtomicUsize>) {
    let connected = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&connected);
    let address = serve(move |stream| {
        counter.fetch_add(1, Ordering::SeqCst);
        async move {
            let mut connection = h2::server::handshake(stream).await.unwrap();
            let mut held = Vec::new();
            while let Some(Ok((request, mut respond))) = connection.accept().await {
                match manner {
                    Manner::Cuts => return,
                    Manner::Hangs => {
                        held.push(respond);
                        continue;
                    }
                    Manner::Answers | Manner::HangsUpAfterwards => {}
                }
                let answer = http::Response::builder()
                    .status(200)
                    .header("path", request.uri().path())
                    .body(())
                    .unwrap();
                let mut body = respond.send_response(answer, false).unwrap();
                body.send_data(Bytes::from(vec![b'x'; 100]), true).unwrap();
                if manner == Manner::HangsUpAfterwards {
                    connection.graceful_shutdown();
                }
            }
        }
    })
    .await;
    (address, connected)
}

fn lines(address: SocketAddr) -> Lines {
    Lines::new(Stage::default().network(), &format!("http://{address}")).unwrap()
}

fn limits() -> Limits {
    Limits { bytes: 10, hops: 0, total: Duration::from_millis(500) }
}

async fn ask(lines: &Lines, now: i64) -> Result<Answered, NotPosted> {
    let post = Post { body: Bytes::from_static(b"hello"), ..Post::default() };
    let now = Timestamp::from_second(now).unwrap();
    soon(lines.post("/there", post, limits(), now)).await
}

#[tokio::test]
async fn one_connection_serves_one_request_after_another() {
    let (address, connected) = server(Manner::Answers).await;
    let lines = lines(address);
    for _ in 0..3 {
        let answer = ask(&lines, 0).await.unwrap();
        assert_eq!((answer.status, answer.body.len()), (200, 10));
        assert_eq!(answer.headers["path"], "/there");
    }
    assert_eq!(connected.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn requests_at_once_have_a_connection_each() {
    let (address, connected) = server(Manner::Answers).await;
    let lines = lines(address);
    let answers = tokio::join!(ask(&lines, 0), ask(&lines, 0), ask(&lines, 0));
    assert!(answers.0.is_ok() && answers.1.is_ok() && answers.2.is_ok());
    assert_eq!(connected.load(Ordering::SeqCst), 3);
    ask(&lines, 1).await.unwrap();
    assert_eq!(connected.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_connection_idle_for_a_minute_is_not_used_again() {
    let (address, connected) = server(Manner::Answers).await;
    let lines = lines(address);
    for (now, connections) in [(0, 1), (59, 1), (119, 2), (100, 3)] {
        ask(&lines, now).await.unwrap();
        assert_eq!(connected.load(Ordering::SeqCst), connections, "at {now}");
    }
}

#[tokio::test]
async fn a_connection_that_was_closed_meanwhile_is_not_used_again() {
    let (address, connected) = server(Manner::HangsUpAfterwards).await;
    let lines = lines(address);
    for connections in 1..=3 {
        ask(&lines, 0).await.unwrap();
        // Nothing of ours listens meanwhile.
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(connected.load(Ordering::SeqCst), connections);
    }
}

#[tokio::test]
async fn a_line_cut_or_silent_after_the_request_leaves_it_open_whether_it_arrived() {
    for (manner, why) in [(Manner::Cuts, NotFetched::NotHttp), (Manner::Hangs, NotFetched::Timeout)]
    {
        let (address, _) = server(manner).await;
        assert_eq!(ask(&lines(address), 0).await, Err(NotPosted::Unanswered(why)));
    }
}

#[tokio::test]
async fn nothing_is_sent_to_who_cannot_be_reached_or_speaks_something_else() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let unreachable = ask(&lines(closed), 0).await;
    assert_eq!(unreachable, Err(NotPosted::Unsent(NotFetched::Unreachable)));
    let unknown = Lines::new(Stage::default().network(), "https://nobody.test").unwrap();
    assert_eq!(ask(&unknown, 0).await, Err(NotPosted::Unsent(NotFetched::Unreachable)));
}

#[test]
fn only_urls_of_the_web_have_lines() {
    for url in ["", "apple", "ftp://a.test", "https://user:secret@a.test"] {
        assert!(Lines::new(Network::system(), url).is_err(), "{url}");
    }
}
