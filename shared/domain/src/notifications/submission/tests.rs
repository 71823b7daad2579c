//! What may be asked for, and what may not.

use serde_json::json;

use super::*;

fn now() -> Timestamp {
    Timestamp::from_second(1_772_323_200).unwrap()
}

/// A request that is fine, with some fields changed; `null` takes one away.
fn asked(changes: Value) -> Result<Submission, Rejected> {
    let mut request = json!({
        "userId": "ada", "category": "orders", "content": { "sms": { "text": "hi" } },
    });
    for (field, value) in object(changes) {
        request[field] = value;
    }
    let request: NotificationRequest = serde_json::from_value(request).unwrap();
    request.validated(now())
}

fn object(changes: Value) -> serde_json::Map<String, Value> {
    if let Value::Object(object) = changes { object } else { serde_json::Map::new() }
}

fn field(changes: Value) -> String {
    match asked(changes) {
        Err(Rejected::Field { field, .. }) => field,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_left_out_is_usual() {
    let submission = asked(json!({})).unwrap();
    assert_eq!(submission.users, [UserId::outside("ada")]);
    assert_eq!((submission.priority, submission.channels), (Priority::Normal, vec![]));
}

#[test]
fn people_are_named_one_way_and_counted_once() {
    let several = asked(json!({ "userId": null, "userIds": ["bob", "ada", "bob"] })).unwrap();
    assert_eq!(several.users, ["bob", "ada"].map(UserId::outside));
    let crowd = |n: usize| (0..n).map(|i| format!("u{i}")).collect::<Vec<_>>();
    assert!(asked(json!({ "userId": null, "userIds": crowd(1_000) })).is_ok());
    assert_eq!(field(json!({ "userId": null, "userIds": crowd(1_001) })), "userIds");
    assert_eq!(field(json!({ "userId": null, "userIds": [] })), "userIds");
    assert_eq!(field(json!({ "userIds": ["bob"] })), "userId");
    assert_eq!(field(json!({ "userId": null })), "userId");
    for name in ["", "Ada", "a b", "a#b", "a\nb", "root"] {
        assert_eq!(field(json!({ "userId": name })), "userId", "{name:?}");
    }
}

#[test]
fn each_field_has_its_rule() {
    let long = "k".repeat(65);
    for (name, changes) in [
        ("category", json!({ "category": "Orders!" })),
        ("category", json!({ "category": "" })),
        ("priority", json!({ "priority": "urgent" })),
        ("channels", json!({ "channels": ["fax"] })),
        ("channels", json!({ "channels": [] })),
        ("template", json!({ "content": null })),
        ("template", json!({ "template": { "id": "welcome" } })),
        ("template.id", json!({ "content": null, "template": { "id": "Welcome!" } })),
        ("template.version", json!({ "content": null, "template": { "id": "w", "version": 0 } })),
        ("data", json!({ "data": {} })),
        ("data", json!({ "content": null, "template": { "id": "w" }, "data": [1] })),
        ("content", json!({ "content": {} })),
        ("content", json!({ "channels": ["email"] })),
        ("collapseKey", json!({ "collapseKey": "" })),
        ("collapseKey", json!({ "collapseKey": "a\r\nb" })),
        ("collapseKey", json!({ "collapseKey": long })),
        ("sendAt", json!({ "sendAt": "2030-01-01T00:00:00Z" })),
        ("expiresAt", json!({ "expiresAt": "2026-03-01T00:00:00Z" })),
        (
            "expiresAt",
            json!({ "sendAt": "2026-03-03T00:00:00Z", "expiresAt": "2026-03-02T00:00:00Z" }),
        ),
    ] {
        assert_eq!(field(changes.clone()), name, "{changes}");
    }
}

#[test]
fn contents_in_any_script_fit_into_a_row() {
    let mail = |letter: &str| {
        let html = letter.repeat(150_000);
        json!({ "content": { "email": { "subject": "s", "text": "x", "html": html } } })
    };
    assert!(asked(mail("a")).is_ok());
    assert_eq!(field(mail("\u{20ac}")), "content");
}

#[test]
fn words_that_try_to_be_headers_are_refused() {
    let mail =
        |subject: &str| json!({ "content": { "email": { "subject": subject, "text": "x" } } });
    assert!(asked(mail("Your order")).is_ok());
    for subject in ["a\r\nBcc: eve@example.org", "a\nb", "a\rb", "\u{2028}", ""] {
        assert_eq!(field(mail(subject)), "content.email.subject", "{subject:?}");
    }
    let push =
        |link: &str| json!({ "content": { "push": { "title": "t", "body": "b", "link": link } } });
    assert_eq!(field(push("javascript:alert(1)")), "content.push.link");
}

#[test]
fn data_is_bounded() {
    let with = |size: usize| {
        let data = json!({ "a": "x".repeat(size) });
        asked(json!({ "content": null, "template": { "id": "w" }, "data": data }))
    };
    assert!(with(60_000).is_ok());
    assert!(with(70_000).is_err());
}

#[test]
fn a_notification_keeps_the_version_that_was_active_or_named() {
    for (named, version) in [(json!({ "id": "w" }), 4), (json!({ "id": "w", "version": 2 }), 2)] {
        let submission = asked(json!({ "content": null, "template": named })).unwrap();
        let id = NotificationId::new(now(), [1; 8]);
        let ada = UserId::outside("ada");
        let notification = submission.notification(id, &ada, 4, &UserId::outside("shop"), now());
        assert!(matches!(&notification.body, Body::Template { version: v, .. } if *v == version));
        let json = serde_json::to_string(&notification).unwrap();
        assert_eq!(serde_json::from_str::<Notification>(&json).unwrap(), notification);
    }
}
