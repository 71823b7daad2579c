//! The same for links: making, changing, following, counting and scanning them.

use std::time::Duration;

use domain::links::{Click, ClickBatch};
use http::Method;
use local::faults::Fault;
use queues::NewMessage;
use serde_json::{Value, json};
use tests::{Lab, root_key};

use crate::clicks;
use crate::faults::crash_points::sweep;
use crate::items::{Item, number, text};

const URL: &str = "https://example.org/page";
const NEW_URL: &str = "https://example.org/new";
const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/// Who makes a link, and with what care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Creator {
    Anonymous,
    AnonymousWithKey,
    User,
    UserWithKey,
    UserAliasWithKey,
}

#[test]
fn no_call_of_a_creation_can_fail_in_a_way_that_loses_or_doubles_a_link() {
    for (creator, least) in [
        (Creator::Anonymous, 5),
        (Creator::AnonymousWithKey, 6),
        (Creator::User, 5),
        (Creator::UserWithKey, 6),
        (Creator::UserAliasWithKey, 5),
    ] {
        sweep(&format!("make a link as {creator:?}"), least, |nth, fault| {
            strike_creation(creator, nth, fault)
        });
    }
}

#[test]
fn no_call_of_a_change_can_fail_in_a_way_that_loses_or_doubles_it() {
    sweep("amend a link", 2, |nth, fault| strike_change(Method::PATCH, nth, fault));
    sweep("delete a link", 2, |nth, fault| strike_change(Method::DELETE, nth, fault));
}

#[test]
fn no_call_of_a_count_can_fail_in_a_way_that_loses_or_doubles_a_click() {
    sweep("count two messages", 12, strike_count);
}

#[test]
fn no_call_of_a_redirect_can_fail_in_a_way_that_doubles_a_click() {
    sweep("follow a link", 4, strike_redirect);
}

#[test]
fn no_call_of_a_scan_can_fail_in_a_way_that_lasts() {
    sweep("scan the links", 5, strike_scan);
}

/// Lets messages arrive: twice longer than one can be in flight.
async fn settle(lab: &Lab) {
    for _ in 0..2 {
        lab.advance_seconds(200);
        lab.cloud.settle().await;
    }
}

async fn links(lab: &Lab) -> Vec<Item> {
    let rows = clicks::rows(lab).await;
    rows.into_iter().filter(|item| text(item, "sk") == "link").collect()
}

async fn strike_creation(creator: Creator, nth: u64, fault: Fault) -> bool {
    let (lab, key) = Lab::with_member().await;
    let mut body = json!({ "longUrl": URL });
    if creator == Creator::UserAliasWithKey {
        body["customAlias"] = json!("my-name");
    }
    lab.cloud.faults.inject(nth, fault);
    let mut call = lab.call(Method::POST, "/api/v1/shorten").json(&body);
    if !matches!(creator, Creator::Anonymous | Creator::User) {
        call = call.header("idempotency-key", "once");
    }
    if !matches!(creator, Creator::Anonymous | Creator::AnonymousWithKey) {
        call = call.by(&key);
    }
    let answer = call.send_until_answered().await;
    let struck = lab.stop_faults();
    let context = format!("{creator:?}, call {nth}, {fault:?}: {}", answer.body);
    // A user who asks again without a key meets the link that the first try made.
    let had = creator == Creator::User && fault == Fault::CrashAfter;
    assert!(answer.status == 201 || (had && answer.status == 200), "{context}");
    let links = links(&lab).await;
    // Anonymous requests can't be told apart, so one whose answer was lost leaves a link behind.
    let most = if creator == Creator::Anonymous && fault == Fault::CrashAfter { 2 } else { 1 };
    assert!((1..=most).contains(&links.len()), "{context}: {links:?}");
    let code = answer.text("shortCode");
    let made = links.iter().find(|item| text(item, "code") == code).unwrap();
    assert_eq!((text(made, "long_url"), number(made, "v")), (URL, Some(1)), "{context}");
    let visit = lab.call(Method::GET, &format!("/{code}")).send().await;
    assert_eq!(visit.header("location"), URL, "{context}");
    struck
}

/// A link that Ada made, and its code.
async fn lab_with_a_link(more: Value) -> (Lab, String, String) {
    let (lab, key) = Lab::with_member().await;
    let mut body = more;
    body["longUrl"] = json!(URL);
    let made = lab.call(Method::POST, "/api/v1/shorten").by(&key).json(&body).send().await;
    assert_eq!(made.status, 201, "{}", made.body);
    let code = made.text("shortCode").to_owned();
    (lab, key, code)
}

async fn strike_change(method: Method, nth: u64, fault: Fault) -> bool {
    let (lab, key, code) = lab_with_a_link(json!({})).await;
    let path = format!("/api/v1/url/{code}");
    lab.cloud.faults.inject(nth, fault);
    let mut call = lab.call(method.clone(), &path).by(&key).header("if-match", "\"1\"");
    if method == Method::PATCH {
        call = call.json(&json!({ "longUrl": NEW_URL }));
    }
    let answer = call.send_until_answered().await;
    let struck = lab.stop_faults();
    let context = format!("{method}, call {nth}, {fault:?}: {}", answer.body);
    // Who asks again meets the version that the first try made.
    let moved = fault == Fault::CrashAfter && answer.status == 412;
    assert!(answer.status.is_success() || moved, "{context}");
    let links = links(&lab).await;
    assert_eq!((links.len(), number(&links[0], "v")), (1, Some(2)), "{context}");
    let visit = lab.call(Method::GET, &format!("/{code}")).send().await;
    if method == Method::PATCH {
        assert_eq!(visit.header("location"), NEW_URL, "{context}");
    } else {
        assert_eq!(visit.status, 404, "{context}");
    }
    struck
}

fn click(lab: &Lab, code: &str, visitor: u64) -> Click {
    Click {
        domain: String::new(),
        code: code.to_owned(),
        at: lab.now(),
        visitor: visitor << 40,
        head: false,
        user_agent: Some(FIREFOX.to_owned()),
        referrer: Some("news.example".to_owned()),
        country: Some("FR".to_owned()),
        variant: None,
        limited: true,
    }
}

/// Two messages about a link that ends after three clicks, and about another one.
async fn strike_count(nth: u64, fault: Fault) -> bool {
    let (lab, _, code) = lab_with_a_link(json!({ "maxClicks": 3 })).await;
    let mut mappings = lab.cloud.pump.mappings().iter();
    let mapping = mappings.find(|mapping| mapping.function == "CountClicks").unwrap();
    let batches = [("one", [1, 2, 3]), ("two", [3, 4, 5])].map(|(id, visitors)| {
        let mut clicks: Vec<Click> =
            visitors.iter().map(|visitor| click(&lab, &code, *visitor)).collect();
        clicks.push(click(&lab, "other", 6));
        ClickBatch { id: id.to_owned(), clicks }
    });
    for batch in &batches {
        let message = NewMessage::text(batch.to_json().unwrap());
        lab.cloud.services.queues().send(&mapping.queue, &message).unwrap();
    }
    lab.cloud.faults.inject(nth, fault);
    let turn = lab.cloud.pump.poll(mapping).await;
    assert_eq!(turn.received, 2);
    let struck = lab.stop_faults();
    settle(&lab).await;
    let rows = clicks::rows(&lab).await;
    let context = format!("call {nth}, {fault:?}");
    let batches = batches.into_iter().map(|batch| (batch.id.clone(), batch)).collect();
    clicks::check_counts(&lab, &rows, &batches)
        .map_err(|lost| format!("{context}: {lost}"))
        .unwrap();
    let link = rows.iter().find(|item| text(item, "sk") == "link").unwrap();
    let spent = link.contains_key("spent_at");
    assert_eq!((spent, number(link, "v")), (true, Some(2)), "{context}");
    struck
}

/// A visit from a cold start to the end of the instance, then another one.
async fn strike_redirect(nth: u64, fault: Fault) -> bool {
    let (lab, _, code) = lab_with_a_link(json!({})).await;
    clicks::record_sends(&lab);
    lab.cloud.functions.go_cold();
    lab.cloud.faults.inject(nth, fault);
    let mut led = 0;
    for _ in 0..2 {
        let call = lab.call(Method::GET, &format!("/{code}"));
        let visit = call.header("user-agent", FIREFOX).send().await;
        lab.cloud.functions.quiesce().await;
        led += usize::from(visit.status == 302);
        lab.clock.advance_ms(1_500);
    }
    lab.cloud.functions.retire(Duration::ZERO).await;
    let struck = lab.stop_faults();
    settle(&lab).await;
    let batches = clicks::batches(&clicks::messages(&lab));
    let counted: usize = batches.values().map(|batch| batch.clicks.len()).sum();
    let context = format!("call {nth}, {fault:?}: {led} led, {counted} counted");
    // What an instance holds when it dies is lost, and nothing else is.
    let lost = usize::from(matches!(fault, Fault::CrashBefore | Fault::CrashAfter));
    assert!(led >= 1 && (led - lost..=led).contains(&counted), "{context}");
    let rows = clicks::rows(&lab).await;
    clicks::check_counts(&lab, &rows, &batches)
        .map_err(|lost| format!("{context}: {lost}"))
        .unwrap();
    struck
}

/// The scan meets two links to a destination that was blocked since.
async fn strike_scan(nth: u64, fault: Fault) -> bool {
    let (lab, key, code) = lab_with_a_link(json!({})).await;
    let other = json!({ "longUrl": URL, "customAlias": "other" });
    lab.call(Method::POST, "/api/v1/shorten").by(&key).json(&other).send().await;
    let entry = json!({ "host": "example.org", "reason": "phishing" });
    let call = lab.call(Method::POST, "/api/v1/blocklist").by(&root_key());
    assert_eq!(call.json(&entry).send().await.status, 201);
    lab.cloud.faults.inject(nth, fault);
    lab.run_schedule("SweepLinks").await;
    let struck = lab.stop_faults();
    lab.run_until_idle().await;
    for code in [code.as_str(), "other"] {
        let visit = lab.call(Method::GET, &format!("/{code}")).send().await;
        assert_eq!(visit.status, 451, "call {nth}, {fault:?}");
    }
    let links = links(&lab).await;
    let versions: Vec<_> = links.iter().map(|link| number(link, "v")).collect();
    assert_eq!(versions, [Some(2), Some(2)], "call {nth}, {fault:?}: blocked once");
    struck
}
