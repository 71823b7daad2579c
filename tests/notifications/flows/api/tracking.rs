//! Opens and clicks: each counted once for a mail, by whom it was, and there is no open redirect.

use domain::Timestamp;
use domain::accounts::UserId;
use domain::notifications::token::{KeyRing, TokenClaim, TokenKey};
use domain::notifications::{Category, Channel, Content, DeliveryId, Endpoint, NotificationId};
use http::Method;
use serde_json::{Value, json};
use tests::scripted_providers::ScriptedProviders;
use tests::{Lab, Response};

use super::{accepted, put, with_providers};

const ORDER: &str = "/api/v1/templates/order";
const TARGET: &str = "https://shop.example/orders/7?a=1&b=%20c#d";
const CHROME: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like \
                      Gecko) Chrome/126.0.0.0 Safari/537.36";
const BOT: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";

/// A mail that was sent, and the paths that its image and its link have.
struct Mail {
    lab: Lab,
    open: String,
    click: String,
}

impl Mail {
    async fn sent() -> Self {
        let (lab, providers) = with_providers();
        super::reachable(&lab, "ada").await;
        let link = TARGET.replace('&', "&amp;");
        let html = format!("<p><a href=\"{link}\">Look</a></p>");
        let email = json!({ "subject": "Hello", "text": "Hello", "html": html });
        let draft =
            json!({ "defaultLocale": "en", "required": [], "texts": { "en": { "email": email } } });
        put(&lab, ORDER, &draft).await;
        let body = json!({
            "userId": "ada", "category": "orders", "template": { "id": "order" }, "track": true,
        });
        accepted(&lab, &body).await;
        lab.cloud.settle().await;
        let open = path(&providers, "src=\"https://sy.test/t/o/");
        let click = path(&providers, "href=\"https://sy.test/t/c/");
        Self { lab, open: format!("/t/o/{open}"), click: format!("/t/c/{click}") }
    }

    async fn visit(&self, method: Method, path: &str, agent: &str) -> Response {
        self.lab.call(method, path).header("user-agent", agent).send().await
    }

    async fn results(&self) -> Value {
        self.lab.get(ORDER).await.body["versions"][0]["results"][0].clone()
    }
}

/// What follows `start` in the only mail, up to the quotation mark.
fn path(providers: &ScriptedProviders, start: &str) -> String {
    let message = providers.sends().remove(0).message;
    let Content::Email { html: Some(html), .. } = message.content else { panic!("no mail") };
    let (_, rest) = html.split_once(start).unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}

#[tokio::test(start_paused = true)]
async fn each_is_counted_once_as_a_person_s_or_a_machine_s() {
    let mail = Mail::sent().await;
    let counts = |sent, opened, clicked, by_machine: (u64, u64)| {
        json!({
            "sent": sent, "delivered": 0, "opened": opened, "clicked": clicked,
            "openedByMachine": by_machine.0, "clickedByMachine": by_machine.1,
        })
    };
    // No person is as fast as that.
    mail.visit(Method::GET, &mail.open, CHROME).await;
    assert_eq!(mail.results().await, counts(1, 0, 0, (1, 0)));
    mail.lab.advance_seconds(60);
    mail.visit(Method::GET, &mail.click, BOT).await;
    assert_eq!(mail.results().await, counts(1, 0, 0, (1, 1)));
    for _ in 0..3 {
        let seen = mail.visit(Method::GET, &mail.open, CHROME).await;
        assert_eq!((seen.status.as_u16(), seen.header("content-type")), (200, "image/gif"));
        let led = mail.visit(Method::GET, &mail.click, CHROME).await;
        assert_eq!((led.status.as_u16(), led.header("location")), (302, TARGET));
        mail.visit(Method::GET, &mail.open, BOT).await;
    }
    assert_eq!(mail.results().await, counts(1, 1, 1, (1, 1)));
}

#[tokio::test(start_paused = true)]
async fn a_prefetch_is_a_machine_s() {
    let mail = Mail::sent().await;
    mail.lab.advance_seconds(60);
    let call = mail.lab.call(Method::GET, &mail.open).header("user-agent", CHROME);
    assert_eq!(call.header("sec-purpose", "prefetch").send().await.status, 200);
    let results = mail.results().await;
    assert_eq!((&results["opened"], &results["openedByMachine"]), (&json!(0), &json!(1)));
}

#[tokio::test(start_paused = true)]
async fn forged_expired_and_other_tokens_lead_nowhere_and_count_nothing() {
    let mail = Mail::sent().await;
    mail.lab.advance_seconds(60);
    let key_ring = |byte: u8| KeyRing::new(TokenKey::new("test", &[byte; 32]).unwrap(), Vec::new());
    let delivery = || DeliveryId {
        notification_id: NotificationId::parse(super::UNKNOWN_ID).unwrap(),
        endpoint: Endpoint::Email,
    };
    let click =
        |target: &str| TokenClaim::Click { delivery: delivery(), target: target.to_owned() };
    let open = TokenClaim::Open { delivery: delivery() };
    let unsubscribe = TokenClaim::Unsubscribe {
        user: UserId::outside("ada"),
        channel: Channel::Email,
        category: Category::parse("orders").unwrap(),
    };
    let at = |seconds: i64| Timestamp::from_second(1_772_366_400 + seconds).unwrap();
    let mut changed = mail.click.clone();
    let last = if changed.pop() == Some('A') { 'B' } else { 'A' };
    changed.push(last);
    for (path, status) in [
        ("/t/c/nonsense".to_owned(), 404),
        (changed, 404),
        (format!("/t/c/{}", key_ring(8).sign(&click(TARGET), at(86_400))), 404),
        (format!("/t/c/{}", key_ring(7).sign(&click(TARGET), at(59))), 410),
        (format!("/t/c/{}", key_ring(7).sign(&open, at(86_400))), 404),
        (format!("/t/c/{}", key_ring(7).sign(&unsubscribe, at(86_400))), 404),
        (format!("/t/c/{}", key_ring(7).sign(&click("javascript:alert(1)"), at(86_400))), 404),
        (mail.open.replace("/t/o/", "/t/c/"), 404),
        (mail.click.replace("/t/c/", "/t/o/"), 404),
        // Of a mail that is forgotten, the link still works.
        (format!("/t/c/{}", key_ring(7).sign(&click(TARGET), at(86_400))), 302),
    ] {
        let answer = mail.visit(Method::GET, &path, CHROME).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        assert_eq!(answer.header("location").is_empty(), status != 302, "{path}");
    }
    let results = mail.results().await;
    assert_eq!((&results["opened"], &results["clicked"]), (&json!(0), &json!(0)));
}
