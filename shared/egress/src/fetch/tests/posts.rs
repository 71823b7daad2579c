//! Posting is as careful as fetching, and says whether anything can have arrived.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::attacks::{ADDRESSES, NAMES, fake as hostile};
use super::tls::{acceptor, authority, certificate, fake};
use crate::fetch::{FetchError, FetchLimits, Fetcher, ForbiddenUrl, PostError, PostRequest};
use crate::testing::{Canary, FakeNetwork, PUBLIC, in_time, read_head, serve, short_limits};

const URL: &str = "https://secure.test/hook?a=b";

fn post() -> PostRequest {
    let headers = HeaderMap::from_iter([(
        HeaderName::from_static("webhook-id"),
        HeaderValue::from_static("n1"),
    )]);
    PostRequest { headers, body: Bytes::from_static(b"four") }
}

/// A server that answers with `answer` and hangs up, or never does if there is none; and what it
/// was sent.
async fn server(answer: Option<&'static str>) -> (Fetcher, FakeNetwork, Arc<Mutex<Vec<String>>>) {
    let authority = authority();
    let acceptor = acceptor(certificate("secure.test", Some(&authority)));
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&seen);
    let address: SocketAddr = serve(move |stream| {
        let (acceptor, log) = (acceptor.clone(), Arc::clone(&log));
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            let head = read_head(&mut stream).await;
            let mut body = [0; 4];
            stream.read_exact(&mut body).await.unwrap();
            log.lock().unwrap().push(format!("{head}{}", String::from_utf8_lossy(&body)));
            let Some(answer) = answer else { return std::future::pending().await };
            stream.write_all(answer.as_bytes()).await.unwrap();
            let _ended = stream.shutdown().await;
        }
    })
    .await;
    let fake = fake(address);
    let fetcher = Fetcher::new(fake.network().with_root_certificate(authority.der().to_vec()));
    (fetcher, fake, seen)
}

#[tokio::test]
async fn what_is_posted_arrives_and_what_is_answered_comes_back() {
    let answer = "HTTP/1.1 422 No\r\nretry-after: 7\r\ncontent-length: 9\r\n\r\nno thanks";
    let (fetcher, fake, seen) = server(Some(answer)).await;
    let limits = FetchLimits { bytes: 2, ..FetchLimits::default() };
    let answered = in_time(fetcher.post(URL, post(), limits)).await.unwrap();
    assert_eq!((answered.status, answered.body.as_slice()), (422, &b"no"[..]));
    assert_eq!(answered.headers["retry-after"], "7");
    let seen = seen.lock().unwrap();
    assert!(seen[0].starts_with("POST /hook?a=b HTTP/1.1\r\n"), "{}", seen[0]);
    assert!(seen[0].contains("\r\nwebhook-id: n1\r\n") && seen[0].ends_with("\r\n\r\nfour"));
    assert!(seen[0].contains("\r\nhost: secure.test\r\n"));
    assert_eq!(fake.connected(), ["93.184.216.34:443"]);
}

#[tokio::test]
async fn a_redirect_is_an_answer_like_any_other() {
    let answer = "HTTP/1.1 307 Moved\r\nlocation: https://127.0.0.1/\r\ncontent-length: 0\r\n\r\n";
    let (fetcher, fake, _) = server(Some(answer)).await;
    let answered = in_time(fetcher.post(URL, post(), FetchLimits::default())).await.unwrap();
    assert_eq!((answered.status, fake.connected().len()), (307, 1));
}

#[tokio::test]
async fn a_line_cut_after_the_request_leaves_it_open_whether_it_arrived() {
    for cut in ["", "HTTP/1.1 200", "\u{16}\u{3}nonsense\r\n\r\n"] {
        let (fetcher, _, seen) = server(Some(cut)).await;
        let posted = in_time(fetcher.post(URL, post(), FetchLimits::default())).await;
        assert_eq!(posted, Err(PostError::MaybeSent(FetchError::InvalidHttp)), "{cut}");
        assert_eq!(seen.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_time_out_after_the_request_leaves_it_open_whether_it_arrived() {
    let (fetcher, _, _) = server(None).await;
    let posted = in_time(fetcher.post(URL, post(), short_limits())).await;
    assert_eq!(posted, Err(PostError::MaybeSent(FetchError::Timeout)));
}

#[tokio::test]
async fn a_body_that_breaks_off_after_its_status_is_still_an_answer() {
    let (fetcher, _, _) = server(Some("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhal")).await;
    let answered = in_time(fetcher.post(URL, post(), FetchLimits::default())).await.unwrap();
    assert_eq!(answered.status, 200);
}

#[tokio::test]
async fn nothing_is_sent_to_who_cannot_be_reached_or_trusted() {
    let silent = serve(|stream| async move {
        let _held = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let plain = serve(|mut stream| async move {
        let _sent = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
    })
    .await;
    for (server, why) in [(silent, FetchError::Timeout), (plain, FetchError::Untrusted)] {
        let posted = in_time(fake(server).fetcher().post(URL, post(), short_limits())).await;
        assert_eq!(posted, Err(PostError::NotSent(why)));
    }
    let nowhere = FakeNetwork::default().fetcher();
    let posted = in_time(nowhere.post(URL, post(), short_limits())).await;
    assert_eq!(posted, Err(PostError::NotSent(FetchError::Unresolved)));
}

#[tokio::test]
async fn nothing_is_posted_to_what_would_not_be_fetched() {
    let canary = Canary::new();
    let names = NAMES.map(|(name, _)| format!("https://{name}:PORT/"));
    let addresses = ADDRESSES.map(|(url, _)| url.replacen("http:", "https:", 1));
    for url in names.into_iter().chain(addresses) {
        let fake = hostile();
        let url = url.replace("PORT", &canary.port().to_string());
        let refused = in_time(fake.fetcher().post(&url, post(), FetchLimits::default())).await;
        let forbidden = matches!(refused, Err(PostError::NotSent(FetchError::Forbidden(_))));
        assert!(forbidden && fake.connected().is_empty(), "{url}");
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn nothing_is_posted_in_the_clear() {
    let fake = FakeNetwork::default().name("site.test", &[PUBLIC]);
    let refused =
        in_time(fake.fetcher().post("http://site.test/", post(), FetchLimits::default())).await;
    let scheme = FetchError::Forbidden(ForbiddenUrl::Scheme);
    assert_eq!(refused, Err(PostError::NotSent(scheme)));
    assert!(fake.resolved().is_empty() && fake.connected().is_empty());
}

#[test]
fn neither_what_is_posted_nor_what_is_answered_is_shown() {
    let post = PostRequest { body: Bytes::from_static(b"secret"), ..post() };
    let shown = format!("{post:?}");
    assert!(!shown.contains("secret") && !shown.contains("n1"), "{shown}");
}
