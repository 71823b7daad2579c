//! Bodies that are too large, no JSON, of another shape, or say more than is known.

use serde_json::{Value, json};
use tests::{Lab, Response};

use super::sampled_operations;

fn fields(answer: &Response) -> Vec<&str> {
    let errors = answer.body["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    errors.iter().filter_map(|error| error["field"].as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_body_over_its_cap_is_refused_by_every_operation() {
    let lab = Lab::new();
    // A redirect reads no body.
    for it in sampled_operations().iter().filter(|it| it.operation.path != "/{code}") {
        let body = vec![b'a'; it.operation.max_body + 1];
        let answer = it.call(&lab).bytes(body).send().await;
        assert_eq!(answer.status, 413, "{}: {}", it.name(), answer.body);
        assert_eq!(answer.text("type"), "/docs#too-large", "{}", it.name());
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_no_json_or_of_another_shape_is_refused() {
    let lab = Lab::new();
    let mut tried = 0;
    for it in sampled_operations() {
        if it.object().is_none() {
            continue;
        }
        tried += 1;
        for (body, status) in [("{", 400), ("longUrl", 400), ("[[]]", 422), ("7", 422)] {
            let answer = it.call(&lab).bytes(body).send().await;
            assert_eq!(answer.status, status, "{} with {body}: {}", it.name(), answer.body);
            assert_eq!(answer.header("content-type"), "application/problem+json", "{}", it.name());
        }
    }
    assert!(tried >= 35, "{tried}");
}

#[tokio::test(start_paused = true)]
async fn a_field_that_is_not_known_is_named() {
    let lab = Lab::new();
    let mut tried = 0;
    for it in sampled_operations() {
        let Some(mut body) = it.object() else { continue };
        tried += 1;
        body["unheardOf"] = Value::Bool(true);
        let answer = it.call(&lab).json(&body).send().await;
        assert_eq!(answer.status, 422, "{}: {}", it.name(), answer.body);
        assert_eq!(fields(&answer), ["unheardOf"], "{}: {}", it.name(), answer.body);
    }
    assert!(tried >= 35, "{tried}");
}

#[tokio::test(start_paused = true)]
async fn a_field_of_another_type_is_named() {
    let lab = Lab::new();
    for it in sampled_operations() {
        let Some(body) = it.object() else { continue };
        let Some(first) = body.as_object().and_then(|body| body.keys().next()).cloned() else {
            continue;
        };
        let mut wrong = body.clone();
        wrong[&first] = json!([[[]]]);
        let answer = it.call(&lab).json(&wrong).send().await;
        // A payload may be anything.
        if answer.status.is_success() || answer.status == 404 {
            continue;
        }
        assert_eq!(answer.status, 422, "{}: {}", it.name(), answer.body);
        let named = fields(&answer);
        assert!(named.iter().any(|field| field.starts_with(&first)), "{}: {named:?}", it.name());
    }
}
