//! `GET /{code}`: where a visitor is sent, what that costs, and how soon a change is seen.

mod clicks;

use std::cell::Cell;
use std::collections::HashMap;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use bytes::Bytes;
use http::{Method, Request};
use local::faults::Faults;
use serde_json::{Value, json};
use tests::{Lab, Response, Setup};

const BROWSER: &str = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8";

fn s(value: &str) -> AttributeValue {
    AttributeValue::S(value.to_owned())
}

fn n(value: i64) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

/// Writes a link's row as the store has it.
async fn seed(lab: &Lab, domain: &str, code: &str, more: &[(&str, AttributeValue)]) {
    let mut row = HashMap::from([
        ("pk".to_owned(), s(&format!("link#{domain}#{code}"))),
        ("sk".to_owned(), s("link")),
        ("to".to_owned(), s("https://example.org/page")),
        ("created_at".to_owned(), n(1_772_000_000_000)),
    ]);
    row.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    let put = lab.aws().dynamodb().put_item().table_name(lab.table("LinksTable"));
    put.set_item(Some(row)).send().await.unwrap();
}

/// Follows a link, and lets its instance finish.
async fn follow(lab: &Lab, path: &str) -> Response {
    let answer = lab.call(Method::GET, path).send().await;
    lab.cloud.functions.quiesce().await;
    answer
}

/// Asks for a page.
async fn page(lab: &Lab, path: &str, user_agent: &str) -> (u16, String) {
    let request = Request::get(path).header("user-agent", user_agent).body(Bytes::new()).unwrap();
    let response = lab.cloud.request(request).await;
    lab.cloud.functions.quiesce().await;
    (response.status().as_u16(), String::from_utf8(response.body().to_vec()).unwrap())
}

thread_local! {
    /// Which operation fails at the moment; a test has its thread to itself.
    static BROKEN: Cell<&'static str> = const { Cell::new("") };
}

/// A lab in which the operation that `BROKEN` names meets nothing.
fn breakable() -> Lab {
    let faults = Faults::mutated(1, 0, |operation, body| {
        if operation == BROKEN.get() {
            body["TableName"] = json!("nowhere");
            body["QueueUrl"] = json!("http://localhost/000000000000/nowhere");
        }
    });
    Lab::with(Setup { faults, ..Setup::default() })
}

/// The sum of a number over all lines that redirects wrote.
fn sum(lab: &Lab, name: &str) -> u64 {
    let lines = lab.lines();
    let lines = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let ours = lines.filter(|line| line["Operation"] == "redirect");
    ours.filter_map(|line| line[name].as_u64()).sum()
}

/// The same once every instance has ended, and so has said everything.
async fn total<const N: usize>(lab: &Lab, names: [&str; N]) -> [u64; N] {
    lab.cloud.functions.retire(Duration::ZERO).await;
    names.map(|name| sum(lab, name))
}

#[tokio::test(start_paused = true)]
async fn a_link_is_read_once_and_then_costs_nothing() {
    let lab = Lab::new();
    seed(&lab, "", "abc", &[]).await;
    for _ in 0..5 {
        let answer = follow(&lab, "/abc").await.assert_status(302);
        assert_eq!(answer.header("location"), "https://example.org/page");
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("referrer-policy"), "");
    }
    assert_eq!(total(&lab, ["CacheMisses", "CacheHits", "Redirects"]).await, [1, 4, 5]);
    // The version of the rules and the route, then the day's salt: a read that finds none and the
    // write of the first.
    assert_eq!(total(&lab, ["store_calls"]).await, [4]);
}

#[tokio::test(start_paused = true)]
async fn that_there_is_no_link_is_remembered_too() {
    let lab = Lab::new();
    let missing = follow(&lab, "/nothing").await;
    assert_eq!((missing.status.as_u16(), missing.text("type")), (404, "/docs#not-found"));
    follow(&lab, "/nothing").await;
    for path in ["/a%20b", "/a%0D%0Ab", "/%23"] {
        assert_eq!(follow(&lab, path).await.status, 404, "{path}");
    }
    // The version of the rules and one route: what can be no code is not looked up.
    let numbers = total(&lab, ["store_calls", "NotFound", "ClicksSent"]).await;
    assert_eq!(numbers, [2, 5, 0]);
}

#[tokio::test(start_paused = true)]
async fn an_edit_is_seen_on_every_instance_within_five_seconds_under_constant_traffic() {
    let lab = Lab::new();
    seed(&lab, "", "abc", &[]).await;
    // Three at once make three instances, each with a memory of its own.
    let visit = || lab.call(Method::GET, "/abc").send();
    for _ in 0..3 {
        futures::join!(visit(), visit(), visit());
        lab.cloud.functions.quiesce().await;
        lab.clock.advance_ms(700);
    }
    let edited_ms = lab.clock.now_ms();
    seed(&lab, "", "abc", &[("to", s("https://example.org/new"))]).await;
    let mut old_answers = 0;
    while lab.clock.now_ms() < edited_ms + 10_000 {
        let answers: [Response; 3] = futures::join!(visit(), visit(), visit()).into();
        lab.cloud.functions.quiesce().await;
        let passed_ms = lab.clock.now_ms() - edited_ms;
        for answer in answers {
            let is_old = answer.header("location") == "https://example.org/page";
            assert!(!is_old || passed_ms < 5_000, "the old page after {passed_ms} ms");
            old_answers += u32::from(is_old);
        }
        lab.clock.advance_ms(50);
    }
    assert!(old_answers > 20, "the memory was never used");
}

#[tokio::test(start_paused = true)]
async fn expiry_is_checked_on_every_hit() {
    let lab = Lab::new();
    let end_ms = lab.clock.now_ms() + 2_000;
    seed(&lab, "", "abc", &[("expires_at", n(end_ms))]).await;
    assert_eq!(follow(&lab, "/abc").await.status, 302);
    lab.clock.advance_ms(end_ms - 1 - lab.clock.now_ms());
    assert_eq!(lab.call(Method::GET, "/abc").send().await.status, 302);
    lab.cloud.functions.quiesce().await;
    lab.clock.advance_ms(end_ms - lab.clock.now_ms());
    let gone = follow(&lab, "/abc").await;
    assert_eq!((gone.status.as_u16(), gone.text("type")), (410, "/docs#gone"));
    assert_eq!(total(&lab, ["CacheMisses"]).await, [1]);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_steps_back_makes_an_entry_old() {
    let lab = Lab::new();
    seed(&lab, "", "abc", &[]).await;
    follow(&lab, "/abc").await;
    lab.clock.advance_ms(-1_000);
    follow(&lab, "/abc").await;
    assert_eq!(total(&lab, ["CacheMisses"]).await, [2]);
}

#[tokio::test(start_paused = true)]
async fn every_refusal_has_its_status_and_comes_as_a_page_or_as_a_problem() {
    let lab = Lab::new();
    seed(&lab, "", "deleted", &[("deleted_at", n(1))]).await;
    seed(&lab, "", "spent", &[("spent_at", n(1)), ("max_clicks", n(1))]).await;
    seed(&lab, "", "blocked", &[("blocked_at", n(1)), ("block_reason", s("phishing"))]).await;
    for (path, status, kind) in [
        ("/deleted", 404, "/docs#not-found"),
        ("/spent", 410, "/docs#gone"),
        ("/blocked", 451, "/docs#blocked"),
        ("/blocked+", 451, "/docs#blocked"),
    ] {
        let problem = follow(&lab, path).await;
        assert_eq!((problem.status.as_u16(), problem.text("type")), (status, kind), "{path}");
        let page = lab.call(Method::GET, path).header("accept", BROWSER).send().await;
        lab.cloud.functions.quiesce().await;
        assert_eq!(page.status.as_u16(), status, "{path}");
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        assert!(
            page.header("content-security-policy").starts_with("default-src 'none'; style-src")
        );
    }
    assert_eq!(
        follow(&lab, "/blocked").await.text("detail"),
        "This link was taken down: phishing."
    );
    assert_eq!(total(&lab, ["Gone", "Blocked", "ClicksSent"]).await, [2, 5, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_link_that_is_used_up_leads_to_its_fallback_for_now() {
    let lab = Lab::new();
    let spent = [("spent_at", n(1)), ("status", n(301)), ("fallback", s("https://example.org/f"))];
    seed(&lab, "", "spent", &spent).await;
    let answer = follow(&lab, "/spent").await;
    assert_eq!((answer.status.as_u16(), answer.header("location")), (302, "https://example.org/f"));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_is_a_503_and_never_an_old_answer() {
    let lab = breakable();
    seed(&lab, "", "abc", &[]).await;
    follow(&lab, "/abc").await;
    lab.clock.advance_ms(4_000);
    BROKEN.set("GetItem");
    let answer = follow(&lab, "/abc").await;
    assert_eq!((answer.status.as_u16(), answer.text("type")), (503, "/docs#unavailable"));
    assert_eq!(answer.header("retry-after"), "2");
    BROKEN.set("");
    assert_eq!(follow(&lab, "/abc").await.status, 302, "a failure is not remembered");
    assert_eq!(total(&lab, ["Faults"]).await, [1]);
}

#[tokio::test(start_paused = true)]
async fn head_answers_like_get_and_other_methods_are_refused() {
    let lab = Lab::new();
    seed(&lab, "", "abc", &[("status", n(307))]).await;
    let get = follow(&lab, "/abc").await;
    let head = lab.call(Method::HEAD, "/abc").send().await;
    lab.cloud.functions.quiesce().await;
    assert_eq!((get.status, &get.headers), (head.status, &head.headers));
    assert_eq!(get.status, 307);
    let missing = lab.call(Method::HEAD, "/nothing").send().await;
    assert_eq!((missing.status.as_u16(), &missing.body), (404, &Value::Null));
    for method in [Method::POST, Method::PUT, Method::DELETE] {
        let refused = lab.call(method, "/abc").send().await;
        assert_eq!((refused.status.as_u16(), refused.header("allow")), (405, "GET, HEAD"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_plus_shows_where_a_link_leads_and_crawlers_get_a_card() {
    let lab = Lab::new();
    let words =
        [("title", s("A <b>title</b>")), ("warnings", AttributeValue::Ss(vec!["ip-host".into()]))];
    seed(&lab, "", "abc", &words).await;
    let (status, text) = page(&lab, "/abc+", "Mozilla/5.0").await;
    assert_eq!(status, 200);
    assert!(
        text.contains("https://example.org/page") && text.contains("A &lt;b&gt;title"),
        "{text}"
    );
    let crawler = "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)";
    let (status, text) = page(&lab, "/abc", crawler).await;
    assert_eq!(status, 200);
    assert!(text.contains("og:title") && !text.contains("<b>title"), "{text}");
    assert_eq!(total(&lab, ["Pages", "ClicksSent"]).await, [2, 1], "only the card counts");
}

#[tokio::test(start_paused = true)]
async fn a_host_of_its_own_has_links_of_its_own() {
    let lab = Lab::new();
    seed(&lab, "", "abc", &[]).await;
    seed(&lab, "go.example.com", "abc", &[("to", s("https://example.com/theirs"))]).await;
    for (host, status, location) in [
        ("localhost:3000", 302, "https://example.org/page"),
        ("GO.example.com:443", 302, "https://example.com/theirs"),
        ("other.example.com", 404, ""),
    ] {
        let answer = lab.call(Method::GET, "/abc").header("host", host).send().await;
        lab.cloud.functions.quiesce().await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("location")),
            (status, location),
            "{host}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_query_goes_along_and_no_line_break_reaches_a_header() {
    let lab = Lab::new();
    seed(&lab, "", "fwd", &[("forward_query", AttributeValue::Bool(true))]).await;
    seed(&lab, "", "bad", &[("to", s("https://example.org/\r\nset-cookie: a=1\u{7f}ä"))]).await;
    let forwarded = follow(&lab, "/fwd?utm=1&x=%0d%0a").await;
    assert_eq!(forwarded.header("location"), "https://example.org/page?utm=1&x=%0d%0a");
    let bad = follow(&lab, "/bad").await;
    let location = "https://example.org/%0D%0Aset-cookie:%20a=1%7F%C3%A4";
    assert_eq!((bad.header("location"), bad.header("set-cookie")), (location, ""));
}

#[tokio::test(start_paused = true)]
async fn a_visitor_of_a_split_link_keeps_to_one_way() {
    let lab = Lab::new();
    let way = |url: &str, weight| {
        AttributeValue::M(HashMap::from([("u".to_owned(), s(url)), ("w".to_owned(), n(weight))]))
    };
    let ways =
        AttributeValue::L(vec![way("https://example.org/a", 1), way("https://example.org/b", 1)]);
    seed(&lab, "", "split", &[("ways", ways)]).await;
    let mut taken: HashMap<String, u32> = HashMap::new();
    for visitor in 0..40 {
        let agent = format!("Mozilla/5.0 visitor {visitor}");
        let visit = || lab.call(Method::GET, "/split").header("user-agent", &agent).send();
        let first = visit().await;
        lab.cloud.functions.go_cold();
        let second = visit().await;
        assert_eq!(first.header("location"), second.header("location"), "{agent}");
        *taken.entry(first.header("location").to_owned()).or_default() += 1;
    }
    assert!(taken.len() == 2 && taken.values().all(|&count| count > 8), "{taken:?}");
}
