//! `GET /qr/{code}.png` and `.svg`; that a scanner reads them is tested beside `links::http::qr`.

use http::Method;
use links::http::qr::{self, QrStyle};
use serde_json::json;
use tests::{Lab, Response};

use super::{assert_names, assert_problem, code, delete, plain};

const HOST: &str = "sy.localhost:3000";

async fn draw(lab: &Lab, file: &str) -> Response {
    lab.call(Method::GET, &format!("/qr/{file}")).header("host", HOST).send().await
}

#[tokio::test(start_paused = true)]
async fn a_picture_is_the_qr_code_of_the_short_address_in_the_style_of_the_query() {
    let lab = Lab::new();
    let link = code(&lab, "", &plain("https://example.org/")).await;
    let address = format!("http://{HOST}/{link}");
    for query in [
        "",
        "size=64&margin=0",
        "size=500&margin=4",
        "size=300&color=1a2b3c&background=ffeedd&margin=2",
        "color=%23804000",
    ] {
        let style = QrStyle::parse(&serde_urlencoded::from_str(query).unwrap()).unwrap();
        let picture = draw(&lab, &format!("{link}.png?{query}")).await;
        assert_eq!((picture.status.as_u16(), picture.header("content-type")), (200, "image/png"));
        assert_eq!(picture.bytes, qr::png(&address, &style).unwrap(), "{query}");
        let drawing = draw(&lab, &format!("{link}.svg?{query}")).await;
        assert_eq!(drawing.header("content-type"), "image/svg+xml", "{query}");
        assert_eq!(drawing.bytes, qr::svg(&address, &style).unwrap(), "{query}");
        for answer in [&picture, &drawing] {
            assert_eq!(answer.header("cache-control"), "public, max-age=86400");
            assert_eq!(answer.header("cross-origin-resource-policy"), "cross-origin");
        }
        assert!(drawing.header("content-security-policy").contains("default-src 'none'"));
    }
}

#[tokio::test(start_paused = true)]
async fn what_no_scanner_reads_is_refused_by_name() {
    let lab = Lab::new();
    let link = code(&lab, "", &plain("https://example.org/")).await;
    for (query, field) in [
        ("size=63", "size"),
        ("size=2049", "size"),
        ("size=x", "size"),
        ("margin=17", "margin"),
        ("margin=-1", "margin"),
        ("color=red", "color"),
        ("background=12345", "background"),
        ("color=eeeeee", "color"),
        ("color=ffffff&background=000000", "color"),
        ("background=000000", "background"),
        ("domain=x", "domain"),
        ("colour=000000", "colour"),
    ] {
        for kind in ["png", "svg"] {
            let answer = draw(&lab, &format!("{link}.{kind}?{query}")).await;
            assert_names(&answer, field, &json!(query));
            assert_ne!(answer.header("cache-control"), "public, max-age=86400");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_has_no_picture() {
    let (lab, ada) = Lab::with_member().await;
    let link = code(&lab, &ada, &plain("https://example.org/")).await;
    for file in ["unknown.png", "unknown.svg", "unknown", "a!b.png", ".png"] {
        assert_problem(&draw(&lab, file).await, 404, "not-found");
    }
    assert_problem(&draw(&lab, &format!("{link}.gif")).await, 404, "not-found");
    assert_problem(&draw(&lab, &format!("{link}.png?domain=go.example")).await, 404, "not-found");
    delete(&lab, &format!("/api/v1/url/{link}"), &ada).await;
    assert_problem(&draw(&lab, &format!("{link}.png")).await, 404, "not-found");
}
