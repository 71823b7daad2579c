//! Notifications, as senders, users and providers see them.

mod calls;
mod links;
mod providers;

use domain::Timestamp;
use e2e::{Response, Target, target};
use serde_json::{Value, json};

const ALL: &str = "/api/v1/notifications";

/// A user with contacts; their id.
fn user_with_contacts(target: &Target) -> String {
    let user = target.fresh("ada");
    let contacts = json!({ "email": format!("{user}@example.com"), "phone": "+34600123456" });
    put(target, &format!("/api/v1/users/{user}/contacts"), &contacts);
    user
}

/// A PUT by the admin that must succeed.
fn put(target: &Target, path: &str, body: &Value) -> Response {
    let saved = target.send("PUT", path, &target.admin_key, &[], Some(body));
    assert!([200, 201].contains(&saved.status), "{path}: {} {}", saved.status, saved.body);
    saved
}

/// A mail for `user`, with the members of `more`.
fn mail(user: &str, more: &Value) -> Value {
    let mut body = json!({
        "userId": user, "category": "orders", "channels": ["email"],
        "content": { "email": { "subject": "Hello", "text": "Your parcel has left us." } },
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    body
}

/// Sends a notification that must be accepted; its id.
fn notify(target: &Target, body: &Value) -> String {
    let sent = target.post(ALL, body);
    assert_eq!(sent.status, 202, "{}", sent.body);
    sent.body["notifications"][0]["notificationId"].as_str().unwrap_or_default().to_owned()
}

/// The only delivery of a notification, once it is as wanted.
fn delivery(target: &Target, id: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let found =
        target.eventually(&format!("{ALL}/{id}"), |answer| wanted(&answer.body["deliveries"][0]));
    let delivery = found.body["deliveries"][0].clone();
    assert!(wanted(&delivery), "{}", found.body);
    delivery
}

fn is(status: &str) -> impl Fn(&Value) -> bool {
    move |delivery| delivery["status"] == status
}

/// A mail that has arrived.
fn delivered(target: &Target, user: &str) -> Value {
    let id = notify(target, &mail(user, &json!({})));
    delivery(target, &id, is("delivered"))
}

#[test]
fn a_user_is_notified_in_their_language_and_reads_it() {
    let target = target();
    let user = user_with_contacts(target);
    let key = key_of(target, &user);
    let template = target.fresh("shipped");
    let path = format!("/api/v1/templates/{template}");
    let draft = json!({
        "defaultLocale": "en", "required": ["name"],
        "texts": {
            "en": { "email": { "subject": "On its way", "text": "Hello {{ name }}" } },
            "es": { "email": { "subject": "De camino", "text": "Hola {{ name }}" } },
        },
    });
    put(target, &path, &draft);
    let data = json!({ "name": "Ada" });
    let preview = target.post(&format!("{path}/preview"), &json!({ "locale": "es", "data": data }));
    assert_eq!(preview.body["previews"][0]["content"]["text"], "Hola Ada", "{}", preview.body);
    let preferences = format!("/api/v1/users/{user}/preferences");
    put(target, &preferences, &json!({ "language": "es_MX" }));

    let body = json!({
        "userId": user, "category": "orders", "template": { "id": template }, "data": data,
        "channels": ["email"],
    });
    let id = notify(target, &body);
    let sent = delivery(target, &id, is("delivered"));
    assert_eq!(
        (&sent["rendering"]["wanted"], &sent["rendering"]["locale"]),
        (&json!("es_MX"), &json!("es"))
    );
    assert_eq!(sent["attempts"].as_array().unwrap().len(), 1, "{sent}");
    let results = target.eventually(&path, |it| it.body["versions"][0]["results"][0]["sent"] == 1);
    assert_eq!(results.body["versions"][0]["results"][0]["sent"], 1, "{}", results.body);

    let log = format!("/api/v1/users/{user}/notifications");
    let own = target.send("GET", &log, &key, &[], None);
    assert_eq!(own.body["items"][0]["notificationId"], id, "{}", own.body);
    assert_eq!(own.body["items"][0]["unread"], true);
    let marked = target.send("POST", &format!("{log}/read"), &key, &[], Some(&json!({})));
    assert_eq!(marked.status, 200, "{}", marked.body);
    assert_eq!(target.send("GET", &log, &key, &[], None).body["items"][0]["unread"], false);

    draft_again(target, &path, &draft);
}

/// A second version is not active until an admin activates it.
fn draft_again(target: &Target, path: &str, draft: &Value) {
    let mut second = draft.clone();
    second["texts"]["en"]["email"]["subject"] = json!("It has left");
    let published = put(target, path, &second);
    assert_eq!(
        (&published.body["version"], &published.body["activeVersion"]),
        (&json!(2), &json!(1))
    );
    let activated = target.post(&format!("{path}/versions/2/activate"), &json!({}));
    assert_eq!(activated.body["activeVersion"], 2, "{}", activated.body);
}

#[test]
fn do_not_disturb_holds_back_all_but_critical_ones_and_a_pending_one_can_be_cancelled() {
    let target = target();
    let user = user_with_contacts(target);
    let hour = |hours: i64| {
        let at = Timestamp::from_second(Timestamp::now().as_second() + hours * 3_600).unwrap();
        at.strftime("%H:%M").to_string()
    };
    let quiet = json!({ "timeZone": "UTC", "doNotDisturb": { "start": hour(-2), "end": hour(2) } });
    put(target, &format!("/api/v1/users/{user}/preferences"), &quiet);
    let waits = notify(target, &mail(&user, &json!({})));
    let urgent = notify(target, &mail(&user, &json!({ "priority": "critical" })));
    delivery(target, &urgent, is("delivered"));
    delivery(target, &waits, |it| it["status"] == "pending" && it["why"]["rule"] == "quiet");
    let path = format!("{ALL}/{waits}");
    let cancelled = target.send("DELETE", &path, &target.admin_key, &[], None);
    assert_eq!(cancelled.status, 200, "{}", cancelled.body);
    delivery(target, &waits, is("cancelled"));
}

#[test]
fn a_repeat_gets_the_first_answer_and_another_body_none() {
    let target = target();
    let user = user_with_contacts(target);
    let key = target.fresh("key");
    let once = json!({ "idempotencyKey": key });
    let (first, second) =
        (target.post(ALL, &mail(&user, &once)), target.post(ALL, &mail(&user, &once)));
    assert_eq!((first.status, second.status), (202, 202), "{}", second.body);
    assert_eq!(first.body, second.body);
    let other = json!({ "idempotencyKey": key, "priority": "low" });
    assert_eq!(target.post(ALL, &mail(&user, &other)).status, 422);
    let log = target.get(&format!("/api/v1/users/{user}/notifications"));
    assert_eq!(log.body["items"].as_array().unwrap().len(), 1, "{}", log.body);
}

#[test]
fn many_users_are_notified_at_once_each_by_their_preferences() {
    let target = target();
    let (ada, bob) = (user_with_contacts(target), user_with_contacts(target));
    let unknown = target.fresh("unknown");
    put(target, &format!("/api/v1/users/{bob}/preferences"), &json!({ "enabled": false }));
    let mut body = mail("", &json!({ "userIds": [ada, bob, unknown] }));
    body.as_object_mut().unwrap().remove("userId");
    let sent = target.post(ALL, &body);
    assert_eq!(sent.status, 202, "{}", sent.body);
    let statuses: Vec<&str> = sent.body["notifications"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["pending", "suppressed", "unreachable"]);
}

/// A key of this user's account.
fn key_of(target: &Target, user: &str) -> String {
    let account = json!({ "userId": user, "name": "Ada", "roles": ["member"] });
    assert_eq!(target.post("/api/v1/accounts", &account).status, 201);
    let made = target.post(&format!("/api/v1/accounts/{user}/keys"), &json!({}));
    made.text("key").to_owned()
}
