//! What holds for every provider.

use domain::notifications::{Address, Class, Content, ProviderMessage, SendOutcome};
use futures::future::join_all;
use sink::{Behaviour, Via};

use super::stage::{DEVICE, MAILBOX, NUMBER, Stage, refusal, said};

#[tokio::test]
async fn what_is_handed_over_arrives() {
    let stage = Stage::new().await;
    for via in Via::ALL {
        let handed = stage.send(via).await;
        assert!(matches!(handed, SendOutcome::Accepted { .. }), "{via:?}: {handed:?}");
        let sent = stage.sink.sent(via);
        assert_eq!(sent.len(), 1, "{via:?}");
        assert!(sent[0].text.starts_with("It is on its way."), "{via:?}: {}", sent[0].text);
    }
}

#[tokio::test]
async fn they_have_a_name_for_it() {
    let stage = Stage::new().await;
    for (via, name) in [
        (Via::Smtp, "@sink.localhost"),
        (Via::Ses, "sink-"),
        (Via::Sms, "sink-"),
        (Via::WebPush, ""),
        (Via::Fcm, "projects/sink/messages/"),
        (Via::Apns, "-"),
    ] {
        let handed = stage.send(via).await;
        let SendOutcome::Accepted { reference: Some(reference) } = handed else {
            panic!("{handed:?}")
        };
        assert!(reference.contains(name), "{via:?}: {reference}");
    }
}

#[tokio::test]
async fn a_line_cut_after_it_was_accepted_leaves_it_unknown() {
    let stage = Stage::new().await;
    for via in Via::ALL {
        stage.sink.behave_next(via, 1, Behaviour::AcceptThenCut);
        let handed = stage.send(via).await;
        assert!(matches!(handed, SendOutcome::Unknown { .. }), "{via:?}: {handed:?}");
        assert_eq!(stage.sink.sent(via).len(), 1, "{via:?}");
        // And the next one finds its way.
        let handed = stage.send(via).await;
        assert!(matches!(handed, SendOutcome::Accepted { .. }), "{via:?}: {handed:?}");
    }
}

#[tokio::test]
async fn an_answer_that_comes_too_late_leaves_it_unknown() {
    let stage = Stage::hasty().await;
    let late = Via::ALL.map(async |via| {
        stage.sink.behave_next(via, 1, Behaviour::Slow { milliseconds: 20_000 });
        let handed = stage.send(via).await;
        assert!(matches!(handed, SendOutcome::Unknown { .. }), "{via:?}: {handed:?}");
        assert_eq!(stage.sink.sent(via).len(), 1, "{via:?}");
    });
    join_all(late).await;
}

#[tokio::test]
async fn silence_is_unknown_unless_nothing_can_have_arrived() {
    let stage = Stage::hasty().await;
    let silent = Via::ALL.map(async |via| {
        stage.sink.behave_next(via, 1, Behaviour::Hang);
        let handed = stage.send(via).await;
        if via == Via::Smtp {
            assert_eq!(refusal(&handed).0, Class::Outage, "{handed:?}");
        } else {
            assert!(matches!(handed, SendOutcome::Unknown { .. }), "{via:?}: {handed:?}");
        }
        assert!(stage.sink.sent(via).is_empty(), "{via:?}");
    });
    join_all(silent).await;
}

#[tokio::test]
async fn a_wish_to_be_left_alone_is_passed_on() {
    let stage = Stage::new().await;
    for via in Via::ALL {
        stage.sink.behave_next(via, 1, Behaviour::Throttle { retry_after_seconds: 17 });
        let handed = stage.send(via).await;
        // SMTP has no way to say how long.
        let wait = (via != Via::Smtp).then_some(17);
        assert_eq!(refusal(&handed), (Class::RateLimited, wait), "{via:?}: {handed:?}");
        assert!(stage.sink.sent(via).is_empty(), "{via:?}");
    }
}

#[tokio::test]
async fn each_refusal_is_understood_and_nothing_is_sent_twice() {
    use Class::{Content, InvalidRecipient, Outage, RateLimited};
    let stage = Stage::new().await;
    for (via, code, reason, class) in [
        (Via::Smtp, 550, "5.1.1 no such user", InvalidRecipient),
        (Via::Smtp, 553, "5.1.3 bad address", InvalidRecipient),
        (Via::Smtp, 552, "5.3.4 too large", Content),
        (Via::Smtp, 554, "5.7.1 spam", Content),
        (Via::Smtp, 450, "4.2.0 greylisted", RateLimited),
        (Via::Smtp, 421, "4.3.2 going down", Outage),
        (Via::Ses, 400, "MessageRejected", Content),
        (Via::Ses, 400, "SendingPausedException", Outage),
        (Via::Ses, 400, "AccountSuspendedException", Outage),
        (Via::Ses, 503, "ServiceUnavailable", Outage),
        (Via::Sms, 400, "InvalidParameter", InvalidRecipient),
        (Via::Sms, 400, "OptedOut", Class::OptedOut),
        (Via::Sms, 403, "AuthorizationError", Outage),
        (Via::Sms, 500, "InternalError", Outage),
        (Via::WebPush, 410, "gone", InvalidRecipient),
        (Via::WebPush, 404, "unknown", InvalidRecipient),
        (Via::WebPush, 413, "too large", Content),
        (Via::WebPush, 503, "later", Outage),
        (Via::Fcm, 404, "UNREGISTERED", InvalidRecipient),
        (Via::Fcm, 403, "SENDER_ID_MISMATCH", InvalidRecipient),
        (Via::Fcm, 400, "INVALID_ARGUMENT", Content),
        (Via::Fcm, 429, "QUOTA_EXCEEDED", RateLimited),
        (Via::Fcm, 503, "UNAVAILABLE", Outage),
        (Via::Apns, 400, "BadDeviceToken", InvalidRecipient),
        (Via::Apns, 410, "Unregistered", InvalidRecipient),
        (Via::Apns, 413, "PayloadTooLarge", Content),
        (Via::Apns, 429, "TooManyRequests", RateLimited),
        (Via::Apns, 503, "Shutdown", Outage),
        (Via::Webhook, 410, "gone", InvalidRecipient),
        (Via::Webhook, 422, "no", Content),
        (Via::Webhook, 302, "elsewhere", Class::Unrecognised),
        (Via::Webhook, 500, "oh", Outage),
    ] {
        stage.sink.behave_next(via, 1, Behaviour::Fail { code, said: reason.to_owned() });
        let handed = stage.send(via).await;
        assert_eq!(refusal(&handed).0, class, "{via:?} {code} {reason}: {handed:?}");
        assert!(said(&handed).contains(&code.to_string()), "{via:?}: {handed:?}");
        assert_eq!(stage.sink.plan(via), sink::Plan::default(), "{via:?}: was it used?");
        assert!(stage.sink.sent(via).is_empty(), "{via:?}");
    }
}

#[tokio::test]
async fn nobody_and_nothing_is_named_in_what_is_said() {
    let stage = Stage::new().await;
    let browser = stage.sink.subscription();
    for via in Via::ALL {
        let told: &[&str] = match via {
            Via::Smtp | Via::Ses => &[MAILBOX, "bob.private", "example.com"],
            Via::Sms => &[NUMBER, "15551234567"],
            Via::WebPush => &[&browser.endpoint, &browser.p256dh, &browser.auth],
            Via::Fcm => &["device-token-of-bob"],
            Via::Apns => &[DEVICE],
            Via::Webhook => &["https://bob.sink.localhost/hook", "bob.sink.localhost"],
        };
        let reason = format!("5.1.1 {}", told.join(" and "));
        for code in [550, 400, 503] {
            stage.sink.behave_next(via, 1, Behaviour::Fail { code, said: reason.clone() });
            let handed = stage.send(via).await;
            let shown = format!("{handed:?}");
            assert!(!told.iter().any(|secret| shown.contains(secret)), "{via:?}: {shown}");
        }
    }
}

#[tokio::test]
async fn a_parcel_for_another_provider_is_refused() {
    let stage = Stage::new().await;
    for via in Via::ALL {
        for other in Via::ALL {
            let parcel = stage.parcel(other);
            let fits = stage.provider(via).takes(&parcel.to);
            let mail = |via| matches!(via, Via::Smtp | Via::Ses);
            assert_eq!(fits, via == other || (mail(via) && mail(other)), "{via:?} {other:?}");
            if !fits {
                let handed = stage.send_message(via, &parcel).await;
                assert_eq!(refusal(&handed).0, Class::Unrecognised, "{via:?} {other:?}");
            }
        }
    }
    assert!(stage.sink.messages().is_empty());
}

#[tokio::test]
async fn content_of_another_channel_is_refused() {
    let stage = Stage::new().await;
    for via in Via::ALL {
        let parcel = stage.parcel(via);
        let content = if matches!(parcel.to, Address::Phone { .. }) {
            Content::Email { subject: String::new(), text: String::new(), html: None }
        } else {
            Content::Sms { text: "hello".to_owned() }
        };
        let handed = stage.send_message(via, &ProviderMessage { content, ..parcel }).await;
        assert_eq!(refusal(&handed).0, Class::Content, "{via:?}");
    }
    assert!(stage.sink.messages().is_empty());
}
