//! `POST /api/v1/bulk/shorten`: up to a thousand, each answered on its own.

use serde_json::{Value, json};
use tests::Lab;

use super::{assert_names, counters, plain, post, redirect_of, rows, shorten, to};

const BULK: &str = "/api/v1/bulk/shorten";

#[tokio::test(start_paused = true)]
async fn a_thousand_are_answered_in_their_order_each_on_its_own() {
    let (lab, ada) = Lab::with_member().await;
    let had = json!({ "longUrl": "https://example.org/had" });
    let had_code = shorten(&lab, &ada, &had).await.text("shortCode").to_owned();
    let taken = json!({ "longUrl": "https://example.org/", "customAlias": "taken" });
    shorten(&lab, &ada, &taken).await;
    let wish = |n: usize| match n % 10 {
        1 => plain("http://127.0.0.1/"),
        2 => had.clone(),
        3 => taken.clone(),
        4 => json!({ "longUrl": "https://example.org/", "expiresAt": "tomorrow" }),
        5 => json!("nonsense"),
        6 => json!({ "longUrl": "https://example.org/", "domain": "go.example" }),
        _ => plain(&format!("https://example.org/{n}")),
    };
    let urls: Vec<Value> = (0..1_000).map(wish).collect();
    let answer = post(&lab, BULK, &ada, &json!({ "urls": urls })).await.assert_status(200);
    let sums = ["created", "reused", "failed"].map(|name| answer.body[name].as_u64().unwrap());
    assert_eq!(sums, [400, 100, 500]);
    let results = answer.body["results"].as_array().unwrap();
    assert_eq!(results.len(), 1_000);
    for (n, result) in results.iter().enumerate() {
        let (status, problem) = (&result["status"], &result["problem"]);
        match n % 10 {
            1 => assert_eq!(
                (status, &problem["errors"][0]["field"]),
                (&json!(422), &json!("longUrl"))
            ),
            2 => {
                assert_eq!((status, &result["link"]["shortCode"]), (&json!(200), &json!(had_code)));
            }
            3 => assert_eq!((status, &problem["status"]), (&json!(409), &json!(409))),
            4 => assert_eq!(
                (status, &problem["errors"][0]["field"]),
                (&json!(422), &json!("expiresAt"))
            ),
            5 => assert_eq!(status, 422),
            6 => assert_eq!((status, &problem["type"]), (&json!(404), &json!("/docs#not-found"))),
            _ => {
                assert_eq!((status, problem), (&json!(201), &Value::Null));
                assert_eq!(result["link"]["longUrl"], format!("https://example.org/{n}"));
            }
        }
    }
    assert_eq!(rows(&lab, "link#").await, 402);
    let code = results[999]["link"]["shortCode"].as_str().unwrap();
    assert_eq!(redirect_of(&lab, code).await, to("https://example.org/999"));
}

#[tokio::test(start_paused = true)]
async fn one_destination_in_one_request_is_one_link() {
    let (lab, ada) = Lab::with_member().await;
    let answer =
        post(&lab, BULK, &ada, &json!({ "urls": vec![plain("https://example.org/"); 40] })).await;
    assert_eq!((&answer.body["created"], &answer.body["reused"]), (&json!(1), &json!(39)));
    assert_eq!(rows(&lab, "link#").await, 1);
    let alias = json!({ "longUrl": "https://example.org/", "customAlias": "mine" });
    let answer = post(&lab, BULK, &ada, &json!({ "urls": [alias, alias] })).await;
    assert_eq!((&answer.body["created"], &answer.body["failed"]), (&json!(1), &json!(1)));
}

#[tokio::test(start_paused = true)]
async fn none_and_too_many_are_refused_as_a_whole() {
    let (lab, ada) = Lab::with_member().await;
    for urls in
        [json!([]), json!(vec![plain("https://example.org/"); 1_001]), json!("x"), Value::Null]
    {
        let body = json!({ "urls": urls });
        assert_names(&post(&lab, BULK, &ada, &body).await, "urls", &Value::Null);
    }
    assert_names(&post(&lab, BULK, &ada, &json!({})).await, "urls", &Value::Null);
    assert_eq!((rows(&lab, "link#").await, counters(&lab).await), (0, 0));
}
