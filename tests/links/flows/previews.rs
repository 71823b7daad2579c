//! What the sweep learns of a destination, from a real socket; so time is not paused here.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use egress::Network;
use http::Method;
use local::network;
use tests::{Lab, Setup};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{code, get, patch, plain, redirect_of, to};

const PAGE: &str = "<!doctype html><title>Plain</title>\
                    <meta property=\"og:title\" content=\"A &lt;b&gt; title\">\
                    <meta property=\"og:description\" content=\"What it is about\">\
                    <meta property=\"og:image\" content=\"https://site.example/picture.png\">";

/// A web server for `site.example`, which a public address leads to; it counts who asks.
async fn site() -> (Network, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = listener.local_addr().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::Relaxed);
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\nconnection: close";
            let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{PAGE}", PAGE.len());
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    let public: SocketAddr = "93.184.216.34:80".parse().unwrap();
    let network = network::offline()
        .with_resolver(move |_| Box::pin(async move { Ok(vec![public.ip()]) }))
        .with_connect(move |address| {
            Box::pin(async move {
                assert_eq!(address, public);
                TcpStream::connect(server).await
            })
        });
    (network, asked)
}

#[tokio::test]
async fn a_destination_is_asked_once_for_its_card_and_again_when_it_moves() {
    let (network, asked) = site().await;
    let lab = Lab::with(Setup { network, ..Setup::default() });
    let ada = lab.user("ada", &["member"]).await;
    let link = code(&lab, &ada, &plain("http://site.example/page")).await;
    for _ in 0..3 {
        lab.sweep().await;
        lab.advance_seconds(60);
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    let one = format!("/api/v1/url/{link}");
    let seen = get(&lab, &one, &ada).await;
    assert_eq!(seen.text("title"), "A <b> title");
    let crawler = "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)";
    let card =
        lab.call(Method::GET, &format!("/{link}")).header("user-agent", crawler).send().await;
    let card = String::from_utf8(card.bytes.to_vec()).unwrap();
    for part in ["A &lt;b&gt; title", "What it is about", "https://site.example/picture.png"] {
        assert!(card.contains(part), "{part} in {card}");
    }
    assert_eq!(redirect_of(&lab, &link).await, to("http://site.example/page"));

    let version = seen.body["version"].as_u64().unwrap();
    let moved = patch(&lab, &one, &ada, version, &plain("http://site.example/other")).await;
    assert!(moved.body.get("title").is_none(), "the title was another page's");
    lab.sweep().await;
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    lab.advance_seconds(31 * 24 * 3600);
    lab.sweep().await;
    assert_eq!(asked.load(Ordering::Relaxed), 3, "monthly");
}

#[tokio::test]
async fn no_destination_is_fetched_where_previews_are_off() {
    let (network, asked) = site().await;
    let setup = Setup { network, ..Setup::default() };
    let lab = Lab::with_parameters(setup, &[("FetchPreviews", "false")]);
    code(&lab, "", &plain("http://site.example/page")).await;
    lab.sweep().await;
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}
