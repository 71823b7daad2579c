//! `POST /api/v1/shorten`: what every option does, and what is refused.

use serde_json::json;
use tests::Lab;

use super::{
    SHORTEN, assert_names, assert_problem, counters, get, plain, post, redirect_of, rows, shorten,
    to, visit,
};

#[tokio::test(start_paused = true)]
async fn a_plain_link_has_every_field_and_nothing_else() {
    let (lab, ada) = Lab::with_member().await;
    let call = lab.call(http::Method::POST, SHORTEN).by(&ada).header("host", "sy.localhost:3000");
    let made = call.json(&plain("HTTPS://Example.org")).send().await;
    let code = made.text("shortCode");
    assert_eq!(
        made.body,
        json!({
            "shortUrl": format!("http://sy.localhost:3000/{code}"),
            "shortCode": code,
            "longUrl": "https://example.org/",
            "createdAt": "2026-03-01T12:00:00Z",
            "updatedAt": "2026-03-01T12:00:00Z",
            "expiresAt": null,
            "qrCode": format!("http://sy.localhost:3000/qr/{code}.png"),
            "redirect": 302,
            "forwardQuery": false,
            "state": "live",
            "version": 1,
        })
    );
    let mut read = get(&lab, &format!("/api/v1/url/{code}"), &ada).await;
    assert_eq!(read.header("etag"), "\"1\"");
    let counted = read.body.as_object_mut().unwrap();
    for name in ["clicks", "bots", "previews"] {
        assert_eq!(counted.remove(name), Some(json!(0)), "{name}");
    }
    assert_eq!(read.body["longUrl"], made.body["longUrl"]);
    assert_eq!(read.body["createdAt"], made.body["createdAt"]);
}

#[tokio::test(start_paused = true)]
async fn every_option_is_kept_and_does_what_it_says() {
    let (lab, ada) = Lab::with_member().await;
    let all = json!({
        "longUrl": "https://example.org/?a=1",
        "customAlias": "Spring-26",
        "expiresAt": "2026-03-02T12:00:00.123456789Z",
        "maxClicks": 5,
        "fallbackUrl": "https://example.org/over",
        "redirect": 307,
        "tags": ["News", " mail ", "news"],
        "note": "To oneself: ünïcode",
        "forwardQuery": true,
        "utm": { "source": "mail", "medium": "a b" },
        "reuse": false,
    });
    let made = shorten(&lab, &ada, &all).await;
    for (member, expected) in [
        ("shortCode", json!("Spring-26")),
        ("expiresAt", json!("2026-03-02T12:00:00.123Z")),
        ("maxClicks", json!(5)),
        ("fallbackUrl", json!("https://example.org/over")),
        ("redirect", json!(307)),
        ("tags", json!(["mail", "news"])),
        ("note", json!("To oneself: ünïcode")),
        ("forwardQuery", json!(true)),
        ("utm", json!({ "source": "mail", "medium": "a b" })),
    ] {
        assert_eq!(made.body[member], expected, "{member}");
    }
    let read = get(&lab, "/api/v1/url/Spring-26", &ada).await;
    for (name, value) in made.body.as_object().unwrap() {
        assert_eq!(&read.body[name], value, "{name} reads back as it was answered");
    }
    let visitor = visit(&lab, "Spring-26?b=2").await;
    let location = "https://example.org/?a=1&utm_medium=a+b&utm_source=mail&b=2";
    assert_eq!(visitor.status, 307);
    let pieces = |url: &str| {
        let mut pieces: Vec<_> =
            url.replace("%20", "+").split(['?', '&']).map(str::to_owned).collect();
        pieces.sort();
        pieces
    };
    assert_eq!(pieces(visitor.header("location")), pieces(location));
    assert_eq!(visit(&lab, "spring-26").await.status, 404, "case counts");
}

#[tokio::test(start_paused = true)]
async fn variants_share_the_visitors() {
    let (lab, ada) = Lab::with_member().await;
    let ways = json!([
        { "url": "https://example.org/a", "weight": 1 },
        { "url": "https://example.org/b", "weight": 3 },
    ]);
    let body = json!({ "longUrl": "https://example.org/", "variants": ways });
    let made = shorten(&lab, &ada, &body).await;
    assert_eq!(made.body["variants"], ways);
    let mut taken = [0, 0];
    for visitor in 0..60 {
        let path = format!("/{}", made.text("shortCode"));
        let call = lab.call(http::Method::GET, &path);
        let answer = call.header("user-agent", &format!("Firefox/{visitor}")).send().await;
        match answer.header("location") {
            "https://example.org/a" => taken[0] += 1,
            "https://example.org/b" => taken[1] += 1,
            other => panic!("{other}"),
        }
    }
    assert!(taken[0] >= 5 && taken[1] >= 30, "{taken:?}");
}

#[tokio::test(start_paused = true)]
async fn wrong_input_names_the_field_and_makes_nothing() {
    let (lab, ada) = Lab::with_member().await;
    let variant = |url: &str, weight: i64| json!({ "url": url, "weight": weight });
    let (a, b) = (variant("https://a.example", 1), variant("https://b.example", 1));
    let many: Vec<String> = (0..11).map(|n| n.to_string()).collect();
    for (option, value, field) in [
        ("longUrl", json!(7), "longUrl"),
        ("longUrl", json!(""), "longUrl"),
        ("longUrl", json!("ftp://example.org"), "longUrl"),
        ("longUrl", json!(format!("https://example.org/{}", "a".repeat(2029))), "longUrl"),
        ("customAlias", json!("ab"), "customAlias"),
        ("customAlias", json!("a".repeat(51)), "customAlias"),
        ("customAlias", json!("a b"), "customAlias"),
        ("customAlias", json!("-ab"), "customAlias"),
        ("customAlias", json!("api"), "customAlias"),
        ("customAlias", json!("health"), "customAlias"),
        ("customAlias", json!("päge"), "customAlias"),
        ("expiresAt", json!("tomorrow"), "expiresAt"),
        ("expiresAt", json!("2026-03-01T12:00:00Z"), "expiresAt"),
        ("domain", json!("not a domain"), "domain"),
        ("maxClicks", json!(0), "maxClicks"),
        ("maxClicks", json!(-1), "maxClicks"),
        ("fallbackUrl", json!("https://a.example"), "fallbackUrl"),
        ("redirect", json!(303), "redirect"),
        ("redirect", json!("302"), "redirect"),
        ("variants", json!([a]), "variants"),
        ("variants", json!([a, variant("http://127.0.0.1", 1)]), "variants.url"),
        ("variants", json!([a, variant("https://b.example", 0)]), "variants.weight"),
        ("variants", json!([a, variant("https://b.example", 1001)]), "variants.weight"),
        ("variants", json!(vec![b; 11]), "variants"),
        ("tags", json!(many), "tags"),
        ("tags", json!(["a\nb"]), "tags"),
        ("tags", json!("a"), "tags"),
        ("note", json!("x".repeat(501)), "note"),
        ("forwardQuery", json!("yes"), "forwardQuery"),
        ("utm", json!({ "sauce": "x" }), "utm"),
        ("utm", json!({ "source": "a\r\nb" }), "utm.source"),
        ("password", json!("x"), "password"),
    ] {
        let mut body = plain("https://example.org/");
        body[option] = value;
        for key in [ada.as_str(), ""] {
            assert_names(&post(&lab, SHORTEN, key, &body).await, field, &body);
        }
    }
    assert_names(&post(&lab, SHORTEN, &ada, &json!({})).await, "longUrl", &json!({}));
    let broken = lab.call(http::Method::POST, SHORTEN).by(&ada).bytes("{\"longUrl\":").send().await;
    assert_problem(&broken, 400, "malformed-request");
    assert_eq!((rows(&lab, "link#").await, rows(&lab, "same#").await), (0, 0));
    assert_eq!(counters(&lab).await, 0, "refused input takes nothing from a quota");
}

#[tokio::test(start_paused = true)]
async fn a_taken_alias_and_an_unverified_domain_are_refused() {
    let lab = Lab::new();
    let (ada, eve) = (lab.user("ada", &["member"]).await, lab.user("eve", &["member"]).await);
    let body = json!({ "longUrl": "https://example.org/", "customAlias": "mine" });
    shorten(&lab, &ada, &body).await;
    for key in [&ada, &eve, ""] {
        assert_problem(&post(&lab, SHORTEN, key, &body).await, 409, "conflict");
    }
    let elsewhere = json!({ "longUrl": "https://example.org/", "domain": "go.example" });
    for key in [&ada, ""] {
        assert_problem(&post(&lab, SHORTEN, key, &elsewhere).await, 404, "not-found");
    }
    assert_eq!(redirect_of(&lab, "mine").await, to("https://example.org/"));
    assert_eq!(rows(&lab, "link#").await, 1);
}
