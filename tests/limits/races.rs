//! Many callers, one winner.

use futures::future::join_all;
use http::Method;
use serde_json::json;
use tests::Lab;

const SHORTEN: &str = "/api/v1/shorten";

#[tokio::test(start_paused = true)]
async fn of_a_hundred_and_fifty_at_once_from_one_address_a_hundred_are_let_in() {
    let lab = Lab::new();
    let call = || lab.call(Method::POST, SHORTEN).json(&json!({ "longUrl": "https://a.example/" }));
    let answers = join_all((0..150).map(|_| call().send())).await;
    let count = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
    assert_eq!((count(201), count(429)), (100, 50));
}
