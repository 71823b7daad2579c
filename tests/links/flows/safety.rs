//! Where a link may not lead: every vector of the domain's table, sent by a caller, with a canary on
//! the loopback that must not be connected to.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use domain::links::public_ip::is_public;
use egress::Network;
use http::Method;
use local::network;
use serde_json::json;
use tests::{Lab, Response, Setup, root};
use tokio::net::TcpStream;

use super::{SHORTEN, assert_names, plain, rows};

/// Listens on the loopback and hopes to hear nothing.
struct Canary {
    listener: TcpListener,
    dialled: Arc<Mutex<Vec<SocketAddr>>>,
}

impl Canary {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Self { listener, dialled: Arc::default() }
    }

    /// A network in which every name is this machine's, and everything private leads to the canary.
    fn network(&self) -> Network {
        let (here, dialled) = (self.listener.local_addr().unwrap(), Arc::clone(&self.dialled));
        network::offline()
            .with_resolver(|_| Box::pin(async { Ok(vec![Ipv4Addr::LOCALHOST.into()]) }))
            .with_connect(move |address| {
                dialled.lock().unwrap().push(address);
                Box::pin(async move {
                    if is_public(address.ip()) {
                        Err(ErrorKind::NetworkUnreachable.into())
                    } else {
                        TcpStream::connect(here).await
                    }
                })
            })
    }

    fn assert_silent(&self) {
        let dialled = self.dialled.lock().unwrap();
        let private: Vec<_> = dialled.iter().filter(|address| !is_public(address.ip())).collect();
        assert!(private.is_empty(), "{private:?}");
        let heard = self.listener.accept().map(|(_, from)| from);
        assert_eq!(heard.unwrap_err().kind(), ErrorKind::WouldBlock);
    }
}

/// `(verdict, reason or URL, text)` of each vector.
fn vectors() -> Vec<(String, String, String)> {
    let file = root().join("shared/domain/src/links/target/vectors.txt");
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let mut parts = line.splitn(3, '|').map(str::to_owned);
            let (verdict, expected) = (parts.next().unwrap(), parts.next().unwrap());
            let text = serde_json::from_str(&format!("\"{}\"", parts.next().unwrap())).unwrap();
            (verdict, expected, text)
        })
        .collect()
}

async fn shorten(lab: &Lab, key: &str, url: &str) -> Response {
    let call = lab.call(Method::POST, SHORTEN).by(key).header("host", "sho.rt");
    call.json(&plain(url)).send().await
}

#[tokio::test(start_paused = true)]
async fn no_vector_gets_in_that_should_not_and_the_rest_lead_where_the_table_says() {
    let canary = Canary::new();
    let setup = Setup { network: canary.network(), ..Setup::default() };
    let hosts = [("PublicHosts", "sho.rt,go.sho.rt"), ("FetchPreviews", "true")];
    let lab = Lab::with_parameters(setup, &hosts);
    let ada = lab.user("ada", &["member"]).await;
    let all = vectors();
    assert!(all.len() >= 200, "{} vectors", all.len());
    let (safe, refused): (Vec<_>, Vec<_>) = all.iter().partition(|(verdict, ..)| verdict == "safe");
    assert!(refused.len() >= 200 && safe.len() >= 50, "{} and {}", refused.len(), safe.len());
    for (_, reason, text) in &refused {
        let answer = shorten(&lab, &ada, text).await;
        assert_names(&answer, "longUrl", &json!([reason, text]));
    }
    assert_eq!((rows(&lab, "link#").await, rows(&lab, "same#").await), (0, 0));
    for (_, expected, text) in &safe {
        let made = shorten(&lab, &ada, text).await;
        assert!(made.status == 201 || made.status == 200, "{text:?}: {}", made.body);
        assert_eq!(made.text("longUrl"), expected, "{text:?}");
        let path = format!("/{}", made.text("shortCode"));
        let visitor = lab.call(Method::GET, &path).header("host", "sho.rt").send().await;
        let led = (visitor.status.as_u16(), visitor.header("location"));
        assert_eq!(led, (302, expected.as_str()), "{text:?}");
    }
    canary.assert_silent();
    lab.sweep().await;
    assert!(!canary.dialled.lock().unwrap().is_empty(), "nothing was looked at");
    canary.assert_silent();
}

#[tokio::test(start_paused = true)]
async fn every_other_way_in_is_as_closed() {
    let canary = Canary::new();
    let lab = Lab::with(Setup { network: canary.network(), ..Setup::default() });
    let ada = lab.user("ada", &["member"]).await;
    let made = shorten(&lab, &ada, "https://example.org/").await;
    let one = format!("/api/v1/url/{}", made.text("shortCode"));
    let refused = vectors().into_iter().filter(|(verdict, ..)| verdict == "refused");
    // Own hosts are another's here, and files of links hold no line breaks or quotes.
    let private: Vec<String> = refused
        .filter(|(_, reason, text)| reason == "internal" && text.chars().all(|c| c > ' '))
        .map(|(.., text)| text)
        .filter(|text| !text.contains(['"', ',', '|', '\'']))
        .collect();
    assert!(private.len() >= 60, "{}", private.len());
    for url in &private {
        let change = super::patch(&lab, &one, &ada, 1, &plain(url)).await;
        assert_names(&change, "longUrl", &json!(url));
    }
    let urls: Vec<_> = private.iter().map(|url| plain(url)).collect();
    let bulk = super::post(&lab, "/api/v1/bulk/shorten", &ada, &json!({ "urls": urls })).await;
    assert_eq!(bulk.body["failed"], private.len());
    let call = lab.call(Method::POST, "/api/v1/import?from=csv").by(&ada);
    let import = call.bytes(format!("url\n{}\n", private.join("\n"))).send().await;
    assert_eq!(
        (&import.body["created"], &import.body["failed"]),
        (&json!(0), &json!(private.len()))
    );
    assert_eq!(rows(&lab, "link#").await, 1);
    lab.sweep().await;
    canary.assert_silent();
}
