//! The owner's links: read, edit, delete, restore, list.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, root_key};

use super::{
    assert_names, assert_problem, code, codes, delete, get, patch, plain, post, redirect_of,
    shorten, to, wait_out_cache,
};

const DAY: i64 = 24 * 3600;

#[tokio::test(start_paused = true)]
async fn an_edit_needs_the_version_it_was_made_from() {
    let (lab, ada) = Lab::with_member().await;
    let one = format!("/api/v1/url/{}", code(&lab, &ada, &plain("https://example.org/")).await);
    let note = json!({ "note": "x" });
    let unnamed = lab.call(Method::PATCH, &one).by(&ada).json(&note).send().await;
    assert_problem(&unnamed, 428, "version-required");
    for wrong in ["\"2\"", "\"0\"", "1", "*", "W/\"1\""] {
        let call = lab.call(Method::PATCH, &one).by(&ada).header("if-match", wrong);
        assert_problem(&call.json(&note).send().await, 412, "version-moved");
    }
    let first = patch(&lab, &one, &ada, 1, &note).await;
    assert_eq!((first.status.as_u16(), first.header("etag")), (200, "\"2\""));
    assert_problem(&patch(&lab, &one, &ada, 1, &note).await, 412, "version-moved");
    assert_eq!(get(&lab, &one, &ada).await.header("etag"), "\"2\"");
}

#[tokio::test(start_paused = true)]
async fn what_is_left_out_stays_and_null_takes_away() {
    let (lab, ada) = Lab::with_member().await;
    let full = json!({
        "longUrl": "https://example.org/", "expiresAt": "2027-01-01T00:00:00Z", "maxClicks": 9,
        "fallbackUrl": "https://example.org/over", "redirect": 301, "tags": ["a"], "note": "n",
        "forwardQuery": true, "utm": { "source": "x" },
        "variants": [{ "url": "https://a.example/", "weight": 1 },
                     { "url": "https://b.example/", "weight": 1 }],
    });
    let made = shorten(&lab, &ada, &full).await;
    let one = format!("/api/v1/url/{}", made.text("shortCode"));
    lab.advance_seconds(7);
    let same = patch(&lab, &one, &ada, 1, &json!({})).await;
    for (name, value) in made.body.as_object().unwrap() {
        if name != "version" && name != "updatedAt" {
            assert_eq!(&same.body[name], value, "{name}");
        }
    }
    assert_eq!(same.text("updatedAt"), "2026-03-01T12:00:07Z");
    let bare = json!({
        "expiresAt": null, "maxClicks": null, "fallbackUrl": null, "note": null, "tags": [],
        "variants": [], "utm": {}, "forwardQuery": false, "redirect": 302,
    });
    let emptied = patch(&lab, &one, &ada, 2, &bare).await.assert_status(200);
    for name in ["maxClicks", "fallbackUrl", "note", "tags", "variants", "utm"] {
        assert!(emptied.body.get(name).is_none(), "{name}: {}", emptied.body);
    }
    assert_eq!(emptied.body["expiresAt"], Value::Null);
    assert_eq!(redirect_of(&lab, made.text("shortCode")).await, to("https://example.org/"));
}

#[tokio::test(start_paused = true)]
async fn a_wrong_edit_names_the_field_and_changes_nothing() {
    let (lab, ada) = Lab::with_member().await;
    let one = format!("/api/v1/url/{}", code(&lab, &ada, &plain("https://example.org/")).await);
    for (body, field) in [
        (json!({ "longUrl": "http://10.0.0.1/" }), "longUrl"),
        (json!({ "expiresAt": "2026-03-01T11:59:59Z" }), "expiresAt"),
        (json!({ "maxClicks": 0 }), "maxClicks"),
        (json!({ "fallbackUrl": "https://a.example" }), "fallbackUrl"),
        (json!({ "redirect": 200 }), "redirect"),
        (json!({ "variants": [{ "url": "https://a.example", "weight": 1 }] }), "variants"),
        (json!({ "tags": [""] }), "tags"),
        (json!({ "note": "x".repeat(501) }), "note"),
        (json!({ "utm": { "source": "" } }), "utm.source"),
        (json!({ "customAlias": "other" }), "customAlias"),
        (json!({ "shortCode": "other" }), "shortCode"),
    ] {
        assert_names(&patch(&lab, &one, &ada, 1, &body).await, field, &body);
    }
    assert_eq!(get(&lab, &one, &ada).await.header("etag"), "\"1\"");
}

#[tokio::test(start_paused = true)]
async fn a_deletion_can_be_undone_for_thirty_days() {
    let (lab, ada) = Lab::with_member().await;
    let body = json!({ "longUrl": "https://example.org/", "customAlias": "mine" });
    shorten(&lab, &ada, &body).await;
    let (one, restore) = ("/api/v1/url/mine", "/api/v1/url/mine/restore");
    assert_problem(&post(&lab, restore, &ada, &Value::Null).await, 409, "conflict");
    assert_eq!(redirect_of(&lab, "mine").await, to("https://example.org/"));
    for _ in 0..2 {
        assert_eq!(delete(&lab, one, &ada).await.status, 204);
    }
    wait_out_cache(&lab);
    assert_eq!(redirect_of(&lab, "mine").await.0, 404);
    let read = get(&lab, one, &ada).await;
    assert_eq!((read.text("state"), &read.body["version"]), ("deleted", &json!(2)));
    assert_eq!(read.text("restorableUntil"), "2026-03-31T12:00:00Z");
    assert_problem(&patch(&lab, one, &ada, 2, &json!({ "note": "x" })).await, 409, "conflict");
    assert_problem(&post(&lab, super::SHORTEN, &ada, &body).await, 409, "conflict");
    lab.advance_seconds(30 * DAY - 10);
    let restored = post(&lab, restore, &ada, &Value::Null).await;
    assert_eq!((restored.status.as_u16(), restored.text("state")), (200, "live"));
    assert_eq!(redirect_of(&lab, "mine").await, to("https://example.org/"));
    assert_eq!(delete(&lab, one, &ada).await.status, 204);
    lab.advance_seconds(30 * DAY);
    assert_problem(&post(&lab, restore, &ada, &Value::Null).await, 409, "conflict");
}

#[tokio::test(start_paused = true)]
async fn a_list_is_newest_first_and_pages_through_everything_once() {
    let lab = Lab::new();
    let (ada, eve) = (lab.user("ada", &["member"]).await, lab.user("eve", &["member"]).await);
    let mut made = Vec::new();
    for n in 0..25 {
        made.insert(0, code(&lab, &ada, &plain(&format!("https://example.org/{n}"))).await);
        lab.advance_seconds(1);
    }
    code(&lab, &eve, &plain("https://example.org/eve")).await;
    assert_eq!(codes(&get(&lab, "/api/v1/urls", &ada).await), made);
    let (mut seen, mut path) = (Vec::new(), "/api/v1/urls?limit=10".to_owned());
    for expected in [10, 10, 5] {
        let page = get(&lab, &path, &ada).await;
        assert_eq!(codes(&page).len(), expected);
        seen.extend(codes(&page).into_iter().map(str::to_owned));
        path = format!("/api/v1/urls?limit=10&cursor={}", page.text("nextCursor"));
    }
    assert_eq!(seen, made);
    assert!(path.ends_with("cursor="), "the last page has no next one");
    for (query, field) in [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=x", "limit"),
        ("cursor=nonsense", "cursor"),
        ("deleted=maybe", "deleted"),
        ("domain=x", "domain"),
        ("colour=red", "colour"),
    ] {
        let wrong = get(&lab, &format!("/api/v1/urls?{query}"), &ada).await;
        assert_names(&wrong, field, &json!(query));
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_is_searched_by_tag_text_domain_and_deletion() {
    let (lab, ada) = Lab::with_member().await;
    for (alias, url, tags, note) in [
        ("one", "https://example.org/alpha", json!(["Red", "blue"]), "Über alles"),
        ("two", "https://example.org/beta", json!(["red"]), ""),
        ("three", "https://example.com/gamma", json!(["infrared"]), "ALPHA"),
    ] {
        let body = json!({ "longUrl": url, "customAlias": alias, "tags": tags, "note": note });
        shorten(&lab, &ada, &body).await;
        lab.advance_seconds(1);
    }
    for (query, expected) in [
        ("tag=RED", &["two", "one"][..]),
        ("tag=infra", &[]),
        ("q=alpha", &["three", "one"]),
        ("q=EXAMPLE.com", &["three"]),
        ("q=%C3%BCber", &["one"]),
        ("q=two", &["two"]),
        ("q=", &["three", "two", "one"]),
        ("tag=red&q=alpha", &["one"]),
        ("domain=", &["three", "two", "one"]),
        ("domain=go.example", &[]),
        ("deleted=true", &[]),
    ] {
        let list = get(&lab, &format!("/api/v1/urls?{query}"), &ada).await;
        assert_eq!(list.status, 200, "{query}: {}", list.body);
        assert_eq!(codes(&list), expected, "{query}");
    }
    delete(&lab, "/api/v1/url/two", &ada).await;
    assert_eq!(codes(&get(&lab, "/api/v1/urls", &ada).await), ["three", "one"]);
    assert_eq!(codes(&get(&lab, "/api/v1/urls?deleted=true", &ada).await), ["two"]);
    // An admin's list is the admin's own.
    assert_eq!(codes(&get(&lab, "/api/v1/urls", &root_key()).await), Vec::<&str>::new());
}

#[tokio::test(start_paused = true)]
async fn a_filtered_list_pages_too() {
    let (lab, ada) = Lab::with_member().await;
    let urls: Vec<Value> = (0..260)
        .map(|n| json!({ "longUrl": format!("https://example.org/{n}"), "tags": [format!("t{}", n % 2)] }))
        .collect();
    assert_eq!(
        post(&lab, "/api/v1/bulk/shorten", &ada, &json!({ "urls": urls })).await.status,
        200
    );
    let mut seen = std::collections::BTreeSet::new();
    let mut path = "/api/v1/urls?tag=t1&limit=40".to_owned();
    loop {
        let page = get(&lab, &path, &ada).await.assert_status(200);
        for code in codes(&page) {
            assert!(seen.insert(code.to_owned()), "{code} twice");
        }
        if page.body.get("nextCursor").is_none() {
            break;
        }
        path = format!("/api/v1/urls?tag=t1&limit=40&cursor={}", page.text("nextCursor"));
    }
    assert_eq!(seen.len(), 130);
}

#[tokio::test(start_paused = true)]
async fn a_code_is_never_given_twice_and_nothing_else_is_kept_of_it() {
    let (lab, ada) = Lab::with_member().await;
    let eve = lab.user("eve", &["member"]).await;
    let body = json!({ "longUrl": "https://example.com/private", "customAlias": "secret-sale" });
    let make = |key: &str| lab.call(Method::POST, "/api/v1/shorten").by(key).json(&body).send();
    assert_eq!(make(&ada).await.status, 201);
    lab.call(Method::DELETE, "/api/v1/url/secret-sale").by(&ada).send().await.assert_status(204);
    lab.advance_seconds(30 * 24 * 3600);
    lab.sweep().await;
    let links = links::store::Links::new(lab.aws().dynamodb(), lab.table("LinksTable"));
    let code = domain::links::Code::parse("secret-sale").unwrap();
    let left = links.find("", &code).await.unwrap().unwrap();
    assert!(left.is_purged() && left.owner.is_none(), "{left:?}");
    assert_eq!(make(&eve).await.status, 409, "no other user inherits a link or its clicks");
    let restored = lab.call(Method::POST, "/api/v1/url/secret-sale/restore").by(&ada).send().await;
    assert_eq!(restored.status, 404);
    assert_eq!(lab.call(Method::GET, "/secret-sale").send().await.status, 404);
}
