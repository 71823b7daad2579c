//! Counts: each thing once for each delivery, by variant.

use domain::notifications::TemplateId;
use domain::notifications::engagement::Actor;
use futures::future::join_all;
use local::faults::Fault;
use notifications::store::{CountOutcome, CountedEvent, VariantResults};

use super::{at, delivery_id, notifications_in_lab, rendering, token};

const EACH: [CountedEvent; 6] = [
    CountedEvent::Sent,
    CountedEvent::Delivered,
    CountedEvent::Opened(Actor::Person),
    CountedEvent::Opened(Actor::Machine),
    CountedEvent::Clicked(Actor::Person),
    CountedEvent::Clicked(Actor::Machine),
];

#[tokio::test(start_paused = true)]
async fn each_thing_counts_once_for_each_delivery() {
    let (_lab, store) = notifications_in_lab();
    let endpoints = ["email", "sms"];
    for (kind, what) in EACH.into_iter().enumerate() {
        // More of the one than of the other, so that none is taken for another.
        for n in 0..=u64::try_from(kind).unwrap() {
            for endpoint in endpoints {
                let id = delivery_id(n, endpoint);
                for expected in [CountOutcome::Counted, CountOutcome::AlreadyCounted] {
                    let came = store.count(&id, &rendering(None), what, at(0), &token()).await;
                    assert_eq!(came.unwrap(), expected, "{what:?}");
                }
            }
        }
    }
    let template = TemplateId::parse("welcome").unwrap();
    let found = store.results(&template, 3, &[None]).await.unwrap();
    let expected = VariantResults {
        sent: 2,
        delivered: 4,
        opened: 6,
        opened_by_machine: 8,
        clicked: 10,
        clicked_by_machine: 12,
    };
    assert_eq!(found, [expected]);
    assert_eq!(store.results(&template, 2, &[None]).await.unwrap(), [VariantResults::default()]);
}

#[tokio::test(start_paused = true)]
async fn variants_are_counted_apart() {
    let (lab, store) = notifications_in_lab();
    let names: Vec<String> = (0..10).map(|n| format!("variant-{n}")).collect();
    for n in 0..30_u8 {
        let variant = &names[usize::from(n % 3)];
        let id = delivery_id(n.into(), "email");
        store
            .count(&id, &rendering(Some(variant)), CountedEvent::Sent, at(0), &token())
            .await
            .unwrap();
    }
    let template = TemplateId::parse("welcome").unwrap();
    let variants: Vec<Option<&str>> = names.iter().map(|name| Some(name.as_str())).collect();
    lab.record_calls();
    let found = store.results(&template, 3, &variants).await.unwrap();
    assert_eq!(lab.cloud.faults.recorded().len(), 1, "as many as there may be are one read");
    let sent: Vec<u64> = found.iter().map(|results| results.sent).collect();
    assert_eq!(sent, [10, 10, 10, 0, 0, 0, 0, 0, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn many_who_count_the_same_count_it_once() {
    let (lab, store) = notifications_in_lab();
    let opened = CountedEvent::Opened(Actor::Person);
    let (id, rendering) = (delivery_id(1, "email"), rendering(None));
    let tokens: Vec<String> = (0..20).map(|_| token()).collect();
    let counts = tokens.iter().map(|token| store.count(&id, &rendering, opened, at(0), token));
    let came = join_all(counts).await;
    assert_eq!(came.iter().filter(|came| matches!(came, Ok(CountOutcome::Counted))).count(), 1);
    lab.cloud.faults.inject(0, Fault::CommitThenTimeout);
    let clicked = CountedEvent::Clicked(Actor::Person);
    let came = store.count(&id, &rendering, clicked, at(0), &token()).await.unwrap();
    assert_eq!(came, CountOutcome::Counted);
    let found = store.results(&rendering.template, 3, &[None]).await.unwrap();
    assert_eq!((found[0].opened, found[0].clicked), (1, 1));
}
