//! What a fetch brings back, and what it says of itself.

use std::sync::{Arc, Mutex};

use crate::fetch::{FetchError, FetchLimits};
use crate::testing::{FakeNetwork, PUBLIC, http_server, in_time, ok, redirect_to, site};

#[tokio::test]
async fn a_page_comes_back_with_where_it_was_found() {
    let server = http_server(|head| match head.lines().next() {
        Some("GET /start HTTP/1.1") => redirect_to("/middle?x=1"),
        Some("GET /middle?x=1 HTTP/1.1") => redirect_to("http://other.test:8080/end"),
        _ => ok("text/html; charset=utf-8", "<title>Hello</title>"),
    })
    .await;
    let fake = site(server).name("other.test", &["1.1.1.1"]).route("1.1.1.1:8080", server);
    let url = "http://SITE.test/start#part";
    let page = in_time(fake.fetcher().get(url, FetchLimits::default())).await.unwrap();
    assert_eq!(page.url, "http://other.test:8080/end");
    assert_eq!(page.status, 200);
    assert_eq!(page.content_type.as_deref(), Some("text/html; charset=utf-8"));
    assert_eq!(page.body, b"<title>Hello</title>");
    assert_eq!(fake.resolved(), ["site.test", "site.test", "other.test"]);
    assert_eq!(fake.connected(), ["93.184.216.34:80", "93.184.216.34:80", "1.1.1.1:8080"]);
}

#[tokio::test]
async fn a_request_says_exactly_this() {
    let heads = Arc::new(Mutex::new(String::new()));
    let seen = Arc::clone(&heads);
    let server = http_server(move |head| {
        head.clone_into(&mut seen.lock().unwrap());
        ok("text/html", "")
    })
    .await;
    let fake = site(server).route("93.184.216.34:8080", server);
    let lines = "user-agent: Switchyard-Preview/1.0\r\naccept: text/html\r\n\
                 accept-encoding: identity\r\nconnection: close\r\n\r\n";
    for (url, first) in [
        ("http://site.test", "GET / HTTP/1.1\r\nhost: site.test\r\n"),
        ("http://site.test:80/a?b=c#d", "GET /a?b=c HTTP/1.1\r\nhost: site.test\r\n"),
        ("http://site.test:8080/é |", "GET /%C3%A9%20| HTTP/1.1\r\nhost: site.test:8080\r\n"),
        ("http://site.test/?", "GET /? HTTP/1.1\r\nhost: site.test\r\n"),
        ("http://93.184.216.34/", "GET / HTTP/1.1\r\nhost: 93.184.216.34\r\n"),
        ("http://site.test/\r\nx: y", "GET /x:%20y HTTP/1.1\r\nhost: site.test\r\n"),
    ] {
        in_time(fake.fetcher().get(url, FetchLimits::default())).await.unwrap();
        assert_eq!(*heads.lock().unwrap(), format!("{first}{lines}"), "{url}");
    }
}

#[tokio::test]
async fn only_success_is_a_page() {
    for (status, expected) in [
        (200, None),
        (206, None),
        (300, Some(FetchError::Status(300))),
        (302, Some(FetchError::Status(302))),
        (304, Some(FetchError::Status(304))),
        (404, Some(FetchError::Status(404))),
        (500, Some(FetchError::Status(500))),
    ] {
        let server = http_server(move |_| {
            format!("HTTP/1.1 {status} So\r\ncontent-length: 0\r\n\r\n").into_bytes()
        })
        .await;
        let answer =
            in_time(site(server).fetcher().get("http://site.test/", FetchLimits::default())).await;
        assert_eq!(answer.err(), expected, "{status}");
    }
}

#[tokio::test]
async fn a_body_is_kept_up_to_the_limit_and_no_further() {
    for (framing, length, bytes, kept) in [
        ("content-length: 1000\r\n\r\n", 1000, 1000, 1000),
        ("content-length: 1000\r\n\r\n", 1000, 999, 999),
        ("content-length: 1000\r\n\r\n", 1000, 0, 0),
        ("content-length: 1000\r\n\r\n", 1000, 5000, 1000),
        ("\r\n", 200_000, 100_001, 100_001),
        ("content-length: 99999999999\r\n\r\n", 3000, 2000, 2000),
        // What follows the length that was announced is not the body.
        ("content-length: 4\r\n\r\n", 1000, 5000, 4),
    ] {
        let server = http_server(move |_| {
            let mut answer = format!("HTTP/1.1 200 OK\r\n{framing}").into_bytes();
            answer.resize(answer.len() + length, b'x');
            answer
        })
        .await;
        let limits = FetchLimits { bytes, ..FetchLimits::default() };
        let page = in_time(site(server).fetcher().get("http://site.test/", limits)).await.unwrap();
        assert_eq!(page.body, vec![b'x'; kept], "{framing:?} {bytes}");
    }
}

#[tokio::test]
async fn a_chunked_body_is_put_together() {
    let server = http_server(|_| {
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
            .to_vec()
    })
    .await;
    let page =
        in_time(site(server).fetcher().get("http://site.test/", FetchLimits::default())).await;
    assert_eq!(page.unwrap().body, b"abcde");
}

#[tokio::test]
async fn a_host_is_found_at_whichever_of_its_addresses_answers() {
    let server = http_server(|_| ok("text/html", "here")).await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let fake = FakeNetwork::default()
        .name("site.test", &["2606:4700::1111", "1.1.1.1", PUBLIC])
        .route("[2606:4700::1111]:80", closed)
        .route("1.1.1.1:80", closed)
        .route("93.184.216.34:80", server);
    let page =
        in_time(fake.fetcher().get("http://site.test/", FetchLimits::default())).await.unwrap();
    assert_eq!(page.body, b"here");
    assert_eq!(fake.resolved(), ["site.test"]);
    assert_eq!(fake.connected(), ["[2606:4700::1111]:80", "1.1.1.1:80", "93.184.216.34:80"]);
}

#[tokio::test]
async fn a_name_without_an_address_is_unresolved() {
    let fake = FakeNetwork::default().name("empty.test", &[]);
    for url in ["http://empty.test/", "https://unheard-of.test/"] {
        let answer = in_time(fake.fetcher().get(url, FetchLimits::default())).await;
        assert_eq!(answer, Err(FetchError::Unresolved), "{url}");
    }
    assert!(fake.connected().is_empty());
}
