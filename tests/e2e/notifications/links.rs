//! Links in mails: to unsubscribe, and to track opens and clicks.

use domain::Timestamp;
use domain::accounts::UserId;
use domain::notifications::token::TokenClaim;
use domain::notifications::{Category, Channel, DeliveryId};
use e2e::{Target, target};
use serde_json::json;

use super::{delivered, delivery, is, mail, notify, put, user_with_contacts};

const FORM: &str = "application/x-www-form-urlencoded";

/// A link that works for an hour.
fn signed(target: &Target, claim: &TokenClaim) -> String {
    let until = Timestamp::from_second(Timestamp::now().as_second() + 3_600);
    target.ring().sign(claim, until.unwrap_or(Timestamp::MAX))
}

#[test]
fn one_click_is_enough_and_a_look_changes_nothing() {
    let target = target();
    let user = user_with_contacts(target);
    let claim = |channel| TokenClaim::Unsubscribe {
        user: UserId::outside(&user),
        channel,
        category: Category::parse("orders").unwrap(),
    };
    let path = format!("/unsubscribe?token={}", signed(target, &claim(Channel::Email)));
    let looked = target.send("GET", &path, "", &[], None);
    assert_eq!((looked.status, looked.media_type.as_str()), (200, "text/html; charset=utf-8"));
    delivered(target, &user);

    let click = |path: &str| {
        target.send_text("POST", path, "", &[], (FORM, "List-Unsubscribe=One-Click".to_owned()))
    };
    assert_eq!(click("/unsubscribe?token=1.k.e30.AAAA").status, 403);
    assert_eq!(click(&path[..path.len() - 2]).status, 403);
    let done = click(&path);
    assert_eq!(done.status, 200, "{}", done.body);
    let critical = notify(target, &mail(&user, &json!({ "priority": "critical" })));
    let stopped = delivery(target, &critical, is("suppressed"));
    assert_eq!(stopped["why"]["rule"], "opted-out", "{stopped}");
}

#[test]
fn what_was_opened_and_followed_is_counted_once() {
    let target = target();
    let user = user_with_contacts(target);
    let template = target.fresh("news");
    let path = format!("/api/v1/templates/{template}");
    let text = json!({ "subject": "News", "text": "News", "html": "<a href=\"https://shop.example/\">News</a>" });
    put(target, &path, &json!({ "defaultLocale": "en", "texts": { "en": { "email": text } } }));
    let body = json!({
        "userId": user, "category": "news", "template": { "id": template }, "track": true,
        "channels": ["email"],
    });
    let sent = delivery(target, &notify(target, &body), is("delivered"));
    let id = DeliveryId::parse(sent["deliveryId"].as_str().unwrap()).unwrap();
    let open = signed(target, &TokenClaim::Open { delivery: id.clone() });
    let to = "https://shop.example/?a=1&b=2".to_owned();
    let click = signed(target, &TokenClaim::Click { delivery: id, target: to.clone() });
    let browser =
        [("user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")];
    // Opens and clicks within two seconds of delivery are not counted as a reader's.
    let results = target.within(
        30,
        || {
            let pixel = target.send("GET", &format!("/t/o/{open}"), "", &browser, None);
            assert_eq!((pixel.status, pixel.media_type.as_str()), (200, "image/gif"));
            let led = target.send("GET", &format!("/t/c/{click}"), "", &browser, None);
            assert_eq!((led.status, led.location.as_str()), (302, to.as_str()));
            target.get(&path)
        },
        |answer| answer.body["versions"][0]["results"][0]["clicked"] == 1,
    );
    let counted = &results.body["versions"][0]["results"][0];
    assert_eq!((&counted["opened"], &counted["clicked"]), (&json!(1), &json!(1)), "{counted}");
    let swapped = target.send("GET", &format!("/t/c/{open}"), "", &browser, None);
    assert_eq!(swapped.status, 404, "a link of one kind is none of another");
}
