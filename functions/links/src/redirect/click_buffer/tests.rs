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
    let (click_buffer, entropy) = (ClickBuffer::default(), entropy());
    assert_eq!(click_buffer.next_batch(&entropy), None);
    click_buffer.add(visit("a"));
    click_buffer.hash_visits(&[7; 32], &GeoIp::default(), |_| true);
    let first = click_buffer.next_batch(&entropy).unwrap();
    click_buffer.add(visit("b"));
    click_buffer.hash_visits(&[7; 32], &GeoIp::default(), |_| true);
    assert_eq!(
        click_buffer.next_batch(&entropy).as_ref(),
        Some(&first),
        "a later click is not put in"
    );
    click_buffer.mark_sent(&first);
    let second = click_buffer.next_batch(&entropy).unwrap();
    assert_ne!(second.id, first.id);
    click_buffer.mark_sent(&first);
    assert_eq!(
        click_buffer.next_batch(&entropy).as_ref(),
        Some(&second),
        "a late word changes nothing"
    );
}

#[test]
fn a_click_tells_what_the_headers_said_and_no_address() {
    let click_buffer = ClickBuffer::default();
    click_buffer.add(visit("a"));
    click_buffer.hash_visits(&[7; 32], &GeoIp::default(), |_| true);
    let batch = click_buffer.next_batch(&entropy()).unwrap();
    let click = &batch.clicks[0];
    assert_eq!(click.referrer.as_deref(), Some("news.example"));
    assert_eq!(click.country.as_deref(), Some("FR"));
    assert_eq!(click.visitor, visitor_hash::hash(&[7; 32], "192.0.2.1", "agent"));
    assert!(!batch.to_json().unwrap().contains("192.0.2.1"));
}

#[test]
fn a_batch_holds_no_more_than_a_message_may() {
    let (click_buffer, entropy) = (ClickBuffer::default(), entropy());
    for _ in 0..=clicks::MAX_BATCH_CLICKS {
        click_buffer.add(visit("a"));
    }
    click_buffer.hash_visits(&[7; 32], &GeoIp::default(), |_| true);
    let first = click_buffer.next_batch(&entropy).unwrap();
    assert_eq!(first.clicks.len(), clicks::MAX_BATCH_CLICKS);
    click_buffer.mark_sent(&first);
    assert_eq!(click_buffer.next_batch(&entropy).unwrap().clicks.len(), 1);
}

#[test]
fn memory_is_bounded_and_what_is_dropped_is_counted() {
    let (click_buffer, entropy) = (ClickBuffer::default(), entropy());
    for n in 0..MAX_PENDING {
        click_buffer.add(visit(&n.to_string()));
    }
    click_buffer.hash_visits(&[7; 32], &GeoIp::default(), |_| true);
    let in_flight = click_buffer.next_batch(&entropy).unwrap();
    for _ in 0..3 {
        click_buffer.add(visit("new"));
    }
    assert_eq!((click_buffer.take_dropped(), click_buffer.take_dropped()), (3, 0));
    click_buffer.mark_sent(&in_flight);
    let next = click_buffer.next_batch(&entropy).unwrap();
    assert_eq!(next.clicks[0].code, "103", "the oldest that were not in_flight went");
}

#[test]
fn a_queue_that_refused_is_left_alone_until_its_pause_is_over() {
    let click_buffer = ClickBuffer::default();
    assert!(!click_buffer.is_backing_off(0));
    click_buffer.mark_failed(5_000);
    assert_eq!(
        [4_999, 5_000, 5_999, 6_000].map(|at| click_buffer.is_backing_off(at)),
        [false, true, true, false]
    );
    click_buffer.mark_failed(6_000);
    assert!(click_buffer.is_backing_off(7_999));
}
