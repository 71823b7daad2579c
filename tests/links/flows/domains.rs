//! Custom domains: claimed by any user, owned by the first to prove them, with a namespace of links.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use egress::Network;
use http::Method;
use local::network;
use serde_json::{Value, json};
use tests::{Lab, Response, Setup};

use super::{
    SHORTEN, assert_names, assert_problem, code, codes, delete, get, plain, post, shorten,
    wait_out_cache,
};

const DOMAINS: &str = "/api/v1/domains";

/// TXT records that a test publishes as it goes.
#[derive(Clone, Default)]
pub(super) struct Zone(Arc<Mutex<HashMap<String, Vec<String>>>>);

impl Zone {
    pub(super) fn publish(&self, name: &str, value: &str) {
        self.0.lock().unwrap().entry(name.to_owned()).or_default().push(value.to_owned());
    }

    fn network(&self) -> Network {
        let zone = self.clone();
        network::offline().with_txt_records(move |name| {
            let found = zone.0.lock().unwrap().get(&name).cloned().unwrap_or_default();
            Box::pin(async move { Ok(found) })
        })
    }

    pub(super) fn lab(&self) -> Lab {
        Lab::with(Setup { network: self.network(), ..Setup::default() })
    }

    /// Claims, publishes and proves.
    pub(super) async fn own(&self, lab: &Lab, key: &str, domain: &str) {
        let claimed = post(lab, DOMAINS, key, &json!({ "domain": domain })).await;
        let record = &claimed.body["record"];
        self.publish(record["name"].as_str().unwrap(), record["value"].as_str().unwrap());
        let proven = verify(lab, key, domain).await;
        assert_eq!((proven.status.as_u16(), &proven.body["verified"]), (200, &json!(true)));
    }
}

async fn verify(lab: &Lab, key: &str, domain: &str) -> Response {
    post(lab, &format!("{DOMAINS}/{domain}/verify"), key, &Value::Null).await
}

async fn redirect_at(lab: &Lab, host: &str, code: &str) -> (u16, String) {
    let answer = lab.call(Method::GET, &format!("/{code}")).header("host", host).send().await;
    lab.cloud.functions.quiesce().await;
    (answer.status.as_u16(), answer.header("location").to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_claim_names_its_proof_and_stands_when_repeated() {
    let (lab, ada) = Lab::with_member().await;
    let claimed = post(&lab, DOMAINS, &ada, &json!({ "domain": "Go.Example.COM." })).await;
    assert_eq!(claimed.status, 201);
    assert_eq!(claimed.header("location"), "/api/v1/domains/go.example.com");
    let record = &claimed.body["record"];
    assert_eq!(
        (&record["type"], &record["name"]),
        (&json!("TXT"), &json!("_switchyard.go.example.com"))
    );
    assert!(record["value"].as_str().unwrap().starts_with("switchyard-verification="));
    assert_eq!(claimed.body["verified"], false);
    lab.advance_seconds(1);
    let again = post(&lab, DOMAINS, &ada, &json!({ "domain": "go.example.com" })).await;
    assert_eq!((again.status.as_u16(), &again.body), (200, &claimed.body));
    let read = get(&lab, "/api/v1/domains/go.example.com", &ada).await;
    assert_eq!(read.body, claimed.body);
    assert_eq!(get(&lab, DOMAINS, &ada).await.body["items"], json!([claimed.body]));
    for wrong in ["", "localhost", "a b.example", "http://a.example", "1.2.3.4", "ä.example"] {
        let answer = post(&lab, DOMAINS, &ada, &json!({ "domain": wrong })).await;
        assert_names(&answer, "domain", &json!(wrong));
    }
    let missing = post(&lab, DOMAINS, &ada, &json!({})).await;
    assert_names(&missing, "domain", &json!({}));
}

#[tokio::test(start_paused = true)]
async fn a_claim_is_its_claimants_alone() {
    let lab = Lab::new();
    let (ada, eve) = (lab.user("ada", &["member"]).await, lab.user("eve", &["member"]).await);
    post(&lab, DOMAINS, &ada, &json!({ "domain": "go.example" })).await;
    for domain in ["go.example", "unknown.example", "x"] {
        let one = format!("{DOMAINS}/{domain}");
        assert_problem(&get(&lab, &one, &eve).await, 404, "not-found");
        assert_problem(&verify(&lab, &eve, domain).await, 404, "not-found");
        assert_problem(&delete(&lab, &one, &eve).await, 404, "not-found");
    }
    assert_eq!(get(&lab, DOMAINS, &eve).await.body["items"], json!([]));
    assert_eq!(get(&lab, "/api/v1/domains/go.example", &ada).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn only_the_record_proves_it_and_the_first_to_prove_has_it() {
    let zone = Zone::default();
    let lab = zone.lab();
    let (ada, eve) = (lab.user("ada", &["member"]).await, lab.user("eve", &["member"]).await);
    let claim = json!({ "domain": "go.example" });
    let adas = post(&lab, DOMAINS, &ada, &claim).await;
    let eves = post(&lab, DOMAINS, &eve, &claim).await;
    let value = |answer: &Response| answer.body["record"]["value"].as_str().unwrap().to_owned();
    assert_ne!(value(&adas), value(&eves));
    let unproven = verify(&lab, &ada, "go.example").await;
    assert_problem(&unproven, 409, "conflict");
    assert!(unproven.text("detail").contains(&value(&adas)), "{}", unproven.body);
    zone.publish("_switchyard.go.example", "v=spf1 -all");
    zone.publish("_switchyard.go.example", &value(&eves));
    zone.publish("go.example", &value(&adas));
    assert_problem(&verify(&lab, &ada, "go.example").await, 409, "conflict");
    let mut on_it = plain("https://example.org/");
    on_it["domain"] = json!("go.example");
    assert_problem(&post(&lab, SHORTEN, &ada, &on_it).await, 404, "not-found");

    let proven = verify(&lab, &eve, "go.example").await;
    assert_eq!(
        (&proven.body["verified"], proven.text("verifiedAt")),
        (&json!(true), "2026-03-01T12:00:00Z")
    );
    zone.publish("_switchyard.go.example", &value(&adas));
    assert_problem(&verify(&lab, &ada, "go.example").await, 409, "conflict");
    assert_problem(&post(&lab, SHORTEN, &ada, &on_it).await, 404, "not-found");
    shorten(&lab, &eve, &on_it).await;
    lab.advance_seconds(60);
    let again = verify(&lab, &eve, "go.example").await;
    assert_eq!((again.status.as_u16(), &again.body), (200, &proven.body));
}

#[tokio::test(start_paused = true)]
async fn a_link_on_a_domain_is_reached_through_it_alone() {
    let zone = Zone::default();
    let lab = zone.lab();
    let ada = lab.user("ada", &["member"]).await;
    zone.own(&lab, &ada, "go.example").await;
    zone.own(&lab, &ada, "to.example").await;
    for (domain, page) in [("go.example", "go"), ("to.example", "to"), ("", "ours")] {
        let url = format!("https://example.org/{page}");
        let body = json!({ "longUrl": url, "customAlias": "same", "domain": domain });
        let made = shorten(&lab, &ada, &body).await;
        if !domain.is_empty() {
            assert_eq!(made.text("shortUrl"), format!("https://{domain}/same"));
            assert_eq!(made.text("qrCode"), format!("https://{domain}/qr/same.png"));
        }
        let found = get(&lab, made.header("location"), &ada).await;
        assert_eq!(found.text("longUrl"), url, "the address of the new link leads to it");
    }
    for (host, page) in [("go.example", "go"), ("TO.example:443", "to"), ("localhost:3000", "ours")]
    {
        let url = format!("https://example.org/{page}");
        assert_eq!(redirect_at(&lab, host, "same").await, (302, url), "{host}");
    }
    assert_eq!(redirect_at(&lab, "other.example", "same").await.0, 404);
    let picture = lab.call(Method::GET, "/qr/same.svg").header("host", "go.example").send().await;
    assert!(String::from_utf8_lossy(&picture.bytes).contains("https://go.example/same"));
    let list = get(&lab, "/api/v1/urls?domain=go.example", &ada).await;
    assert_eq!(
        (codes(&list), &list.body["items"][0]["domain"]),
        (vec!["same"], &json!("go.example"))
    );
    // What is one domain's is not touched through another.
    assert_eq!(delete(&lab, "/api/v1/url/same?domain=go.example", &ada).await.status, 204);
    wait_out_cache(&lab);
    assert_eq!(redirect_at(&lab, "go.example", "same").await.0, 404);
    assert_eq!(redirect_at(&lab, "to.example", "same").await.0, 302);
    assert_eq!(redirect_at(&lab, "localhost", "same").await.0, 302);
}

#[tokio::test(start_paused = true)]
async fn no_link_leads_to_a_domain_of_links() {
    let zone = Zone::default();
    let lab = zone.lab();
    let (ada, eve) = (lab.user("ada", &["member"]).await, lab.user("eve", &["member"]).await);
    zone.own(&lab, &ada, "go.example").await;
    for key in [&ada, &eve, ""] {
        let body = plain("https://go.example/same");
        assert_names(&post(&lab, SHORTEN, key, &body).await, "longUrl", &body);
    }
    code(&lab, &eve, &plain("https://sub.go.example/")).await;
}

#[tokio::test(start_paused = true)]
async fn a_domain_is_given_up_once_no_link_lives_on_it() {
    let zone = Zone::default();
    let lab = zone.lab();
    let (ada, eve) = (lab.user("ada", &["member"]).await, lab.user("eve", &["member"]).await);
    zone.own(&lab, &ada, "go.example").await;
    let body =
        json!({ "longUrl": "https://example.org/", "customAlias": "one", "domain": "go.example" });
    shorten(&lab, &ada, &body).await;
    assert_problem(&delete(&lab, "/api/v1/domains/go.example", &ada).await, 409, "conflict");
    assert_eq!(delete(&lab, "/api/v1/url/one?domain=go.example", &ada).await.status, 204);
    assert_eq!(delete(&lab, "/api/v1/domains/go.example", &ada).await.status, 204);
    assert_problem(&get(&lab, "/api/v1/domains/go.example", &ada).await, 404, "not-found");
    assert_problem(&post(&lab, SHORTEN, &ada, &body).await, 404, "not-found");

    zone.own(&lab, &eve, "go.example").await;
    let undone = post(&lab, "/api/v1/url/one/restore?domain=go.example", &ada, &Value::Null).await;
    assert_problem(&undone, 404, "not-found");
    wait_out_cache(&lab);
    assert_eq!(
        redirect_at(&lab, "go.example", "one").await.0,
        404,
        "nothing of Ada's on Eve's domain"
    );
}
