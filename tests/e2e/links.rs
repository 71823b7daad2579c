//! Links, from one end to the other: made, followed, changed, counted, moved, taken down.

mod owners;

use e2e::{Response, Target, target};
use serde_json::{Value, json};

const SHORTEN: &str = "/api/v1/shorten";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0";

/// How soon a change is seen, and one more for the way.
const SEEN: u64 = 6;

fn visit(target: &Target, code: &str) -> Response {
    target.send("GET", &format!("/{code}"), "", &[("user-agent", BROWSER)], None)
}

/// A new link of the admin's.
fn shorten(target: &Target, body: &Value) -> String {
    let made = target.post(SHORTEN, body);
    assert_eq!(made.status, 201, "{}", made.body);
    made.text("shortCode").to_owned()
}

fn fresh_url(target: &Target) -> String {
    format!("https://example.org/{}", target.fresh("page"))
}

#[test]
fn a_link_is_made_followed_looked_at_and_drawn() {
    let target = target();
    let url = fresh_url(target);
    let made = target.post(SHORTEN, &json!({ "longUrl": url, "tags": ["e2e"] }));
    assert_eq!(made.status, 201, "{}", made.body);
    let code = made.text("shortCode");
    assert!(made.text("shortUrl").ends_with(&format!("/{code}")));
    let again = target.post(SHORTEN, &json!({ "longUrl": url }));
    assert_eq!((again.status, again.text("shortCode")), (200, code));

    let led = visit(target, code);
    assert_eq!((led.status, led.location.as_str()), (302, url.as_str()));
    let head = target.send("HEAD", &format!("/{code}"), "", &[], None);
    assert_eq!((head.status, head.location, head.bytes.len()), (302, url.clone(), 0));
    let page = visit(target, &format!("{code}+"));
    assert_eq!((page.status, page.media_type.as_str()), (200, "text/html; charset=utf-8"));
    assert!(String::from_utf8_lossy(&page.bytes).contains(&url));
    let picture = target.send("GET", &format!("/qr/{code}.png"), "", &[], None);
    assert_eq!((picture.status, picture.media_type.as_str()), (200, "image/png"));
    assert!(picture.bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
    let drawing = target.send("GET", &format!("/qr/{code}.svg"), "", &[], None);
    assert_eq!((drawing.status, drawing.media_type.as_str()), (200, "image/svg+xml"));
    assert_eq!(visit(target, "no-such-link").status, 404);
    let listed = target.eventually("/api/v1/urls?tag=e2e&limit=100", |list| {
        list.body["items"].to_string().contains(code)
    });
    assert!(listed.body["items"].to_string().contains(code), "{}", listed.body);
}

#[test]
fn a_change_a_block_and_a_deletion_are_seen_within_five_seconds() {
    let target = target();
    let (url, other) = (fresh_url(target), fresh_url(target));
    let code = shorten(target, &json!({ "longUrl": url }));
    let one = format!("/api/v1/url/{code}");
    assert_eq!(visit(target, &code).location, url);
    let etag = target.get(&one).etag;
    let change = json!({ "longUrl": other });
    let amend = |etag: &str| {
        target.send("PATCH", &one, &target.admin_key, &[("if-match", etag)], Some(&change)).status
    };
    assert_eq!((amend(&etag), amend(&etag)), (200, 412));
    let moved = target.within(SEEN, || visit(target, &code), |answer| answer.location == other);
    assert_eq!(moved.location, other);

    let seen = |status: u16| {
        let answer = target.within(SEEN, || visit(target, &code), |it| it.status == status);
        assert_eq!(answer.status, status);
    };
    let block = target.post(&format!("{one}/block"), &json!({ "reason": "A test." }));
    assert_eq!((block.status, block.text("state")), (200, "blocked"));
    seen(451);
    assert_eq!(target.post(&format!("{one}/unblock"), &json!({})).status, 200);
    seen(302);
    assert_eq!(target.send("DELETE", &one, &target.admin_key, &[], None).status, 204);
    seen(404);
    assert_eq!(target.post(&format!("{one}/restore"), &json!({})).status, 200);
    seen(302);
}

#[test]
fn a_link_that_is_over_is_gone() {
    let target = target();
    // The service's own clock says when now is.
    let code = shorten(target, &json!({ "longUrl": fresh_url(target) }));
    let made = target.get(&format!("/api/v1/url/{code}"));
    let created: domain::Timestamp = made.text("createdAt").parse().unwrap();
    let soon = domain::Timestamp::from_millisecond(created.as_millisecond() + 4_000).unwrap();
    let body = json!({ "longUrl": fresh_url(target), "expiresAt": soon.to_string() });
    let code = shorten(target, &body);
    assert_eq!(visit(target, &code).status, 302);
    let over = target.within(10, || visit(target, &code), |answer| answer.status == 410);
    assert_eq!((over.status, over.text("type")), (410, "/docs#gone"));
}

#[test]
fn people_and_robots_are_counted_in_the_end() {
    let target = target();
    let code = shorten(target, &json!({ "longUrl": fresh_url(target) }));
    for _ in 0..3 {
        assert_eq!(visit(target, &code).status, 302);
    }
    let robot = [("user-agent", "Googlebot/2.1 (+http://www.google.com/bot.html)")];
    target.send("GET", &format!("/{code}"), "", &robot, None);
    target.send("HEAD", &format!("/{code}"), "", &[("user-agent", BROWSER)], None);
    let wanted = |answer: &Response| answer.body["clicks"] == 3 && answer.body["bots"] == 1;
    // What a busy node holds back goes out with a later request.
    let ask = || {
        visit(target, "no-such-link");
        target.get(&format!("/api/v1/url/{code}/analytics?period=24h"))
    };
    let counted = target.within(30, ask, wanted);
    assert!(wanted(&counted), "{}", counted.body);
    assert_eq!(counted.body["uniqueVisitors"], 1);
    assert_eq!(counted.body["byBrowser"], json!([{ "name": "Firefox", "clicks": 3 }]));
    let read = target.get(&format!("/api/v1/url/{code}"));
    assert_eq!((&read.body["clicks"], &read.body["bots"]), (&json!(3), &json!(1)));
}

#[test]
fn many_at_once_are_each_answered_on_their_own() {
    let target = target();
    let had = fresh_url(target);
    shorten(target, &json!({ "longUrl": had }));
    let urls: Vec<Value> = (0..20)
        .map(|n| match n % 4 {
            0 => json!({ "longUrl": "http://169.254.169.254/latest/meta-data" }),
            1 => json!({ "longUrl": had }),
            _ => json!({ "longUrl": format!("{had}/{n}") }),
        })
        .collect();
    let answer = target.post("/api/v1/bulk/shorten", &json!({ "urls": urls }));
    assert_eq!(answer.status, 200, "{}", answer.body);
    let sums = ["created", "reused", "failed"].map(|name| answer.body[name].as_u64().unwrap());
    assert_eq!(sums, [10, 5, 5]);
    for (n, result) in answer.body["results"].as_array().unwrap().iter().enumerate() {
        let status = [422, 200, 201, 201][n % 4];
        assert_eq!(result["status"], status, "{n}: {result}");
    }
}

#[test]
fn links_move_in_and_out_again() {
    let target = target();
    let key = target.member();
    let (alias, url) = (target.fresh("moved"), fresh_url(target));
    let file = format!("code,url,note\n{alias},{url},\"a, note\"\n,http://127.0.0.1/,\n");
    let import = || {
        let path = "/api/v1/import?from=csv";
        target.send_text("POST", path, &key, &[], ("text/csv", file.clone()))
    };
    let (first, second) = (import(), import());
    for (answer, created, reused) in [(&first, 1, 0), (&second, 0, 1)] {
        assert_eq!((answer.status, &answer.body["failed"]), (200, &json!(1)), "{}", answer.body);
        assert_eq!(
            (&answer.body["created"], &answer.body["reused"]),
            (&json!(created), &json!(reused))
        );
    }
    assert_eq!(visit(target, &alias).location, url);
    let ask = || target.send("GET", "/api/v1/export", &key, &[], None);
    let has = |answer: &Response| String::from_utf8_lossy(&answer.bytes).contains(&url);
    let out = target.within(30, ask, has);
    assert_eq!((out.status, out.media_type.as_str()), (200, "text/csv; charset=utf-8"));
    assert_eq!(String::from_utf8_lossy(&out.bytes).lines().count(), 2);
    assert!(has(&out));
}

#[test]
fn what_belongs_to_another_user_is_not_found_and_invalid_fields_are_named() {
    let target = target();
    let (ada, eve) = (target.member(), target.member());
    let body = json!({ "longUrl": fresh_url(target) });
    let made = target.send("POST", SHORTEN, &ada, &[], Some(&body));
    let one = format!("/api/v1/url/{}", made.text("shortCode"));
    let analytics = format!("{one}/analytics");
    for (method, path) in [("GET", &one), ("DELETE", &one), ("GET", &analytics)] {
        assert_eq!(target.send(method, path, "", &[], None).status, 401, "{method} {path}");
        let eves = target.send(method, path, &eve, &[], None);
        assert_eq!((eves.status, eves.text("type")), (404, "/docs#not-found"), "{method} {path}");
    }
    assert_eq!(target.send("GET", &one, &ada, &[], None).status, 200);
    assert_eq!(target.send("GET", "/api/v1/reports", &ada, &[], None).status, 403);
    for (body, field) in [
        (json!({ "longUrl": "javascript:alert(1)" }), "longUrl"),
        (json!({ "longUrl": "http://0x7f.1/" }), "longUrl"),
        (json!({ "longUrl": "https://example.org/", "customAlias": "api" }), "customAlias"),
        (json!({ "longUrl": "https://example.org/", "redirect": 200 }), "redirect"),
        (json!({ "longURL": "https://example.org/" }), "longURL"),
    ] {
        let wrong = target.send("POST", SHORTEN, &ada, &[], Some(&body));
        assert_eq!((wrong.status, wrong.text("type")), (422, "/docs#invalid"), "{body}");
        assert_eq!(wrong.body["errors"][0]["field"], field, "{}", wrong.body);
    }
}
