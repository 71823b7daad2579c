//! The quotas that a deployment starts with, end to end and on several nodes.

use http::Method;
use serde_json::{Value, json};
use tests::Lab;

use super::{RULES, check, count, decide, on_each, settle};

#[tokio::test(start_paused = true)]
async fn an_account_asks_six_hundred_times_a_minute_about_accounts_on_any_node() {
    let (lab, key) = Lab::with_member().await;
    let other = lab.user("eve", &["member"]).await;
    let me = || lab.call(Method::GET, "/api/v1/me").by(&key).send();
    let mut passed = 0;
    for round in 0..200 {
        let answers = on_each(&lab, 4, me).await;
        let through = count(&answers, 200);
        assert_eq!(through + count(&answers, 429), 4, "round {round}");
        passed += through;
        lab.clock.advance_ms(50);
    }
    assert!(passed <= 600, "{passed} passed");
    assert!(passed >= 570, "{passed} passed, although six hundred may");
    lab.call(Method::GET, "/api/v1/me").by(&other).send().await.assert_status(200);
}

#[tokio::test(start_paused = true)]
async fn over_many_minutes_never_more_pass_than_the_window_allows() {
    let (lab, key) = Lab::with_member().await;
    decide(&lab, &format!("{RULES}/overrides/user/ada/accounts-minute"), &json!({ "limit": 150 }))
        .await;
    lab.clock.advance_ms(60_000 - lab.clock.now_ms() % 60_000);
    let me = || lab.call(Method::GET, "/api/v1/me").by(&key).send();
    let mut seconds: Vec<usize> = Vec::new();
    for _ in 0..4 * 60 {
        seconds.push(count(&on_each(&lab, 4, me).await, 200));
        lab.advance_seconds(1);
    }
    let minutes: Vec<usize> = seconds.chunks(60).map(|minute| minute.iter().sum()).collect();
    assert!(minutes.iter().all(|passed| (143..=150).contains(passed)), "{minutes:?}");
    // From the second minute on a minute that straddles two of the clock's has what one has, but for
    // what the first took all at once: the counter takes it for evenly spread.
    for (second, straddling) in seconds.windows(60).enumerate().skip(60) {
        let passed: usize = straddling.iter().sum();
        assert!(passed <= 158, "{passed} from second {second} on");
    }
}

#[tokio::test(start_paused = true)]
async fn a_small_quota_is_exact_on_every_function_and_many_nodes() {
    let (lab, key) = Lab::with_member().await;
    let link = json!({ "longUrl": "https://example.org/", "reuse": false });
    for (rule, method, path) in [
        ("ids-minute", Method::POST, "/api/v1/ids"),
        ("accounts-minute", Method::GET, "/api/v1/me"),
        ("links-hour", Method::POST, "/api/v1/shorten"),
        ("user-minute", Method::GET, "/api/v1/urls"),
    ] {
        decide(&lab, &format!("{RULES}/overrides/user/ada/{rule}"), &json!({ "limit": 20 })).await;
        let call = || lab.call(method.clone(), path).by(&key).json(&link).send();
        let mut answers = Vec::new();
        for _ in 0..5 {
            answers.extend(on_each(&lab, 8, call).await);
        }
        let passed = answers.iter().filter(|answer| answer.status.is_success()).count();
        assert_eq!((passed, count(&answers, 429)), (20, 20), "{rule}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_quota_that_is_there_from_the_start_holds() {
    let lab = Lab::new();
    let user = || json!({ "userId": "ada" });
    let key = || json!({ "apiKey": "k1" });
    let address = || json!({ "clientIp": "192.0.2.7" });
    for (who, method, path, rule, limit) in [
        (address(), "POST", "/api/v1/shorten", "anonymous-links-day", 100),
        (user(), "POST", "/api/v1/shorten", "links-hour", 10_000),
        (address(), "POST", "/api/v1/url/abc/report", "reports-hour", 20),
        (user(), "POST", "/api/v1/url/abc/report", "user-reports-hour", 20),
        (user(), "POST", "/api/v1/posts", "posts-day", 1_000),
        (user(), "GET", "/api/v1/feed", "feed-hour", 10_000),
        (key(), "POST", "/api/v1/notifications", "notifications-minute", 1_000),
        (user(), "POST", "/api/v1/ids", "ids-minute", 6_000),
        (user(), "GET", "/api/v1/accounts/ada/keys", "accounts-minute", 600),
        (user(), "GET", "/anything", "user-minute", 6_000),
        (address(), "GET", "/api/v1/anything", "address-minute", 1_200),
    ] {
        let body = |tokens: i64| {
            let mut body: Value = who.clone();
            body["resource"] = json!(path);
            body["method"] = json!(method);
            body["tokens"] = json!(tokens);
            body
        };
        let all = check(&lab, &body(limit)).await;
        assert_eq!(all.status, 200, "{rule}: {}", all.body);
        let more = check(&lab, &body(1)).await;
        assert_eq!((more.status.as_u16(), more.text("rule")), (429, rule), "{rule}");
        assert_eq!(more.body["limit"], limit, "{rule}");
        settle(&lab, 1).await;
    }
}
