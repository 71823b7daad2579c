//! What providers say later: only they, only about what they had, and the last word is a bounce.

use http::Method;
use serde_json::{Value, json};
use tests::callbacks::{SECRET, secrets, signed};
use tests::scripted_providers::ScriptedProviders;
use tests::{Lab, Response, Setup};

use super::{ALL, accepted, put, read};

const EVENTS: &str = "/api/v1/providers/mail/events";

/// A cloud in which `mail` may call back, with a mail that it has.
struct Sent {
    lab: Lab,
    providers: ScriptedProviders,
    id: String,
}

impl Sent {
    async fn one() -> Self {
        let providers = ScriptedProviders::new();
        let setup = Setup { providers: Some(providers.clone()), ..Setup::default() };
        let lab = Lab::with_parameters(setup, &[("CallbackSecrets", &secrets("mail"))]);
        super::reachable(&lab, "ada").await;
        let id = accepted(&lab, &mail()).await;
        lab.cloud.settle().await;
        let sent = Self { lab, providers, id };
        assert_eq!(sent.status().await, "delivered");
        sent
    }

    fn key(&self) -> String {
        format!("{}.email", self.id)
    }

    async fn status(&self) -> String {
        read(&self.lab, &self.id).await["deliveries"][0]["status"].as_str().unwrap().to_owned()
    }

    /// A call as the provider makes it.
    async fn send_events(&self, body: &Value) -> Response {
        let text = body.to_string();
        let headers = signed(&SECRET, self.lab.clock.now_ms() / 1_000, text.as_bytes());
        self.call(EVENTS, &headers, text).await
    }

    async fn call(&self, path: &str, headers: &[(&str, String)], body: String) -> Response {
        let mut call = self.lab.call(Method::POST, path);
        for (name, value) in headers {
            call = call.header(name, value);
        }
        call.bytes(body).send().await
    }

    /// That a mail had this fate.
    fn event(&self, kind: &str, hard: Option<bool>) -> Value {
        let mut events = json!({ "reference": format!("mail:{}", self.key()), "kind": kind });
        events["at"] = json!("2026-03-01T12:00:30Z");
        if let Some(hard) = hard {
            events["hard"] = json!(hard);
        }
        json!([events])
    }

    async fn next(&self) -> Value {
        let id = accepted(&self.lab, &mail()).await;
        self.lab.cloud.settle().await;
        read(&self.lab, &id).await["deliveries"][0].clone()
    }
}

fn mail() -> Value {
    json!({
        "userId": "ada", "category": "orders", "channels": ["email"],
        "content": { "email": { "subject": "Hello", "text": "Hello" } },
    })
}

#[tokio::test(start_paused = true)]
async fn only_the_provider_is_accepted_and_only_for_minutes() {
    let sent = Sent::one().await;
    let body = sent.event("bounced", Some(true)).to_string();
    let now = sent.lab.clock.now_ms() / 1_000;
    let good = signed(&SECRET, now, body.as_bytes());
    let mut unnamed = good.clone();
    unnamed[0].1.clear();
    for (what, headers) in [
        ("unsigned", Vec::new()),
        ("another secret", signed(&[6; 32], now, body.as_bytes()).to_vec()),
        ("another body", signed(&SECRET, now, b"[]").to_vec()),
        ("old", signed(&SECRET, now - 301, body.as_bytes()).to_vec()),
        ("ahead", signed(&SECRET, now + 301, body.as_bytes()).to_vec()),
        ("no id", unnamed.to_vec()),
        ("no signature", good[..2].to_vec()),
    ] {
        let answer = sent.call(EVENTS, &headers, body.clone()).await;
        assert_eq!(answer.status, 401, "{what}: {}", answer.body);
    }
    sent.call("/api/v1/providers/text/events", &good, body).await.assert_status(404);
    assert_eq!(sent.status().await, "delivered");
    assert_eq!(sent.next().await["status"], "delivered");
}

#[tokio::test(start_paused = true)]
async fn a_bounce_overrides_an_arrival_and_nothing_overrides_a_bounce() {
    let sent = Sent::one().await;
    for (kind, hard, status) in [
        ("delivered", None, "delivered"),
        ("bounced", Some(true), "failed"),
        ("bounced", Some(true), "failed"),
        ("delivered", None, "failed"),
        ("complained", None, "failed"),
    ] {
        let received = sent.send_events(&sent.event(kind, hard)).await;
        assert_eq!(received.status, 200, "{kind}: {}", received.body);
        assert_eq!(received.body, json!({ "noted": 1, "ignored": 0 }), "{kind}");
        assert_eq!(sent.status().await, status, "{kind}");
    }
    let found = read(&sent.lab, &sent.id).await;
    assert_eq!(found["deliveries"][0]["why"]["rule"], "bounced");
    let dead_letters = sent.lab.get("/api/v1/dead-letters?channel=email").await;
    assert_eq!(
        dead_letters.body["items"][0]["class"], "invalid-recipient",
        "{}",
        dead_letters.body
    );
}

#[tokio::test(start_paused = true)]
async fn a_dead_mailbox_gets_nothing_more_and_that_can_be_read() {
    let sent = Sent::one().await;
    sent.send_events(&sent.event("bounced", Some(true))).await;
    let next = sent.next().await;
    assert_eq!((&next["status"], sent.providers.sends().len()), (&json!("suppressed"), 1));
    assert_eq!(next["why"]["rule"], "address-suppressed", "{next}");
    assert_eq!(next["why"]["sentence"], "What was sent to the address came back.");
}

#[tokio::test(start_paused = true)]
async fn a_full_mailbox_is_tried_again_by_the_next_mail() {
    let sent = Sent::one().await;
    sent.send_events(&sent.event("bounced", Some(false))).await;
    assert_eq!(sent.status().await, "failed");
    assert_eq!(sent.next().await["status"], "delivered");
}

#[tokio::test(start_paused = true)]
async fn a_bounce_says_nothing_about_a_new_address() {
    let sent = Sent::one().await;
    let moved = json!({ "email": "ada@elsewhere.example" });
    put(&sent.lab, "/api/v1/users/ada/contacts", &moved).await;
    for _ in 0..2 {
        sent.send_events(&sent.event("bounced", Some(true))).await;
        assert_eq!(sent.status().await, "failed");
    }
    let next = sent.next().await;
    assert_eq!(next["status"], "delivered", "{next}");
}

#[tokio::test(start_paused = true)]
async fn who_complains_got_it_and_gets_no_more_of_it_at_any_address() {
    let sent = Sent::one().await;
    let mut later = mail();
    later["sendAt"] = json!("2026-03-02T12:00:00Z");
    let waiting = accepted(&sent.lab, &later).await;
    sent.send_events(&sent.event("complained", None)).await;
    assert_eq!(sent.status().await, "delivered");
    let found = read(&sent.lab, &waiting).await;
    assert_eq!(found["deliveries"][0]["why"]["rule"], "opted-out", "{found}");
    let wanted = sent.lab.get("/api/v1/users/ada/preferences").await;
    assert_eq!(wanted.body["history"][0]["by"], "complaint", "{}", wanted.body);
    put(&sent.lab, "/api/v1/users/ada/contacts", &json!({ "email": "new@example.org" })).await;
    assert_eq!(sent.next().await["status"], "suppressed");
}

#[tokio::test(start_paused = true)]
async fn what_ses_says_through_sns_is_understood_and_what_is_not_known_is_passed_over() {
    let sent = Sent::one().await;
    let wrapped = |message: &Value| json!({ "Type": "Notification", "MessageId": "1", "Message": message.to_string() });
    let bounce = |reference: &str| {
        json!({
            "eventType": "Bounce",
            "mail": { "messageId": reference, "source": "a@example.org" },
            "bounce": { "bounceType": "Permanent", "timestamp": "2026-03-01T12:00:30.000Z" },
        })
    };
    let reference = format!("mail:{}", sent.key());
    for (events, noted) in [
        (wrapped(&json!({ "eventType": "Open", "mail": { "messageId": reference } })), 0),
        (wrapped(&bounce("unknown")), 0),
        (json!({ "Type": "SubscriptionConfirmation", "Message": "hello" }), 0),
        (wrapped(&bounce(&reference)), 1),
    ] {
        assert_eq!(sent.status().await, "delivered");
        let received = sent.send_events(&events).await;
        assert_eq!(received.status, 200, "{events}: {}", received.body);
        assert_eq!(received.body["noted"], json!(noted), "{events}");
    }
    assert_eq!(sent.status().await, "failed");
    for wrong in [json!([]), json!([{ "reference": "x", "kind": "lost" }]), json!("hello")] {
        let refused = sent.send_events(&wrong).await;
        assert!(refused.status.is_client_error(), "{wrong}: {}", refused.body);
    }
}

#[tokio::test(start_paused = true)]
async fn a_provider_is_not_heard_about_what_another_one_had() {
    let sent = Sent::one().await;
    let mut text = mail();
    text["channels"] = json!(["sms"]);
    text["content"] = json!({ "sms": { "text": "Hello" } });
    let id = accepted(&sent.lab, &text).await;
    sent.lab.cloud.settle().await;
    for reference in [format!("text:{id}.sms"), format!("{id}.sms")] {
        let at = "2026-03-01T12:00:30Z";
        let events = json!([{ "reference": reference, "kind": "bounced", "hard": true, "at": at }]);
        assert_eq!(sent.send_events(&events).await.body, json!({ "noted": 0, "ignored": 1 }));
    }
    let found = sent.lab.get(&format!("{ALL}/{id}")).await;
    assert_eq!(found.text("status"), "delivered", "{}", found.body);
    // By the key that it was handed over with, its own provider is.
    let at = "2026-03-01T12:00:30Z";
    let events = json!([{ "reference": sent.key(), "kind": "bounced", "hard": true, "at": at }]);
    assert_eq!(sent.send_events(&events).await.body["noted"], 1);
}
