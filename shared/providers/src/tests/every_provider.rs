//! What holds for every provider.

use domain::notifications::{Address, Class, Content, ProviderMessage, SendOutcome};
use futures::future::join_all;
use sink::{Behaviour, ProviderKind};

use super::harness::{DEVICE, Harness, MAILBOX, NUMBER, refusal};

#[tokio::test]
async fn what_is_sent_arrives() {
    let harness = Harness::new().await;
    for via in ProviderKind::ALL {
        let outcome = harness.send(via).await;
        assert!(matches!(outcome, SendOutcome::Accepted { .. }), "{via:?}: {outcome:?}");
        let sent = harness.sink.sent(via);
        assert_eq!(sent.len(), 1, "{via:?}");
        assert!(sent[0].text.starts_with("It is on its way."), "{via:?}: {}", sent[0].text);
    }
}

#[tokio::test]
async fn each_accepted_message_has_a_reference() {
    let harness = Harness::new().await;
    for (via, name) in [
        (ProviderKind::Smtp, "@sink.localhost"),
        (ProviderKind::Ses, "sink-"),
        (ProviderKind::Sms, "sink-"),
        (ProviderKind::WebPush, ""),
        (ProviderKind::Fcm, "projects/sink/messages/"),
        (ProviderKind::Apns, "-"),
    ] {
        let outcome = harness.send(via).await;
        let SendOutcome::Accepted { reference: Some(reference) } = outcome else {
            panic!("{outcome:?}")
        };
        assert!(reference.contains(name), "{via:?}: {reference}");
    }
}

#[tokio::test]
async fn a_connection_closed_after_it_was_accepted_leaves_it_unknown() {
    let harness = Harness::new().await;
    for via in ProviderKind::ALL {
        harness.sink.behave_next(via, 1, Behaviour::AcceptThenCut);
        let outcome = harness.send(via).await;
        assert!(matches!(outcome, SendOutcome::Unknown { .. }), "{via:?}: {outcome:?}");
        assert_eq!(harness.sink.sent(via).len(), 1, "{via:?}");
        // And the next one finds its way.
        let outcome = harness.send(via).await;
        assert!(matches!(outcome, SendOutcome::Accepted { .. }), "{via:?}: {outcome:?}");
    }
}

#[tokio::test]
async fn an_answer_that_comes_too_late_leaves_it_unknown() {
    let harness = Harness::with_short_timeout().await;
    let late = ProviderKind::ALL.map(async |via| {
        harness.sink.behave_next(via, 1, Behaviour::Slow { milliseconds: 20_000 });
        let outcome = harness.send(via).await;
        assert!(matches!(outcome, SendOutcome::Unknown { .. }), "{via:?}: {outcome:?}");
        assert_eq!(harness.sink.sent(via).len(), 1, "{via:?}");
    });
    join_all(late).await;
}

#[tokio::test]
async fn silence_is_unknown_unless_nothing_can_have_arrived() {
    let harness = Harness::with_short_timeout().await;
    let silent = ProviderKind::ALL.map(async |via| {
        harness.sink.behave_next(via, 1, Behaviour::Hang);
        let outcome = harness.send(via).await;
        if via == ProviderKind::Smtp {
            assert_eq!(refusal(&outcome).0, Class::Outage, "{outcome:?}");
        } else {
            assert!(matches!(outcome, SendOutcome::Unknown { .. }), "{via:?}: {outcome:?}");
        }
        assert!(harness.sink.sent(via).is_empty(), "{via:?}");
    });
    join_all(silent).await;
}

#[tokio::test]
async fn retry_after_is_passed_on() {
    let harness = Harness::new().await;
    for via in ProviderKind::ALL {
        harness.sink.behave_next(via, 1, Behaviour::Throttle { retry_after_seconds: 17 });
        let outcome = harness.send(via).await;
        // SMTP has no way to say how long.
        let wait = (via != ProviderKind::Smtp).then_some(17);
        assert_eq!(refusal(&outcome), (Class::RateLimited, wait), "{via:?}: {outcome:?}");
        assert!(harness.sink.sent(via).is_empty(), "{via:?}");
    }
}

#[tokio::test]
async fn each_refusal_is_understood_and_nothing_is_sent_twice() {
    use Class::{Content, InvalidRecipient, Outage, RateLimited};
    let harness = Harness::new().await;
    for (via, code, reason, class) in [
        (ProviderKind::Smtp, 550, "5.1.1 no such user", InvalidRecipient),
        (ProviderKind::Smtp, 553, "5.1.3 bad address", InvalidRecipient),
        (ProviderKind::Smtp, 552, "5.3.4 too large", Content),
        (ProviderKind::Smtp, 554, "5.7.1 spam", Content),
        (ProviderKind::Smtp, 450, "4.2.0 greylisted", RateLimited),
        (ProviderKind::Smtp, 421, "4.3.2 going down", Outage),
        (ProviderKind::Ses, 400, "MessageRejected", Content),
        (ProviderKind::Ses, 400, "SendingPausedException", Outage),
        (ProviderKind::Ses, 400, "AccountSuspendedException", Outage),
        (ProviderKind::Ses, 503, "ServiceUnavailable", Outage),
        (ProviderKind::Sms, 400, "InvalidParameter", InvalidRecipient),
        (ProviderKind::Sms, 400, "OptedOut", Class::OptedOut),
        (ProviderKind::Sms, 403, "AuthorizationError", Outage),
        (ProviderKind::Sms, 500, "InternalError", Outage),
        (ProviderKind::WebPush, 410, "gone", InvalidRecipient),
        (ProviderKind::WebPush, 404, "unknown", InvalidRecipient),
        (ProviderKind::WebPush, 413, "too large", Content),
        (ProviderKind::WebPush, 503, "later", Outage),
        (ProviderKind::Fcm, 404, "UNREGISTERED", InvalidRecipient),
        (ProviderKind::Fcm, 403, "SENDER_ID_MISMATCH", InvalidRecipient),
        (ProviderKind::Fcm, 400, "INVALID_ARGUMENT", Content),
        (ProviderKind::Fcm, 429, "QUOTA_EXCEEDED", RateLimited),
        (ProviderKind::Fcm, 503, "UNAVAILABLE", Outage),
        (ProviderKind::Apns, 400, "BadDeviceToken", InvalidRecipient),
        (ProviderKind::Apns, 410, "Unregistered", InvalidRecipient),
        (ProviderKind::Apns, 413, "PayloadTooLarge", Content),
        (ProviderKind::Apns, 429, "TooManyRequests", RateLimited),
        (ProviderKind::Apns, 503, "Shutdown", Outage),
        (ProviderKind::Webhook, 410, "gone", InvalidRecipient),
        (ProviderKind::Webhook, 422, "no", Content),
        (ProviderKind::Webhook, 302, "elsewhere", Class::Unrecognised),
        (ProviderKind::Webhook, 500, "oh", Outage),
    ] {
        harness.sink.behave_next(via, 1, Behaviour::Fail { code, reason: reason.to_owned() });
        let outcome = harness.send(via).await;
        assert_eq!(refusal(&outcome).0, class, "{via:?} {code} {reason}: {outcome:?}");
        assert!(
            super::harness::reason(&outcome).contains(&code.to_string()),
            "{via:?}: {outcome:?}"
        );
        assert_eq!(
            harness.sink.behaviour_rule(via),
            sink::BehaviourRule::default(),
            "{via:?}: was it used?"
        );
        assert!(harness.sink.sent(via).is_empty(), "{via:?}");
    }
}

#[tokio::test]
async fn no_address_and_no_secret_is_in_the_reason() {
    let harness = Harness::new().await;
    let browser = harness.sink.subscription();
    for via in ProviderKind::ALL {
        let secrets: &[&str] = match via {
            ProviderKind::Smtp | ProviderKind::Ses => &[MAILBOX, "bob.private", "example.com"],
            ProviderKind::Sms => &[NUMBER, "15551234567"],
            ProviderKind::WebPush => &[&browser.endpoint, &browser.p256dh, &browser.auth],
            ProviderKind::Fcm => &["device-token-of-bob"],
            ProviderKind::Apns => &[DEVICE],
            ProviderKind::Webhook => &["https://bob.sink.localhost/hook", "bob.sink.localhost"],
        };
        let reason = format!("5.1.1 {}", secrets.join(" and "));
        for code in [550, 400, 503] {
            harness.sink.behave_next(via, 1, Behaviour::Fail { code, reason: reason.clone() });
            let outcome = harness.send(via).await;
            let shown = format!("{outcome:?}");
            assert!(!secrets.iter().any(|secret| shown.contains(secret)), "{via:?}: {shown}");
        }
    }
}

#[tokio::test]
async fn a_message_for_another_provider_is_refused() {
    let harness = Harness::new().await;
    for via in ProviderKind::ALL {
        for other in ProviderKind::ALL {
            let message = harness.message(other);
            let fits = harness.provider(via).supports(&message.to);
            let mail = |via| matches!(via, ProviderKind::Smtp | ProviderKind::Ses);
            assert_eq!(fits, via == other || (mail(via) && mail(other)), "{via:?} {other:?}");
            if !fits {
                let outcome = harness.send_message(via, &message).await;
                assert_eq!(refusal(&outcome).0, Class::Unrecognised, "{via:?} {other:?}");
            }
        }
    }
    assert!(harness.sink.messages().is_empty());
}

#[tokio::test]
async fn content_of_another_channel_is_refused() {
    let harness = Harness::new().await;
    for via in ProviderKind::ALL {
        let message = harness.message(via);
        let content = if matches!(message.to, Address::Phone { .. }) {
            Content::Email { subject: String::new(), text: String::new(), html: None }
        } else {
            Content::Sms { text: "hello".to_owned() }
        };
        let outcome = harness.send_message(via, &ProviderMessage { content, ..message }).await;
        assert_eq!(refusal(&outcome).0, Class::Content, "{via:?}");
    }
    assert!(harness.sink.messages().is_empty());
}
