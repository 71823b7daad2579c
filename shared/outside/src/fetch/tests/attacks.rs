//! Whoever chooses the URL does not choose what is connected to.

use std::sync::Arc;

use crate::fetch::{Forbidden, Limits, NotFetched};
use crate::testing::{Canary, PUBLIC, Stage, answering, moved, ok, site, soon};

const PRIVATE: NotFetched = NotFetched::Forbidden(Forbidden::Address);
const SCHEME: NotFetched = NotFetched::Forbidden(Forbidden::Scheme);

/// Names of the stage below and the addresses they have.
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

pub(super) fn stage() -> Stage {
    NAMES.iter().fold(Stage::default(), |stage, (name, found)| stage.name(name, found))
}

#[tokio::test]
async fn the_canary_hears_a_connection_that_is_made() {
    let (stage, canary) = (stage(), Canary::new());
    let address = format!("127.0.0.1:{}", canary.port());
    let _connected = stage.network().connect(address.parse().unwrap()).await.unwrap();
    assert_eq!((canary.heard(), stage.dialled()), (1, vec![address]));
}

#[tokio::test]
async fn a_name_with_any_address_that_is_not_public_is_refused() {
    let canary = Canary::new();
    for (name, _) in NAMES {
        for scheme in ["http", "https"] {
            let stage = stage();
            let url = format!("{scheme}://{name}:{}/", canary.port());
            let refused = soon(stage.fetcher().get(&url, Limits::default())).await;
            assert_eq!(refused, Err(PRIVATE), "{url}");
            assert_eq!(stage.asked(), [name], "{url}");
            assert!(stage.dialled().is_empty(), "{url}");
        }
    }
    assert_eq!(canary.heard(), 0);
}

/// Every way to write an address that leads to this machine or its network, and other schemes.
pub(super) const ADDRESSES: [(&str, NotFetched); 27] = [
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
    ("http://user:secret@127.0.0.1:PORT/", NotFetched::Forbidden(Forbidden::Credentials)),
];

#[tokio::test]
async fn no_spelling_of_a_private_address_is_connected_to() {
    let canary = Canary::new();
    for (url, why) in ADDRESSES {
        let stage = stage();
        let url = url.replace("PORT", &canary.port().to_string());
        assert_eq!(soon(stage.fetcher().get(&url, Limits::default())).await, Err(why), "{url}");
        assert!(stage.asked().is_empty() && stage.dialled().is_empty(), "{url}");
    }
    assert_eq!(canary.heard(), 0);
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
        let server = answering(move |_| moved(&location)).await;
        let stage =
            NAMES.iter().fold(site(server), |stage, (name, addresses)| stage.name(name, addresses));
        let refused = soon(stage.fetcher().get("http://site.test/", Limits::default())).await;
        assert_eq!(refused, Err(why), "{to}");
        assert_eq!(stage.dialled(), ["93.184.216.34:80"], "{to}");
    }
    assert_eq!(canary.heard(), 0);
}

#[tokio::test]
async fn a_redirect_that_starts_with_the_scheme_alone_stays_on_the_site() {
    let server = answering(|head| {
        let arrived = head.starts_with("GET /127.0.0.1");
        if arrived { ok("text/html", "still here") } else { moved("http:127.0.0.1") }
    })
    .await;
    let stage = site(server);
    let page = soon(stage.fetcher().get("http://site.test/", Limits::default())).await.unwrap();
    assert_eq!(page.url, "http://site.test/127.0.0.1");
    assert_eq!(stage.dialled(), ["93.184.216.34:80"; 2]);
}

#[tokio::test]
async fn a_resolver_that_changes_its_mind_is_not_asked_again() {
    let canary = Canary::new();
    let server = answering(|_| ok("text/html", "the public page")).await;
    let public = format!("{PUBLIC}:{}", canary.port());
    let stage = Stage::default()
        .name("rebinding.test", &[PUBLIC])
        .name("rebinding.test", &["127.0.0.1"])
        .route(&public, server);
    let url = format!("http://rebinding.test:{}/", canary.port());
    let page = soon(stage.fetcher().get(&url, Limits::default())).await.unwrap();
    assert_eq!(page.body, b"the public page");
    assert_eq!((stage.asked(), stage.dialled()), (vec!["rebinding.test".to_owned()], vec![public]));
    assert_eq!(canary.heard(), 0);
}

#[tokio::test]
async fn each_hop_is_resolved_and_judged_anew() {
    let canary = Canary::new();
    let server = answering(|_| moved("/again")).await;
    let public = format!("{PUBLIC}:{}", canary.port());
    let stage = Stage::default()
        .name("rebinding.test", &[PUBLIC])
        .name("rebinding.test", &["127.0.0.1"])
        .route(&public, server);
    let url = format!("http://rebinding.test:{}/", canary.port());
    let refused = soon(stage.fetcher().get(&url, Limits::default())).await;
    assert_eq!(refused, Err(PRIVATE));
    assert_eq!(stage.asked(), ["rebinding.test"; 2]);
    assert_eq!((stage.dialled(), canary.heard()), (vec![public], 0));
}

#[tokio::test]
async fn a_circle_of_redirects_is_left() {
    let server = answering(|_| moved("http://site.test/")).await;
    for hops in [0, 1, 3, 7] {
        let stage = site(server);
        let limits = Limits { hops, ..Limits::default() };
        let lost = soon(stage.fetcher().get("http://site.test/", limits)).await;
        assert_eq!(lost, Err(NotFetched::TooManyHops));
        assert_eq!(stage.asked().len(), usize::from(hops) + 1);
        assert_eq!(stage.dialled().len(), usize::from(hops) + 1);
    }
}

#[tokio::test]
async fn a_port_that_is_not_for_the_web_is_never_dialled() {
    for port in [22, 25, 5432, 6379, 9200, 11211, 27017] {
        let stage = Stage::default().name("site.test", &[PUBLIC]);
        let url = format!("http://site.test:{port}/");
        let refused = soon(stage.fetcher().get(&url, Limits::default())).await;
        assert_eq!(refused, Err(NotFetched::Forbidden(Forbidden::Port(port))));
        assert!(stage.asked().is_empty() && stage.dialled().is_empty());
    }
}

#[tokio::test]
async fn a_redirect_carries_no_cookie_and_no_word_of_where_it_came_from() {
    let heads = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&heads);
    let server = answering(move |head| {
        seen.lock().unwrap().push(head.to_ascii_lowercase());
        if head.starts_with("GET /next ") {
            return ok("text/html", "");
        }
        b"HTTP/1.1 302 Found\r\nset-cookie: a=b\r\nlocation: /next\r\n\r\n".to_vec()
    })
    .await;
    soon(site(server).fetcher().get("http://site.test/", Limits::default())).await.unwrap();
    let heads = heads.lock().unwrap();
    assert_eq!(heads.len(), 2);
    for head in heads.iter() {
        assert!(!["cookie", "referer", "authorization"].iter().any(|name| head.contains(name)));
    }
}
