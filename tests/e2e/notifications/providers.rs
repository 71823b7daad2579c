//! What providers say later, and what is done about it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::Timestamp;
use e2e::{Response, Target, target};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use super::{delivered, delivery, is, mail, reachable, tell};

/// A provider's word, signed with `secret`.
fn said(target: &Target, provider: &str, secret: &[u8], events: &Value) -> Response {
    let body = events.to_string();
    let (id, at) = (target.fresh("said"), Timestamp::now().as_second().to_string());
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
fn a_bounce_overrides_what_was_delivered_and_its_letter_can_be_sent_again() {
    let target = target();
    let user = reachable(target);
    let sent = delivered(target, &user);
    let provider = sent["attempts"][0]["provider"].as_str().unwrap();
    let id = sent["deliveryId"].as_str().unwrap();
    let at = Timestamp::now().to_string();
    let bounce = json!([{ "reference": id, "kind": "bounced", "hard": true, "at": at }]);
    assert_eq!(said(target, provider, &[0; 32], &bounce).status, 401);
    let secret = target.callback_secret(provider);
    for _ in 0..2 {
        let heard = said(target, provider, &secret, &bounce);
        assert_eq!((heard.status, &heard.body["noted"]), (200, &json!(1)), "{}", heard.body);
    }
    let notification = id.split('.').next().unwrap();
    let back = delivery(target, notification, is("failed"));
    assert_eq!(back["why"]["rule"], "bounced", "{back}");
    let next = tell(target, &mail(&user, &json!({})));
    let stopped = delivery(target, &next, is("suppressed"));
    assert_eq!(stopped["why"]["rule"], "address-suppressed", "{stopped}");

    let letters =
        target.get("/api/v1/dead-letters?channel=email&class=invalid-recipient&limit=100");
    let ours = |it: &&Value| it["deliveryId"] == id;
    let letter = letters.body["items"].as_array().unwrap().iter().find(ours);
    assert_eq!(letter.unwrap()["attempts"].as_array().unwrap().len(), 1, "{}", letters.body);
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
