//! `Idempotency-Key` on a link that its caller has already.

use http::Method;
use serde_json::json;
use tests::Lab;

#[tokio::test(start_paused = true)]
async fn a_key_that_found_a_link_finds_it_again_at_once() {
    let lab = Lab::new();
    let key = lab.user("ada", &["member"]).await;
    let body = json!({ "longUrl": "https://example.org/page" });
    let ask = || lab.call(Method::POST, "/api/v1/shorten").by(&key).json(&body);
    let made = ask().send().await;
    assert_eq!(made.status, 201);
    for _ in 0..2 {
        let again = ask().header("idempotency-key", "once").send().await;
        assert_eq!(again.status, 200, "{}", again.body);
        assert_eq!(again.text("shortCode"), made.text("shortCode"));
    }
}
