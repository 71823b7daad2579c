//! Templates: versions that never change, and one that is active.

use domain::notifications::{Template, TemplateDraft, TemplateId, TemplateVersion};
use futures::future::join_all;
use local::faults::Fault;
use notifications::store::Notifications;
use notifications::store::{PublishOutcome, SaveOutcome};
use store::idempotency::{Claim, IdempotentRequest, StoredResponse};

use super::{at, notifications_in_lab, token, user};

fn welcome() -> TemplateId {
    TemplateId::parse("welcome").unwrap()
}

fn version(number: u32, text: &str) -> TemplateVersion {
    let draft = serde_json::json!({
        "defaultLocale": "en",
        "required": ["name"],
        "test": { "name": "tone", "variants": [
            { "name": "a", "weight": 1, "texts": {
                "en": { "email": { "subject": "{{ name }}", "text": text, "html": "" } },
                "es_MX": { "sms": { "text": "Hola" } } } },
            { "name": "b", "weight": 9, "texts": {
                "en": { "push": { "title": "{{ name }}", "body": "", "data": { "k": "v" } } } } }
        ] }
    });
    let draft: TemplateDraft = serde_json::from_value(draft).unwrap();
    TemplateVersion {
        template: welcome(),
        number,
        draft,
        created_by: user("author"),
        created_at: at(0),
    }
}

async fn publish(store: &Notifications, after: &Template, text: &str) -> PublishOutcome {
    let version = version(after.latest, text);
    store.publish(after, &version, None, at(0), &token()).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn versions_are_kept_as_they_were_published() {
    let (_lab, store) = notifications_in_lab();
    assert_eq!(store.template(&welcome()).await.unwrap(), None);
    let first = Template::published(None, &welcome());
    assert_eq!(publish(&store, &first, "one").await, PublishOutcome::Published);
    let second = Template::published(Some(&first), &welcome());
    assert_eq!(publish(&store, &second, "two").await, PublishOutcome::Published);
    assert_eq!(store.template(&welcome()).await.unwrap(), Some(second));
    for (number, text) in [(1, "one"), (2, "two")] {
        let found = store.template_version(&welcome(), number).await.unwrap();
        assert_eq!(found, Some(version(number, text).into()));
    }
    assert_eq!(store.template_version(&welcome(), 3).await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn of_those_who_publish_at_once_one_gets_the_number() {
    let (_lab, store) = notifications_in_lab();
    let first = Template::published(None, &welcome());
    let texts: Vec<String> = (0..20).map(|n| n.to_string()).collect();
    let came = join_all(texts.iter().map(|text| publish(&store, &first, text))).await;
    let winners: Vec<usize> = (0..20).filter(|n| came[*n] == PublishOutcome::Published).collect();
    assert_eq!(winners.len(), 1);
    assert_eq!(came.iter().filter(|came| **came == PublishOutcome::Conflict).count(), 19);
    let stored = store.template_version(&welcome(), 1).await.unwrap();
    assert_eq!(stored, Some(version(1, &texts[winners[0]]).into()));
}

#[tokio::test(start_paused = true)]
async fn a_version_that_exists_is_not_written_over_even_for_a_template_that_fits() {
    let (_lab, store) = notifications_in_lab();
    let first = Template::published(None, &welcome());
    publish(&store, &first, "one").await;
    let forged = Template { version: 2, ..first.clone() };
    assert_eq!(publish(&store, &forged, "other").await, PublishOutcome::Conflict);
    let stored = store.template_version(&welcome(), 1).await.unwrap();
    assert_eq!(stored, Some(version(1, "one").into()));
    assert_eq!(store.template(&welcome()).await.unwrap(), Some(first));
}

#[tokio::test(start_paused = true)]
async fn a_repeated_call_publishes_nothing_more() {
    let (_lab, store) = notifications_in_lab();
    let request = IdempotentRequest {
        caller: "author",
        operation: "publishTemplate",
        key: "key",
        fingerprint: [0; 32],
        claimant: "other",
        deadline: at(30),
    };
    let answer = |body: &[u8]| StoredResponse {
        status: 200,
        location: None,
        etag: None,
        body: body.to_vec(),
    };
    let first = Template::published(None, &welcome());
    let once = (&request, &answer(b"1"));
    let came = store.publish(&first, &version(1, "one"), Some(once), at(0), &token()).await;
    assert_eq!(came.unwrap(), PublishOutcome::Published);
    let second = Template::published(Some(&first), &welcome());
    let once = (&request, &answer(b"2"));
    let came = store.publish(&second, &version(2, "one"), Some(once), at(1), &token()).await;
    assert_eq!(came.unwrap(), PublishOutcome::Repeated(Claim::Answered(answer(b"1"))));
    assert_eq!(store.template(&welcome()).await.unwrap(), Some(first));
}

#[tokio::test(start_paused = true)]
async fn a_version_is_activated_if_the_template_is_what_it_was() {
    let (lab, store) = notifications_in_lab();
    let first = Template::published(None, &welcome());
    let unheard_of = Template { version: 2, ..first.clone() };
    assert_eq!(store.activate(&unheard_of, &token()).await.unwrap(), SaveOutcome::Conflict);
    publish(&store, &first, "one").await;
    let second = Template::published(Some(&first), &welcome());
    publish(&store, &second, "two").await;
    let stale = first.activated(1).unwrap();
    assert_eq!(store.activate(&stale, &token()).await.unwrap(), SaveOutcome::Conflict);
    let active = second.activated(2).unwrap();
    lab.cloud.faults.inject(0, Fault::CommitThenTimeout);
    assert_eq!(store.activate(&active, &token()).await.unwrap(), SaveOutcome::Saved);
    assert!(!lab.cloud.faults.is_pending());
    assert_eq!(store.template(&welcome()).await.unwrap(), Some(active));
}
