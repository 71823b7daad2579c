//! What waits, what goes, and what is dropped.

use super::*;

fn visit(code: &str) -> Visit {
    Visit {
        domain: String::new(),
        code: code.to_owned(),
        at: Timestamp::UNIX_EPOCH,
        address: "192.0.2.1".to_owned(),
        user_agent: Some("agent".to_owned()),
        referrer: Some("https://News.example/a?b".to_owned()),
        country: Some("fr".to_owned()),
        head: false,
        variant: Some(1),
        limited: false,
    }
}

fn entropy() -> Entropy {
    let next = std::sync::atomic::AtomicU8::new(0);
    Entropy::new(move |bytes| {
        bytes.fill(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
    })
}

#[test]
fn a_batch_keeps_its_id_until_the_queue_has_it() {
    let (outbox, entropy) = (Outbox::default(), entropy());
    assert_eq!(outbox.batch(&entropy), None);
    outbox.note(visit("a"));
    outbox.hash_with(&[7; 32], &Places::default(), |_| true);
    let first = outbox.batch(&entropy).unwrap();
    outbox.note(visit("b"));
    outbox.hash_with(&[7; 32], &Places::default(), |_| true);
    assert_eq!(outbox.batch(&entropy).as_ref(), Some(&first), "a later click is not put in");
    outbox.sent(&first);
    let second = outbox.batch(&entropy).unwrap();
    assert_ne!(second.id, first.id);
    outbox.sent(&first);
    assert_eq!(outbox.batch(&entropy).as_ref(), Some(&second), "a late word changes nothing");
}

#[test]
fn a_click_tells_what_the_headers_said_and_no_address() {
    let outbox = Outbox::default();
    outbox.note(visit("a"));
    outbox.hash_with(&[7; 32], &Places::default(), |_| true);
    let batch = outbox.batch(&entropy()).unwrap();
    let click = &batch.clicks[0];
    assert_eq!(click.referrer.as_deref(), Some("news.example"));
    assert_eq!(click.country.as_deref(), Some("FR"));
    assert_eq!(click.visitor, visitors::hash(&[7; 32], "192.0.2.1", "agent"));
    assert!(!batch.to_json().unwrap().contains("192.0.2.1"));
}

#[test]
fn a_batch_holds_no_more_than_a_message_may() {
    let (outbox, entropy) = (Outbox::default(), entropy());
    for _ in 0..=clicks::MAX_BATCH_CLICKS {
        outbox.note(visit("a"));
    }
    outbox.hash_with(&[7; 32], &Places::default(), |_| true);
    let first = outbox.batch(&entropy).unwrap();
    assert_eq!(first.clicks.len(), clicks::MAX_BATCH_CLICKS);
    outbox.sent(&first);
    assert_eq!(outbox.batch(&entropy).unwrap().clicks.len(), 1);
}

#[test]
fn memory_is_bounded_and_what_is_dropped_is_counted() {
    let (outbox, entropy) = (Outbox::default(), entropy());
    for n in 0..MOST {
        outbox.note(visit(&n.to_string()));
    }
    outbox.hash_with(&[7; 32], &Places::default(), |_| true);
    let sealed = outbox.batch(&entropy).unwrap();
    for _ in 0..3 {
        outbox.note(visit("new"));
    }
    assert_eq!((outbox.take_dropped(), outbox.take_dropped()), (3, 0));
    outbox.sent(&sealed);
    let next = outbox.batch(&entropy).unwrap();
    assert_eq!(next.clicks[0].code, "103", "the oldest that were not sealed went");
}

#[test]
fn a_queue_that_refused_is_left_alone_until_its_pause_is_over() {
    let outbox = Outbox::default();
    assert!(!outbox.is_quiet(0));
    outbox.refused(5_000);
    assert_eq!(
        [4_999, 5_000, 5_999, 6_000].map(|at| outbox.is_quiet(at)),
        [false, true, true, false]
    );
    outbox.refused(6_000);
    assert!(outbox.is_quiet(7_999));
}
