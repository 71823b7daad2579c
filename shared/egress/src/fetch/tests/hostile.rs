//! Servers that mean harm waste no more than the limits give them.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::fetch::{FetchError, FetchLimits, FetchedPage, Fetcher};
use crate::testing::{
    FakeNetwork, http_server, in_time, read_head, redirect_to, serve, short_limits, site,
};
use crate::{Network, NetworkError};

async fn fetched(server: SocketAddr, limits: FetchLimits) -> Result<FetchedPage, FetchError> {
    in_time(site(server).fetcher().get("http://site.test/", limits)).await
}

/// Sends `opening`, then `drop` every few milliseconds for as long as the client reads.
async fn drip(mut stream: TcpStream, opening: &'static [u8], drop: &'static [u8]) {
    read_head(&mut stream).await;
    let mut listening = stream.write_all(opening).await.is_ok();
    while listening {
        tokio::time::sleep(Duration::from_millis(20)).await;
        listening = stream.write_all(drop).await.is_ok();
    }
}

#[tokio::test]
async fn a_server_that_dawdles_is_left_when_the_time_is_up() {
    let cases: [(&'static [u8], &'static [u8]); 5] = [
        (b"HTTP/1.1 200 OK\r\nx: ", b"y"),
        (b"HTTP/1.1 200 OK\r\n", b"x: y\r\n"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ];
    for (opening, drop) in cases {
        let server = serve(move |stream| drip(stream, opening, drop)).await;
        assert_eq!(fetched(server, short_limits()).await, Err(FetchError::Timeout), "{drop:?}");
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_is_left_when_the_time_is_up() {
    let server = serve(|stream| async move {
        tokio::time::sleep(Duration::from_mins(1)).await;
        drop(stream);
    })
    .await;
    assert_eq!(fetched(server, short_limits()).await, Err(FetchError::Timeout));
    let fake = site(server).route("93.184.216.34:443", server);
    let silent_tls = in_time(fake.fetcher().get("https://site.test/", short_limits())).await;
    assert_eq!(silent_tls, Err(FetchError::Timeout));
}

#[tokio::test]
async fn the_time_counts_for_all_hops_together() {
    let server = serve(|mut stream| async move {
        read_head(&mut stream).await;
        tokio::time::sleep(Duration::from_millis(150)).await;
        let _sent = stream.write_all(&redirect_to("/on")).await;
    })
    .await;
    let limits = FetchLimits { redirects: u8::MAX, ..short_limits() };
    assert_eq!(fetched(server, limits).await, Err(FetchError::Timeout));
}

#[tokio::test]
async fn an_endless_body_is_cut_and_its_sender_hung_up_on() {
    for framing in ["\r\n", "transfer-encoding: chunked\r\n\r\n"] {
        let (hung_up, mut heard) = mpsc::unbounded_channel();
        let server = serve(move |mut stream| {
            let hung_up = hung_up.clone();
            async move {
                read_head(&mut stream).await;
                let opening = format!("HTTP/1.1 200 OK\r\n{framing}");
                let mut listening = stream.write_all(opening.as_bytes()).await.is_ok();
                let chunk = [b"1000\r\n".as_slice(), &[b'x'; 0x1000], b"\r\n"].concat();
                while listening {
                    listening = stream.write_all(&chunk).await.is_ok();
                }
                hung_up.send(()).unwrap();
            }
        })
        .await;
        let page = fetched(server, FetchLimits::default()).await.unwrap();
        assert_eq!(page.body.len(), 256 * 1024);
        in_time(heard.recv()).await.expect("the sender should have noticed");
    }
}

#[tokio::test]
async fn what_is_not_proper_http_is_not_a_page() {
    let head = "HTTP/1.1 200 OK\r\n";
    let cases: [(&str, String); 12] = [
        ("one long header", format!("{head}x: {}\r\n\r\n", "y".repeat(1 << 20))),
        ("many headers", format!("{head}{}\r\n", "x: y\r\n".repeat(10_000))),
        ("a long reason", format!("HTTP/1.1 200 {}\r\n\r\n", "y".repeat(1 << 20))),
        ("a body that breaks off", format!("{head}content-length: 100\r\n\r\nshort")),
        ("two lengths", format!("{head}content-length: 1\r\ncontent-length: 2\r\n\r\nab")),
        ("a negative length", format!("{head}content-length: -1\r\n\r\nab")),
        ("a bad chunk", format!("{head}transfer-encoding: chunked\r\n\r\nzz\r\nab\r\n")),
        (
            "a chunk of 2^64",
            format!("{head}transfer-encoding: chunked\r\n\r\n{}0\r\n", "f".repeat(16)),
        ),
        ("another protocol", "SSH-2.0-OpenSSH_9.6\r\n".to_owned()),
        ("garbage", "\0\u{1}\u{2}\u{3}".repeat(100)),
        ("HTTP/0.9", "<title>hello</title>".to_owned()),
        ("nothing", String::new()),
    ];
    for (what, answer) in cases {
        let server = http_server(move |_| answer.clone().into_bytes()).await;
        let answer = fetched(server, FetchLimits::default()).await;
        assert_eq!(answer, Err(FetchError::InvalidHttp), "{what}");
    }
}

#[tokio::test]
async fn a_redirect_to_nonsense_goes_nowhere() {
    for location in ["http://", "http://[::1", "https://a b/", "http://site.test:99999/"] {
        let server = http_server(move |_| redirect_to(location)).await;
        let answer = fetched(server, FetchLimits::default()).await;
        assert!(matches!(answer, Err(FetchError::Forbidden(_))), "{location}: {answer:?}");
    }
}

#[tokio::test]
async fn a_resolver_or_a_route_that_never_answers_costs_no_more_than_the_time() {
    let stuck = Network::system().with_resolver(|_| Box::pin(std::future::pending()));
    let answer = in_time(Fetcher::new(stuck).get("http://site.test/", short_limits())).await;
    assert_eq!(answer, Err(FetchError::Timeout));

    let fake = FakeNetwork::default().name("site.test", &["1.1.1.1"]);
    let swallowed = fake.network().with_connect(|_| Box::pin(std::future::pending()));
    let fetcher = Fetcher::new(swallowed);
    assert_eq!(
        in_time(fetcher.get("http://site.test/", short_limits())).await,
        Err(FetchError::Timeout)
    );
    let patient = in_time(fetcher.get("http://site.test/", FetchLimits::default())).await;
    assert_eq!(patient, Err(FetchError::Unreachable));
}

#[tokio::test]
async fn trouble_with_the_resolver_is_not_trouble_with_the_host() {
    let broken = Network::system()
        .with_resolver(|_| Box::pin(async { Err(NetworkError::new("resolve a name", "refused")) }));
    let answer = in_time(Fetcher::new(broken).get("http://site.test/", short_limits())).await;
    assert_eq!(answer, Err(FetchError::Unresolved));
}
