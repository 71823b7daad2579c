//! What goes through queues and topics; every message is delivered twice.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, root_key};

async fn first_key(lab: &Lab, user: &str) -> Value {
    lab.get(&format!("/api/v1/accounts/{user}/keys")).await.body["items"][0].clone()
}

/// Hands over everything that waits, twice: the copy of each message arrives later.
async fn settle_twice(lab: &Lab) {
    let queues = lab.cloud.services.queues();
    for mapping in lab.cloud.pump.mappings() {
        let waiting = queues.receive(&mapping.queue, 1000, Some(0)).unwrap();
        for message in waiting {
            let copy = queues::NewMessage {
                attributes: message.message_attributes.clone(),
                ..queues::NewMessage::text(message.body)
            };
            queues.send(&mapping.queue, &copy).unwrap();
        }
    }
    assert!(lab.cloud.settle().await >= 2);
}

#[tokio::test(start_paused = true)]
async fn the_hour_of_last_use_is_noted_once_an_hour() {
    let (lab, key) = Lab::with_member().await;
    let me = || lab.call(Method::GET, "/api/v1/me").by(&key).send();
    for _ in 0..5 {
        me().await;
        // An instance that still reports what was asked of it would leave the next one to another.
        lab.cloud.functions.quiesce().await;
        lab.advance_seconds(61);
    }
    let queue = lab.cloud.pump.mappings()[0].queue.clone();
    assert_eq!(lab.cloud.services.queues().depth(&queue).unwrap().visible, 1);
    settle_twice(&lab).await;
    assert_eq!(first_key(&lab, "ada").await["lastUsedAt"], "2026-03-01T12:00:00Z");
    lab.advance_seconds(3600);
    me().await;
    settle_twice(&lab).await;
    assert_eq!(first_key(&lab, "ada").await["lastUsedAt"], "2026-03-01T13:00:00Z");
}

#[tokio::test(start_paused = true)]
async fn disabling_an_account_marks_its_keys_through_the_topic() {
    let lab = Lab::new();
    lab.user("ada", &[]).await;
    lab.user("bob", &[]).await;
    lab.call(Method::DELETE, "/api/v1/accounts/ada").by(&root_key()).send().await;
    settle_twice(&lab).await;
    assert!(first_key(&lab, "ada").await["revokedAt"].is_string());
    assert!(first_key(&lab, "bob").await.get("revokedAt").is_none());
}

#[tokio::test(start_paused = true)]
async fn an_event_that_was_not_published_is_published_by_the_sweep() {
    let lab = Lab::new();
    lab.user("ada", &[]).await;
    // Reading the account, the transaction, then the publication: the third call is cut off, and so
    // are the SDK's retries of it.
    for nth in 2..20 {
        lab.cloud.faults.inject(nth, local::faults::Fault::CrashBefore);
        lab.call(Method::DELETE, "/api/v1/accounts/ada").by(&root_key()).send().await;
        if lab.get("/api/v1/accounts/ada").await.text("state") == "disabled" {
            break;
        }
    }
    lab.cloud.faults.stop();
    lab.cloud.settle().await;
    assert!(first_key(&lab, "ada").await.get("revokedAt").is_none());
    lab.advance_seconds(61);
    lab.sweep().await;
    settle_twice(&lab).await;
    assert!(first_key(&lab, "ada").await["revokedAt"].is_string());
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_message_ends_in_the_dead_letters_with_the_reason() {
    let lab = Lab::new();
    let queues = lab.cloud.services.queues().clone();
    let key = lab.user("ada", &[]).await;
    lab.call(Method::GET, "/api/v1/me").by(&key).send().await;
    let mapping = lab.cloud.pump.mappings()[0].clone();
    for poison in ["not json", "{\"type\":\"Other\"}", "{\"type\":\"KeyUsed\",\"v\":1}"] {
        queues.send(&mapping.queue, &queues::NewMessage::text(poison)).unwrap();
    }
    let turn = lab.cloud.pump.poll(&mapping).await;
    assert_eq!((turn.received, turn.failed, turn.error), (4, 0, None));
    let stack = &lab.cloud.stack;
    let dead = stack.queues.iter().find(|queue| queue.logical_id == "TendKeysDeadLetters").unwrap();
    let letters = queues.receive(&dead.name, 10, None).unwrap();
    assert_eq!(letters.len(), 3);
    for letter in letters {
        let reason = letter.message_attributes["reason"].string_value.clone().unwrap();
        assert!(reason.starts_with("not an account message"), "{reason}");
    }
    assert!(first_key(&lab, "ada").await["lastUsedAt"].is_string());
}

#[tokio::test(start_paused = true)]
async fn a_message_that_keeps_failing_moves_to_the_dead_letters_alone() {
    let lab = Lab::new();
    let key = lab.user("ada", &[]).await;
    lab.call(Method::GET, "/api/v1/me").by(&key).send().await;
    let mapping = lab.cloud.pump.mappings()[0].clone();
    for _ in 0..5 {
        // The table is gone for as long as the function tries.
        lab.cloud.faults.inject(0, local::faults::Fault::CrashBefore);
        let turn = lab.cloud.pump.poll(&mapping).await;
        assert_eq!((turn.received, turn.failed), (1, 1));
        lab.advance_seconds(66);
    }
    assert_eq!(lab.cloud.pump.poll(&mapping).await.received, 0);
    let dead = json!(lab.cloud.services.queues().queue_names().unwrap());
    let dead = dead
        .as_array()
        .unwrap()
        .iter()
        .find(|n| n.as_str().unwrap().contains("TendKeysDeadLetters"));
    let name = dead.unwrap().as_str().unwrap();
    assert_eq!(lab.cloud.services.queues().depth(name).unwrap().visible, 1);
}
