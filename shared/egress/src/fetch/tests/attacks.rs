//! The user who chooses a URL cannot choose what is connected to.

use std::sync::Arc;

use crate::fetch::{FetchError, FetchLimits, ForbiddenUrl};
use crate::testing::{Canary, FakeNetwork, PUBLIC, http_server, in_time, ok, redirect_to, site};

const PRIVATE: FetchError = FetchError::Forbidden(ForbiddenUrl::Address);
const SCHEME: FetchError = FetchError::Forbidden(ForbiddenUrl::Scheme);

/// Names of the network below and the addresses they have.
pub(super) const NAMES: [(&str, &[&str]); 13] = [
    ("loopback.test", &["127.0.0.1"]),
    ("localhost", &["127.0.0.1"]),
    ("localhost.", &["127.0.0.1"]),
    ("loopback6.test", &["::1"]),
    ("private.test", &["10.0.0.7"]),
    ("metadata.test", &["169.254.169.254"]),
    ("metadata6.test", &["fd00:ec2::254"]),
    ("mapped.test", &["::ffff:127.0.0.1"]),
    ("translated.test", &["64:ff9b::7f00:1"]),
    ("unspecified.test", &["0.0.0.0"]),
    ("public-then-private.test", &[PUBLIC, "127.0.0.1"]),
    ("private-then-public.test", &["127.0.0.1", PUBLIC]),
    ("both-families.test", &[PUBLIC, "::1"]),
];

pub(super) fn fake() -> FakeNetwork {
    NAMES.iter().fold(FakeNetwork::default(), |fake, (name, found)| fake.name(name, found))
}

#[tokio::test]
async fn the_canary_hears_a_connection_that_is_made() {
    let (fake, canary) = (fake(), Canary::new());
    let address = format!("127.0.0.1:{}", canary.port());
    let _connected = fake.network().connect(address.parse().unwrap()).await.unwrap();
    assert_eq!((canary.connections(), fake.connected()), (1, vec![address]));
}

#[tokio::test]
async fn a_name_with_any_address_that_is_not_public_is_refused() {
    let canary = Canary::new();
    for (name, _) in NAMES {
        for scheme in ["http", "https"] {
            let fake = fake();
            let url = format!("{scheme}://{name}:{}/", canary.port());
            let refused = in_time(fake.fetcher().get(&url, FetchLimits::default())).await;
            assert_eq!(refused, Err(PRIVATE), "{url}");
            assert_eq!(fake.resolved(), [name], "{url}");
            assert!(fake.connected().is_empty(), "{url}");
        }
    }
    assert_eq!(canary.connections(), 0);
}

/// Every way to write an address that leads to this machine or its network, and other schemes.
pub(super) const ADDRESSES: [(&str, FetchError); 27] = [
    ("http://127.0.0.1:PORT/", PRIVATE),
    ("http://127.1:PORT/", PRIVATE),
    ("http://2130706433:PORT/", PRIVATE),
    ("http://0x7f000001:PORT/", PRIVATE),
    ("http://0x7f.0.0.1:PORT/", PRIVATE),
    ("http://0177.0.0.1:PORT/", PRIVATE),
    ("http://127.0.0.1.:PORT/", PRIVATE),
    ("http://１２７.０.０.１:PORT/", PRIVATE),
    ("http://127。0。0。1:PORT/", PRIVATE),
    ("http://%31%32%37.0.0.1:PORT/", PRIVATE),
    ("http://0:PORT/", PRIVATE),
    ("http://0.0.0.0:PORT/", PRIVATE),
    ("http://[::1]:PORT/", PRIVATE),
    ("http://[::]:PORT/", PRIVATE),
    ("http://[::ffff:7f00:1]:PORT/", PRIVATE),
    ("http://[::ffff:127.0.0.1]:PORT/", PRIVATE),
    ("http://[64:ff9b::127.0.0.1]:PORT/", PRIVATE),
    ("http://[2002:7f00:1::]:PORT/", PRIVATE),
    ("http://169.254.169.254/latest/meta-data/", PRIVATE),
    ("http:\\\\127.0.0.1:PORT\\", PRIVATE),
    ("http:127.0.0.1:PORT", PRIVATE),
    ("https://127.0.0.1:PORT/", PRIVATE),
    ("file:///etc/passwd", SCHEME),
    ("gopher://127.0.0.1:PORT/_INFO", SCHEME),
    ("ftp://127.0.0.1:PORT/", SCHEME),
    ("data:text/html,hello", SCHEME),
    ("http://user:secret@127.0.0.1:PORT/", FetchError::Forbidden(ForbiddenUrl::Credentials)),
];

#[tokio::test]
async fn no_spelling_of_a_private_address_is_connected_to() {
    let canary = Canary::new();
    for (url, why) in ADDRESSES {
        let fake = fake();
        let url = url.replace("PORT", &canary.port().to_string());
        assert_eq!(
            in_time(fake.fetcher().get(&url, FetchLimits::default())).await,
            Err(why),
            "{url}"
        );
        assert!(fake.resolved().is_empty() && fake.connected().is_empty(), "{url}");
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn no_redirect_leads_to_what_would_be_refused() {
    let canary = Canary::new();
    let names = NAMES.map(|(name, _)| (format!("http://{name}:PORT/"), PRIVATE));
    let relative = [("//127.0.0.1:PORT/", PRIVATE), ("\\\\127.0.0.1:PORT\\", PRIVATE)];
    let fixed = ADDRESSES.into_iter().chain(relative).map(|(to, why)| (to.to_owned(), why));
    // A URL without slashes is relative to one of its own scheme, and so stays on the site.
    let elsewhere = fixed.filter(|(to, _)| to != "http:127.0.0.1:PORT");
    for (to, why) in elsewhere.chain(names) {
        let to = to.replace("PORT", &canary.port().to_string());
        let location = to.clone();
        let server = http_server(move |_| redirect_to(&location)).await;
        let fake =
            NAMES.iter().fold(site(server), |fake, (name, addresses)| fake.name(name, addresses));
        let refused =
            in_time(fake.fetcher().get("http://site.test/", FetchLimits::default())).await;
        assert_eq!(refused, Err(why), "{to}");
        assert_eq!(fake.connected(), ["93.184.216.34:80"], "{to}");
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn a_redirect_that_starts_with_the_scheme_alone_stays_on_the_site() {
    let server = http_server(|head| {
        let arrived = head.starts_with("GET /127.0.0.1");
        if arrived { ok("text/html", "still here") } else { redirect_to("http:127.0.0.1") }
    })
    .await;
    let fake = site(server);
    let page =
        in_time(fake.fetcher().get("http://site.test/", FetchLimits::default())).await.unwrap();
    assert_eq!(page.url, "http://site.test/127.0.0.1");
    assert_eq!(fake.connected(), ["93.184.216.34:80"; 2]);
}

#[tokio::test]
async fn a_resolver_that_changes_its_mind_is_not_asked_again() {
    let canary = Canary::new();
    let server = http_server(|_| ok("text/html", "the public page")).await;
    let public = format!("{PUBLIC}:{}", canary.port());
    let fake = FakeNetwork::default()
        .name("rebinding.test", &[PUBLIC])
        .name("rebinding.test", &["127.0.0.1"])
        .route(&public, server);
    let url = format!("http://rebinding.test:{}/", canary.port());
    let page = in_time(fake.fetcher().get(&url, FetchLimits::default())).await.unwrap();
    assert_eq!(page.body, b"the public page");
    assert_eq!(
        (fake.resolved(), fake.connected()),
        (vec!["rebinding.test".to_owned()], vec![public])
    );
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn each_hop_is_resolved_and_judged_anew() {
    let canary = Canary::new();
    let server = http_server(|_| redirect_to("/again")).await;
    let public = format!("{PUBLIC}:{}", canary.port());
    let fake = FakeNetwork::default()
        .name("rebinding.test", &[PUBLIC])
        .name("rebinding.test", &["127.0.0.1"])
        .route(&public, server);
    let url = format!("http://rebinding.test:{}/", canary.port());
    let refused = in_time(fake.fetcher().get(&url, FetchLimits::default())).await;
    assert_eq!(refused, Err(PRIVATE));
    assert_eq!(fake.resolved(), ["rebinding.test"; 2]);
    assert_eq!((fake.connected(), canary.connections()), (vec![public], 0));
}

#[tokio::test]
async fn a_circle_of_redirects_is_left() {
    let server = http_server(|_| redirect_to("http://site.test/")).await;
    for redirects in [0, 1, 3, 7] {
        let fake = site(server);
        let limits = FetchLimits { redirects, ..FetchLimits::default() };
        let lost = in_time(fake.fetcher().get("http://site.test/", limits)).await;
        assert_eq!(lost, Err(FetchError::TooManyRedirects));
        assert_eq!(fake.resolved().len(), usize::from(redirects) + 1);
        assert_eq!(fake.connected().len(), usize::from(redirects) + 1);
    }
}

#[tokio::test]
async fn a_port_that_is_not_for_the_web_is_never_dialled() {
    for port in [22, 25, 5432, 6379, 9200, 11211, 27017] {
        let fake = FakeNetwork::default().name("site.test", &[PUBLIC]);
        let url = format!("http://site.test:{port}/");
        let refused = in_time(fake.fetcher().get(&url, FetchLimits::default())).await;
        assert_eq!(refused, Err(FetchError::Forbidden(ForbiddenUrl::Port(port))));
        assert!(fake.resolved().is_empty() && fake.connected().is_empty());
    }
}

#[tokio::test]
async fn a_redirect_carries_no_cookie_and_no_word_of_where_it_came_from() {
    let heads = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&heads);
    let server = http_server(move |head| {
        seen.lock().unwrap().push(head.to_ascii_lowercase());
        if head.starts_with("GET /next ") {
            return ok("text/html", "");
        }
        b"HTTP/1.1 302 Found\r\nset-cookie: a=b\r\nlocation: /next\r\n\r\n".to_vec()
    })
    .await;
    in_time(site(server).fetcher().get("http://site.test/", FetchLimits::default())).await.unwrap();
    let heads = heads.lock().unwrap();
    assert_eq!(heads.len(), 2);
    for head in heads.iter() {
        assert!(!["cookie", "referer", "authorization"].iter().any(|name| head.contains(name)));
    }
}
