//! Callbacks of providers, and their effects.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::Timestamp;
use e2e::{Response, Target, target};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use super::{delivered, delivery, is, mail, notify, user_with_contacts};

/// A provider's callback, signed with `secret`.
fn send_callback(target: &Target, provider: &str, secret: &[u8], events: &Value) -> Response {
    let body = events.to_string();
    let (id, at) = (target.fresh("callback"), Timestamp::now().as_second().to_string());
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { panic!("any length will do") };
    mac.update(format!("{id}.{at}.{body}").as_bytes());
    let signature = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
    let headers = [
        ("webhook-id", id.as_str()),
        ("webhook-timestamp", &at),
        ("webhook-signature", &signature),
    ];
    let path = format!("/api/v1/providers/{provider}/events");
    target.send("POST", &path, "", &headers, Some(events))
}

#[test]
fn a_bounce_overrides_what_was_delivered_and_its_dead_letter_can_be_replayed() {
    let target = target();
    let user = user_with_contacts(target);
    let sent = delivered(target, &user);
    let provider = sent["attempts"][0]["provider"].as_str().unwrap();
    let id = sent["deliveryId"].as_str().unwrap();
    let at = Timestamp::now().to_string();
    let bounce = json!([{ "reference": id, "kind": "bounced", "hard": true, "at": at }]);
    assert_eq!(send_callback(target, provider, &[0; 32], &bounce).status, 401);
    let secret = target.callback_secret(provider);
    for _ in 0..2 {
        let accepted = send_callback(target, provider, &secret, &bounce);
        assert_eq!(
            (accepted.status, &accepted.body["noted"]),
            (200, &json!(1)),
            "{}",
            accepted.body
        );
    }
    let notification = id.split('.').next().unwrap();
    let back = delivery(target, notification, is("failed"));
    assert_eq!(back["why"]["rule"], "bounced", "{back}");
    let next = notify(target, &mail(&user, &json!({})));
    let stopped = delivery(target, &next, is("suppressed"));
    assert_eq!(stopped["why"]["rule"], "address-suppressed", "{stopped}");

    let dead_letters =
        target.get("/api/v1/dead-letters?channel=email&class=invalid-recipient&limit=100");
    let ours = |it: &&Value| it["deliveryId"] == id;
    let dead_letter = dead_letters.body["items"].as_array().unwrap().iter().find(ours);
    assert_eq!(
        dead_letter.unwrap()["attempts"].as_array().unwrap().len(),
        1,
        "{}",
        dead_letters.body
    );
    let name = target.fresh("again");
    let replay = |dry: bool| {
        let body = json!({ "name": name, "deliveryIds": [id], "dryRun": dry });
        let replayed = target.post("/api/v1/dead-letters/replay", &body);
        assert_eq!(replayed.status, 200, "{}", replayed.body);
        replayed.body["replayed"].as_array().unwrap().len()
    };
    assert_eq!((replay(true), replay(false), replay(false)), (1, 1, 0));
    // The address is still none that anything is sent to.
    delivery(target, notification, is("suppressed"));
}
