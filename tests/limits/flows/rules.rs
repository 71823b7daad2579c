//! `/admin/ratelimits`: rules from being made to being forgotten, and who may decide on them.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, root_key};

use super::{RULES, ask, decide, delete, per_user, put, settle, usage};

const THINGS: &str = "/admin/ratelimits/things";

#[tokio::test(start_paused = true)]
async fn a_rule_is_made_read_replaced_and_deleted() {
    let lab = Lab::new();
    assert_eq!(lab.get(THINGS).await.status, 404);
    let mut body = per_user("/things/{id}", 3);
    body["methods"] = json!(["POST"]);
    body["description"] = json!("Few things.");
    let made = put(&lab, THINGS, &body).await;
    assert_eq!((made.status.as_u16(), made.header("location")), (201, THINGS));
    assert_eq!(made.header("etag"), "\"1\"");
    let expected = json!({
        "id": "things", "resources": ["/things/{id}"], "methods": ["POST"], "dimension": "user",
        "anonymousOnly": false, "algorithm": "fixed-window", "limit": 3, "windowSeconds": 60,
        "burst": null, "mode": "enforce", "onFailure": "open", "description": "Few things.",
        "version": 1, "changedBy": "root", "changedAt": "2026-03-01T12:00:00Z",
    });
    assert_eq!(made.body, expected);
    let read = lab.get(THINGS).await;
    assert_eq!((read.header("etag"), &read.body), ("\"1\"", &expected));

    body["limit"] = json!(4);
    let replaced = put(&lab, THINGS, &body).await;
    assert_eq!((replaced.status.as_u16(), replaced.header("etag")), (200, "\"2\""));
    assert_eq!(lab.get(THINGS).await.body["limit"], 4);

    assert_eq!(delete(&lab, THINGS).await.status, 204);
    assert_eq!(lab.get(THINGS).await.status, 404);
    assert_eq!(delete(&lab, THINGS).await.status, 404);
}

#[tokio::test(start_paused = true)]
async fn a_change_of_another_version_than_the_one_that_was_read_is_refused() {
    let lab = Lab::new();
    let with = |method: Method, version: &'static str, limit: i64| {
        let call = lab.call(method, THINGS).by(&root_key()).header("if-match", version);
        call.json(&per_user("/things", limit)).send()
    };
    assert_eq!(with(Method::PUT, "\"1\"", 1).await.status, 412, "there is none");
    assert_eq!(put(&lab, THINGS, &per_user("/things", 2)).await.status, 201);
    assert_eq!(with(Method::PUT, "\"1\"", 3).await.status, 200);
    for (method, version) in
        [(Method::PUT, "\"1\""), (Method::PUT, "new"), (Method::DELETE, "\"1\"")]
    {
        assert_eq!(with(method, version, 4).await.status, 412, "{version}");
    }
    assert_eq!(lab.get(THINGS).await.body["limit"], 3, "what was refused changed nothing");
    assert_eq!(with(Method::DELETE, "\"2\"", 0).await.status, 204);
}

#[tokio::test(start_paused = true)]
async fn of_many_changes_to_one_version_one_is_made() {
    let lab = Lab::new();
    put(&lab, THINGS, &per_user("/things", 1)).await;
    let change = |limit: i64| {
        let call = lab.call(Method::PUT, THINGS).by(&root_key()).header("if-match", "\"1\"");
        call.json(&per_user("/things", limit)).send()
    };
    let answers = futures::future::join_all((10..30).map(change)).await;
    assert_eq!((super::count(&answers, 200), super::count(&answers, 412)), (1, 19));
    let winner = answers.iter().find(|answer| answer.status == 200).unwrap();
    assert_eq!(lab.get(THINGS).await.body, winner.body);
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_comes_with_the_program_is_changed_deleted_and_had_back() {
    let lab = Lab::new();
    let path = format!("{RULES}/ids-minute");
    let read = lab.get(&path).await;
    assert_eq!((&read.body["limit"], &read.body["version"]), (&json!(6_000), &json!(0)));
    assert_eq!((&read.body["changedBy"], read.header("etag")), (&Value::Null, "\"0\""));
    let lower = json!({
        "resources": ["/api/v1/ids"], "dimension": "user", "limit": 2, "windowSeconds": 60,
    });
    assert_eq!(put(&lab, &path, &lower).await.status, 200);
    settle(&lab, 6).await;
    let make = || lab.call(Method::POST, "/api/v1/ids").by(&root_key()).send();
    let statuses = [make().await, make().await, make().await].map(|it| it.status.as_u16());
    assert_eq!(statuses, [200, 200, 429]);

    assert_eq!(delete(&lab, &path).await.status, 204);
    assert_eq!(lab.get(&path).await.status, 404);
    assert_eq!(delete(&lab, &path).await.status, 404);
    settle(&lab, 6).await;
    let free = make().await;
    assert_eq!((free.status.as_u16(), free.header("x-ratelimit-limit")), (200, "6000"));
    assert!(free.header("ratelimit").contains("user-minute"), "what holds where nothing else does");

    let back = put(&lab, &path, &lower).await;
    assert_eq!((back.status.as_u16(), back.header("etag")), (201, "\"3\""));
}

#[tokio::test(start_paused = true)]
async fn rules_are_listed_by_id_and_by_what_they_apply_to() {
    let lab = Lab::new();
    put(&lab, THINGS, &per_user("/things/{id}", 3)).await;
    put(&lab, &format!("{RULES}/all-things"), &per_user("/things/{*rest}", 9)).await;
    let list = |query: &str| {
        let path = format!("{RULES}{query}");
        let lab = lab.clone();
        async move {
            let rules = lab.get(&path).await.body["rules"].clone();
            let ids = rules.as_array().unwrap().iter().map(|rule| rule["id"].clone());
            ids.map(|id| id.as_str().unwrap().to_owned()).collect::<Vec<_>>()
        }
    };
    let all = list("").await;
    assert!(all.is_sorted(), "{all:?}");
    for id in ["things", "all-things", "ids-minute", "anonymous-links-hour"] {
        assert!(all.iter().any(|it| it == id), "{id} is not in {all:?}");
    }
    assert_eq!(list("?resource=/things/1").await, ["things"], "the nearest has the word");
    assert_eq!(list("?resource=/things/1/2").await, ["all-things"]);
    let shorten = list("?resource=/api/v1/shorten").await;
    for id in ["anonymous-links-day", "anonymous-links-hour", "links-hour", "user-minute"] {
        assert!(shorten.iter().any(|it| it == id), "{id} is not in {shorten:?}");
    }
    assert_eq!(list("?resource=/health").await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn what_was_used_stays_used_when_the_limit_changes() {
    let lab = Lab::new();
    decide(&lab, THINGS, &per_user("/things", 5)).await;
    for _ in 0..4 {
        assert_eq!(ask(&lab, "ada", "/things").await.status, 200);
    }
    decide(&lab, THINGS, &per_user("/things", 3)).await;
    assert_eq!(ask(&lab, "ada", "/things").await.status, 429);
    decide(&lab, THINGS, &per_user("/things", 6)).await;
    let rest = [ask(&lab, "ada", "/things").await, ask(&lab, "ada", "/things").await];
    assert_eq!(super::count(&rest, 200), 2);
    assert_eq!(ask(&lab, "ada", "/things").await.status, 429);
    let used = usage(&lab, "ada", "/things", "things").await;
    assert_eq!((&used["used"], &used["remaining"]), (&json!(6), &json!(0)));
}
