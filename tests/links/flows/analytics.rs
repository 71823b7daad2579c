//! What is counted of real visits, each message delivered twice.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, Response, Setup};

use super::{CHROME, assert_names, code, get, plain, shorten, wait_out_cache};

const FIREFOX: &str = "Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0";
const SAFARI: &str = "Mozilla/5.0 (iPad; CPU OS 12_5_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, \
                      like Gecko) Version/12.1.2 Mobile/15E148 Safari/604.1";
const GOOGLEBOT: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
const SLACKBOT: &str = "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)";

/// Who visits, from where and how.
#[derive(Clone, Copy)]
struct Visitor {
    address: &'static str,
    agent: &'static str,
    country: &'static str,
    referrer: &'static str,
}

const ANN: Visitor = Visitor { address: "192.0.2.1", agent: CHROME, country: "DE", referrer: "" };

/// Hands over everything that waits, twice: the copy of each message arrives with it.
pub(super) async fn deliver_twice(lab: &Lab) {
    lab.cloud.functions.retire(std::time::Duration::ZERO).await;
    let queues = lab.cloud.services.queues();
    let mut copied = 0;
    for mapping in lab.cloud.pump.mappings() {
        for message in queues.receive(&mapping.queue, 1000, Some(0)).unwrap() {
            queues.send(&mapping.queue, &queues::NewMessage::text(message.body)).unwrap();
            copied += 1;
        }
    }
    assert!(copied > 0, "nothing was sent");
    assert!(lab.cloud.settle().await >= 2 * copied);
}

fn behind_cloudfront() -> Lab {
    Lab::with_parameters(Setup::default(), &[("ViewerHeaders", "cloudfront")])
}

async fn visit_as(lab: &Lab, link: &str, visitor: Visitor) {
    let call = lab.call(Method::GET, &format!("/{link}")).header("user-agent", visitor.agent);
    let call = call.header("cloudfront-viewer-address", &format!("{}:443", visitor.address));
    let call = call.header("cloudfront-viewer-country", visitor.country);
    let call =
        if visitor.referrer.is_empty() { call } else { call.header("referer", visitor.referrer) };
    call.send().await;
    lab.cloud.functions.quiesce().await;
    lab.clock.advance_ms(1_500);
}

async fn analytics(lab: &Lab, link: &str, key: &str, query: &str) -> Response {
    let answer = get(lab, &format!("/api/v1/url/{link}/analytics{query}"), key).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer
}

fn shares(answer: &Response, by: &str) -> Value {
    let items = answer.body[by].as_array().unwrap();
    items.iter().map(|item| json!([item["name"], item["clicks"]])).collect()
}

#[tokio::test(start_paused = true)]
async fn people_robots_and_previews_are_told_apart_and_people_broken_down() {
    let lab = behind_cloudfront();
    let ada = lab.user("ada", &["member"]).await;
    let link = code(&lab, &ada, &plain("https://example.org/")).await;
    let bob = Visitor {
        address: "192.0.2.2",
        agent: FIREFOX,
        country: "FR",
        referrer: "https://news.example/path?q=1",
    };
    let cyd = Visitor { address: "2001:db8::1", agent: SAFARI, ..bob };
    let robot = Visitor { agent: GOOGLEBOT, ..ANN };
    let card = Visitor { agent: SLACKBOT, ..ANN };
    for visitor in [ANN, ANN, bob, cyd, robot, robot, robot, card, card] {
        visit_as(&lab, &link, visitor).await;
    }
    deliver_twice(&lab).await;
    let seen = analytics(&lab, &link, &ada, "").await;
    assert_eq!(seen.text("shortCode"), link);
    for (name, count) in [("clicks", 4), ("uniqueVisitors", 3), ("bots", 3), ("previews", 2)] {
        assert_eq!(seen.body[name], count, "{name}: {}", seen.body);
    }
    assert_eq!(shares(&seen, "byCountry"), json!([["DE", 2], ["FR", 2]]));
    assert_eq!(shares(&seen, "byReferrer"), json!([["direct", 2], ["news.example", 2]]));
    assert_eq!(shares(&seen, "byDevice"), json!([["desktop", 2], ["mobile", 1], ["tablet", 1]]));
    assert_eq!(shares(&seen, "byBrowser"), json!([["Chrome", 2], ["Firefox", 1], ["Safari", 1]]));
    assert_eq!(shares(&seen, "byVariant"), json!([]));
    assert_eq!(shares(&seen, "byHour"), json!([["12", 4]]));
    let read = get(&lab, &format!("/api/v1/url/{link}"), &ada).await;
    let totals = ["clicks", "bots", "previews"].map(|name| read.body[name].clone());
    assert_eq!(totals, [json!(4), json!(3), json!(2)]);
}

#[tokio::test(start_paused = true)]
async fn without_cloudfront_its_headers_do_not_count() {
    let (lab, ada) = Lab::with_member().await;
    let link = code(&lab, &ada, &plain("https://example.org/")).await;
    visit_as(&lab, &link, ANN).await;
    visit_as(&lab, &link, Visitor { address: "192.0.2.77", ..ANN }).await;
    deliver_twice(&lab).await;
    let seen = analytics(&lab, &link, &ada, "").await;
    assert_eq!(shares(&seen, "byCountry"), json!([["unknown", 2]]));
    assert_eq!(seen.body["uniqueVisitors"], 1, "both came from the same address");
}

#[tokio::test(start_paused = true)]
async fn days_are_told_apart_and_a_visitor_of_two_days_counts_twice() {
    let lab = behind_cloudfront();
    let ada = lab.user("ada", &["member"]).await;
    let link = code(&lab, &ada, &plain("https://example.org/")).await;
    for day in 0..4 {
        for _ in 0..=day {
            visit_as(&lab, &link, ANN).await;
        }
        deliver_twice(&lab).await;
        if day < 3 {
            lab.advance_seconds(24 * 3600);
        }
    }
    let seen = analytics(&lab, &link, &ada, "?period=3d").await;
    assert_eq!((seen.text("from"), seen.text("to")), ("2026-03-02", "2026-03-04"));
    let dates: Vec<_> = seen.body["byDate"]
        .as_array()
        .unwrap()
        .iter()
        .map(|date| json!([date["date"], date["clicks"], date["uniqueVisitors"]]))
        .collect();
    assert_eq!(
        json!(dates),
        json!([["2026-03-02", 2, 1], ["2026-03-03", 3, 1], ["2026-03-04", 4, 1]])
    );
    assert_eq!((&seen.body["clicks"], &seen.body["uniqueVisitors"]), (&json!(9), &json!(3)));
    for (period, clicks, days) in [("24h", 4, 1), ("1w", 10, 7), ("1m", 10, 30), ("2y", 10, 730)] {
        let seen = analytics(&lab, &link, &ada, &format!("?period={period}")).await;
        assert_eq!(seen.body["clicks"], clicks, "{period}");
        assert_eq!(seen.body["byDate"].as_array().unwrap().len(), days, "{period}");
    }
    lab.advance_seconds(7 * 24 * 3600);
    let quiet = analytics(&lab, &link, &ada, "").await;
    assert_eq!((&quiet.body["clicks"], &quiet.body["uniqueVisitors"]), (&json!(0), &json!(0)));
    let wrong = get(&lab, &format!("/api/v1/url/{link}/analytics?period=9z"), &ada).await;
    assert_names(&wrong, "period", &json!("9z"));
}

#[tokio::test(start_paused = true)]
async fn many_visitors_are_estimated_within_two_per_cent() {
    let lab = behind_cloudfront();
    let ada = lab.user("ada", &["member"]).await;
    let link = code(&lab, &ada, &plain("https://example.org/")).await;
    for n in 0..600_u32 {
        let address = format!("198.51.{}.{}:443", n / 250, n % 250);
        let call = lab.call(Method::GET, &format!("/{link}")).header("user-agent", CHROME);
        call.header("cloudfront-viewer-address", &address).send().await;
        lab.clock.advance_ms(40);
    }
    deliver_twice(&lab).await;
    let seen = analytics(&lab, &link, &ada, "").await;
    assert_eq!(seen.body["clicks"], 600);
    let visitors = seen.body["uniqueVisitors"].as_u64().unwrap();
    assert!((588..=612).contains(&visitors), "{visitors}");
}

#[tokio::test(start_paused = true)]
async fn each_way_of_a_split_link_has_its_clicks() {
    let lab = behind_cloudfront();
    let ada = lab.user("ada", &["member"]).await;
    let body = json!({ "longUrl": "https://example.org/", "variants": [
        { "url": "https://example.org/a", "weight": 1 },
        { "url": "https://example.org/b", "weight": 1 },
    ] });
    let link = shorten(&lab, &ada, &body).await.text("shortCode").to_owned();
    let mut taken = [0, 0];
    for n in 0..30 {
        let call = lab.call(Method::GET, &format!("/{link}")).header("user-agent", CHROME);
        let answer =
            call.header("cloudfront-viewer-address", &format!("192.0.2.{n}:1")).send().await;
        taken[usize::from(answer.header("location").ends_with('b'))] += 1;
        lab.clock.advance_ms(200);
    }
    deliver_twice(&lab).await;
    let seen = analytics(&lab, &link, &ada, "").await;
    let mut expected = vec![json!(["0", taken[0]]), json!(["1", taken[1]])];
    if taken[1] > taken[0] {
        expected.reverse();
    }
    assert_eq!(shares(&seen, "byVariant"), json!(expected));
    assert_eq!(seen.body["clicks"], 30);
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_one_visitor_is_a_robots_doing() {
    let lab = behind_cloudfront();
    let ada = lab.user("ada", &["member"]).await;
    let link = code(&lab, &ada, &plain("https://example.org/")).await;
    for _ in 0..60 {
        let call = lab.call(Method::GET, &format!("/{link}")).header("user-agent", CHROME);
        call.header("cloudfront-viewer-address", "192.0.2.1:1").send().await;
        lab.cloud.functions.quiesce().await;
        lab.clock.advance_ms(5);
    }
    wait_out_cache(&lab);
    deliver_twice(&lab).await;
    let seen = analytics(&lab, &link, &ada, "").await;
    let (clicks, bots) =
        (seen.body["clicks"].as_u64().unwrap(), seen.body["bots"].as_u64().unwrap());
    assert_eq!(clicks + bots, 60);
    assert!(bots >= 40, "{bots} of 60");
}

#[tokio::test(start_paused = true)]
async fn a_batch_over_midnight_is_counted_on_both_days() {
    let (lab, ada) = Lab::with_member().await;
    let link = code(&lab, &ada, &plain("https://example.org/")).await;
    // The test begins at noon. The first click goes out alone, the next ones a second later and
    // together: some of today and about as many of tomorrow.
    lab.clock.advance_ms(12 * 3_600_000 - 600);
    for _ in 0..20 {
        super::visit(&lab, &link).await;
        lab.clock.advance_ms(60);
    }
    deliver_twice(&lab).await;
    let seen = analytics(&lab, &link, &ada, "?period=2d").await;
    let days: Vec<_> = (0..2).map(|day| seen.body["byDate"][day]["clicks"].clone()).collect();
    assert_eq!(days, [json!(10), json!(10)], "{}", seen.body);
    let read = get(&lab, &format!("/api/v1/url/{link}"), &ada).await;
    assert_eq!(read.body["clicks"], 20);
}
