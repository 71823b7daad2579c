//! Import from every source there is a sample of, and export that comes back the same.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, Response, root};

use super::domains::Zone;
use super::{assert_names, assert_problem, counters, get, post, redirect_of, rows, shorten, to};

async fn import(lab: &Lab, key: &str, query: &str, body: &str) -> Response {
    let call = lab.call(Method::POST, &format!("/api/v1/import?{query}")).by(key);
    call.header("content-type", "text/csv").bytes(body.to_owned()).send().await
}

fn sample(name: &str) -> String {
    let folder = root().join("shared/domain/src/links/transfer/samples");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

fn sums(answer: &Response) -> [u64; 3] {
    assert_eq!(answer.status, 200, "{}", answer.body);
    ["created", "reused", "failed"].map(|name| answer.body[name].as_u64().unwrap())
}

async fn export(lab: &Lab, key: &str, cursor: &str) -> (Response, String) {
    let answer = get(lab, &format!("/api/v1/export{cursor}"), key).await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("content-type")),
        (200, "text/csv; charset=utf-8")
    );
    let text = String::from_utf8(answer.bytes.to_vec()).unwrap();
    (answer, text)
}

#[tokio::test(start_paused = true)]
async fn every_sample_comes_in_and_a_second_time_changes_nothing() {
    for (from, file, expected, links) in [
        (
            "bitly",
            "bitly.csv",
            [3, 0, 0],
            &[
                ("spring", "https://shop.example.com/sale?utm_source=mail&utm_medium=spring"),
                ("2QrStUv", "https://example.com/"),
            ][..],
        ),
        ("bitly", "bitly.json", [2, 0, 0], &[("4aBcDeF", "https://docs.example.com/guide")]),
        ("yourls", "yourls.csv", [1, 0, 1], &[("ozh", "https://ozh.example/")]),
        ("yourls", "yourls-plugin.csv", [1, 0, 1], &[("ozh", "https://ozh.example/")]),
        ("yourls", "yourls.json", [1, 0, 1], &[("ozh", "https://ozh.example/")]),
        (
            "shlink",
            "shlink.csv",
            [2, 0, 0],
            &[("launch", "https://example.com/launch?ref=s"), ("Ab3dE", "https://example.com/")],
        ),
        ("shlink", "shlink-before-4.csv", [1, 0, 0], &[("launch", "https://example.com/launch")]),
        ("shlink", "shlink.json", [2, 0, 0], &[("old", "https://example.com/old")]),
        (
            "kutt",
            "kutt.csv",
            [2, 0, 2],
            &[("handbook", "https://example.com/handbook"), ("fair", "https://example.com/fair")],
        ),
        ("kutt", "kutt.json", [1, 0, 1], &[("handbook", "https://example.com/handbook")]),
        ("csv", "own.csv", [2, 0, 0], &[]),
    ] {
        let (lab, ada) = Lab::with_member().await;
        let (query, body) = (format!("from={from}"), sample(file));
        let first = import(&lab, &ada, &query, &body).await;
        assert_eq!(sums(&first), expected, "{file}: {}", first.body);
        for (code, url) in links {
            assert_eq!(redirect_of(&lab, code).await, to(url), "{file}");
        }
        let before = export(&lab, &ada, "").await.1;
        lab.advance_seconds(60);
        let again = import(&lab, &ada, &query, &body).await;
        assert_eq!(sums(&again), [0, expected[0], expected[2]], "{file}: {}", again.body);
        assert_eq!(export(&lab, &ada, "").await.1, before, "{file}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_row_is_answered_on_its_own_with_its_line() {
    let lab = Lab::new();
    let (ada, eve) = (lab.user("ada", &["member"]).await, lab.user("eve", &["member"]).await);
    shorten(&lab, &eve, &json!({ "longUrl": "https://example.org/", "customAlias": "eves" })).await;
    shorten(&lab, &ada, &json!({ "longUrl": "https://example.org/", "customAlias": "mine" })).await;
    let body = "code,url,expiresAt,redirect\n\
                good,https://example.org/good,2020-01-01T00:00:00Z,301\n\
                eves,https://example.org/,,\n\
                mine,https://example.org/other,,\n\
                mine,https://example.org/,,\n\
                bad,http://169.254.169.254/latest,,\n\
                api,https://example.org/,,\n\
                odd,https://example.org/,,303\n\
                \"two\nlines\",https://example.org/,,\n";
    let answer = import(&lab, &ada, "from=csv", body).await;
    assert_eq!(sums(&answer), [1, 1, 6], "{}", answer.body);
    let problems: Vec<_> = answer.body["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| (problem["line"].as_u64().unwrap(), problem["status"].as_u64().unwrap()))
        .collect();
    assert_eq!(problems, [(3, 409), (4, 409), (6, 422), (7, 422), (8, 422), (9, 422)]);
    // A link that was over moves as one that is over.
    assert_eq!(redirect_of(&lab, "good").await.0, 410);
    assert_eq!(redirect_of(&lab, "mine").await, to("https://example.org/"));
}

#[tokio::test(start_paused = true)]
async fn what_cant_be_read_as_a_whole_is_refused_as_a_whole() {
    let (lab, ada) = Lab::with_member().await;
    let row = "https://example.org/\n";
    assert_names(&import(&lab, &ada, "from=tinyurl", "url\n").await, "from", &Value::Null);
    assert_names(&import(&lab, &ada, "", "url\n").await, "from", &Value::Null);
    assert_names(&import(&lab, &ada, "from=csv&to=x", "url\n").await, "to", &Value::Null);
    let too_many = format!("url\n{}", row.repeat(1_001));
    for body in ["", "colour\nred\n", "code,url\n\"open,https://example.org/\n", &too_many] {
        let refused = import(&lab, &ada, "from=csv", body).await;
        assert_problem(&refused, 400, "malformed-request");
    }
    let broken = import(&lab, &ada, "from=bitly", "{\"links\":").await;
    assert_problem(&broken, 400, "malformed-request");
    assert_eq!((rows(&lab, "link#").await, counters(&lab).await), (0, 0));
    let foreign =
        import(&lab, &ada, "from=csv&domain=go.example", "code,url\nabc,https://example.org/\n")
            .await;
    assert_eq!((sums(&foreign), &foreign.body["problems"][0]["status"]), ([0, 0, 1], &json!(404)));
}

#[tokio::test(start_paused = true)]
async fn an_export_comes_in_again_as_someone_elses_on_another_domain_and_is_equal() {
    let zone = Zone::default();
    let lab = zone.lab();
    let (ada, eve) = (lab.user("ada", &["member"]).await, lab.user("eve", &["member"]).await);
    zone.own(&lab, &eve, "go.example").await;
    for body in [
        json!({ "longUrl": "https://example.org/", "note": "=1+1", "tags": ["a|b", "c,d", "\"e\""] }),
        json!({ "longUrl": "https://example.org/x", "customAlias": "Spring", "redirect": 307,
                "expiresAt": "2026-06-01T00:00:00.5Z", "maxClicks": 9, "forwardQuery": true,
                "fallbackUrl": "https://example.org/over", "utm": { "source": "a=b|c", "term": "ü" } }),
        json!({ "longUrl": "https://example.org/y?a=1,2", "note": "line\nbreak, and \"quotes\"",
                "variants": [{ "url": "https://example.org/a|b", "weight": 7 },
                             { "url": "https://example.org/c", "weight": 1000 }] }),
        json!({ "longUrl": "https://example.org/soon", "expiresAt": "2026-03-01T12:00:25Z" }),
    ] {
        shorten(&lab, &ada, &body).await;
        lab.advance_seconds(7);
    }
    let (answer, csv) = export(&lab, &ada, "").await;
    assert_eq!(answer.header("content-disposition"), "attachment; filename=\"links.csv\"");
    assert_eq!(csv.lines().next().unwrap().split(',').next(), Some("code"));
    let moved = import(&lab, &eve, "from=csv&domain=go.example", &csv).await;
    assert_eq!(sums(&moved), [4, 0, 0], "{}", moved.body);
    let there = export(&lab, &eve, "").await.1.replace(",go.example,", ",,");
    assert_eq!(there, csv);
    let list = |key: String| {
        let lab = lab.clone();
        async move {
            let mut list = get(&lab, "/api/v1/urls", &key).await.body["items"].take();
            for item in list.as_array_mut().unwrap() {
                let item = item.as_object_mut().unwrap();
                for name in ["shortUrl", "qrCode", "domain", "updatedAt"] {
                    item.remove(name);
                }
            }
            list
        }
    };
    assert_eq!(list(ada).await, list(eve).await);
}

#[tokio::test(start_paused = true)]
async fn a_long_export_goes_on_where_it_stopped() {
    let (lab, ada) = Lab::with_member().await;
    for part in 0..3 {
        let urls: Vec<Value> = (0..400)
            .map(|n| json!({ "longUrl": format!("https://example.org/{part}/{n}") }))
            .collect();
        post(&lab, "/api/v1/bulk/shorten", &ada, &json!({ "urls": urls })).await;
        lab.advance_seconds(1);
    }
    let (first, mut text) = export(&lab, &ada, "").await;
    let cursor = first.header("next-cursor").to_owned();
    assert!(first.header("link").contains(&cursor) && !cursor.is_empty());
    let (second, rest) = export(&lab, &ada, &format!("?cursor={cursor}")).await;
    assert_eq!(second.header("next-cursor"), "");
    text.push_str(&rest);
    assert_eq!(text.lines().count(), 1 + 1_200);
    let codes: std::collections::BTreeSet<&str> =
        text.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(codes.len(), 1_200);
    let wrong = get(&lab, "/api/v1/export?cursor=nonsense", &ada).await;
    assert_names(&wrong, "cursor", &Value::Null);
}
