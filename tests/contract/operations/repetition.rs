//! `Idempotency-Key`, wherever an operation takes it.

use tests::{Lab, RequestBuilder, Response};

use super::{SampledOperation, sampled_operations};

fn once<'l>(it: &SampledOperation, lab: &'l Lab, key: &str) -> RequestBuilder<'l> {
    it.call(lab).header("idempotency-key", key)
}

#[tokio::test(start_paused = true)]
async fn a_repetition_gets_the_first_answer_and_another_body_is_refused() {
    let mut repeated = 0;
    for it in sampled_operations() {
        if it.parameter("header", "Idempotency-Key").is_none() {
            continue;
        }
        let lab = Lab::new();
        let body = it.object().unwrap_or_else(|| panic!("{}: its sample has no body", it.name()));
        let send = async || once(&it, &lab, "first").json(&body).send().await;
        let first = send().await;
        let same = |answer: &Response| (answer.status, answer.body.clone());
        assert_eq!(same(&send().await), same(&first), "{}", it.name());
        // What was refused is not kept: the same key may be sent with what is right.
        if !first.status.is_success() {
            continue;
        }
        repeated += 1;
        let mut other = body.clone();
        let fields = other.as_object_mut().unwrap();
        let last = fields.keys().next_back().unwrap().clone();
        let text = fields.get(&last).and_then(serde_json::Value::as_str).map(str::to_owned);
        fields.insert(last, text.map_or(serde_json::Value::Null, |text| format!("{text}x").into()));
        let answer = once(&it, &lab, "first").json(&other).send().await;
        let refused = (answer.status.as_u16(), answer.text("type"));
        assert_eq!(
            refused,
            (422, "/docs#idempotency-key-reused"),
            "{}: {}",
            it.name(),
            answer.body
        );
        for wrong in ["", "two words", &"x".repeat(256)] {
            let answer = once(&it, &lab, wrong).json(&body).send().await;
            assert_eq!(answer.status, 422, "{} with {wrong:?}: {}", it.name(), answer.body);
            assert_eq!(answer.body["errors"][0]["field"], "Idempotency-Key", "{}", it.name());
        }
    }
    assert!(repeated >= 5, "{repeated}");
}
