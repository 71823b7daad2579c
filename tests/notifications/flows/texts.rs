//! What people get to read: in their language, with links that only they can use.

use domain::accounts::UserId;
use domain::notifications::token::{KeyRing, TokenClaim, TokenKey, TokenScope};
use domain::notifications::{
    Body, Class, Content, Locale, Reason, Status, Template, TemplateDraft, TemplateId,
    TemplateVersion,
};
use notifications::store::PublishOutcome;
use serde_json::json;

use super::World;

/// Publishes a template with words in English and Spanish.
async fn publish(world: &World) -> TemplateId {
    let id = TemplateId::parse("welcome").unwrap();
    let draft: TemplateDraft = serde_json::from_value(json!({
        "defaultLocale": "en",
        "required": ["name"],
        "texts": {
            "en": { "email": { "subject": "Hello {{ name }}", "text": "Bye: {{ unsubscribe_url }}" } },
            "es": { "email": { "subject": "Hola {{ name }}", "text": "Adiós: {{ unsubscribe_url }}" } },
        },
    }))
    .unwrap();
    let version = TemplateVersion {
        template: id.clone(),
        number: 1,
        draft,
        created_by: UserId::outside("shop"),
        created_at: world.now(),
    };
    let template = Template::published(None, &id);
    let now = world.now();
    let published = world.store.publish(&template, &version, None, now, &world.token()).await;
    assert_eq!(published.unwrap(), PublishOutcome::Published);
    id
}

#[tokio::test(start_paused = true)]
async fn a_template_is_filled_in_for_its_reader_and_the_fallback_is_kept() {
    let world = World::new();
    let id = publish(&world).await;
    let ada = world.recipient("ada").await;
    world.change_preferences(&ada, |it| it.language = Some(Locale::parse("es_MX").unwrap())).await;
    let mut draft = world.draft(&ada);
    draft.body = Body::Template { id, version: 1, data: r#"{"name":"Ada"}"#.to_owned() };
    let id = world.send(&draft, &["email"]).await.remove(0);
    world.lab.settle_doubled().await;
    let delivery = world.delivery(&id).await;
    let rendering = delivery.rendering.unwrap();
    assert_eq!((rendering.version, rendering.locale.as_str()), (1, "es"));
    let message = world.providers.sends()[0].message.clone();
    let Content::Email { subject, text, .. } = message.content else { panic!("no mail") };
    assert_eq!(subject, "Hola Ada");
    let url = message.unsubscribe.unwrap();
    assert_eq!(text, format!("Adiós: {url}"));
    let token = url.strip_prefix("https://sy.test/unsubscribe?token=").unwrap();
    let claim = key_ring().verify(TokenScope::Unsubscribe, token, world.now()).unwrap();
    assert!(matches!(claim, TokenClaim::Unsubscribe { user, .. } if user == ada));
}

#[tokio::test(start_paused = true)]
async fn a_text_that_can_t_be_made_is_a_dead_letter_without_an_attempt() {
    let world = World::new();
    let id = publish(&world).await;
    let ada = world.recipient("ada").await;
    let mut draft = world.draft(&ada);
    draft.body = Body::Template { id, version: 1, data: "{}".to_owned() };
    let ids = world.send(&draft, &["email", "sms"]).await;
    world.lab.settle_doubled().await;
    assert!(world.providers.sends().is_empty());
    for id in &ids {
        let delivery = world.delivery(id).await;
        assert_eq!((delivery.status, delivery.attempt), (Status::Failed, 0));
        assert_eq!(delivery.class, Some(Class::Content));
        assert!(matches!(delivery.reason, Some(Reason::Unrenderable { .. })));
    }
}

#[tokio::test(start_paused = true)]
async fn a_mail_tells_of_opens_and_clicks_only_if_that_was_asked_for() {
    let (world, ada) = World::with_ada().await;
    for tracked in [false, true] {
        let mut draft = world.draft(&ada);
        draft.tracked = tracked;
        let id = world.send(&draft, &["email"]).await.remove(0);
        world.lab.settle_doubled().await;
        let message = world.providers.sends().last().unwrap().message.clone();
        let Content::Email { html: Some(html), .. } = message.content else { panic!("no mail") };
        assert_eq!(html.contains("https://shop.example/"), !tracked, "{html}");
        if tracked {
            let token = |start: &str| {
                let (_, rest) = html.split_once(start).unwrap();
                rest.split_once('"').unwrap().0.to_owned()
            };
            let click = token("href=\"https://sy.test/t/c/");
            let claim = key_ring().verify(TokenScope::Click, &click, world.now()).unwrap();
            let target = "https://shop.example/".to_owned();
            assert_eq!(claim, TokenClaim::Click { delivery: id.clone(), target });
            let open = token("src=\"https://sy.test/t/o/");
            let claim = key_ring().verify(TokenScope::Open, &open, world.now()).unwrap();
            assert_eq!(claim, TokenClaim::Open { delivery: id });
        }
    }
}

/// The ring of every test's cloud.
fn key_ring() -> KeyRing {
    KeyRing::new(TokenKey::new("test", &[7; 32]).unwrap(), Vec::new())
}
