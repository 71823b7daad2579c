//! What is said about visits: when, how often, and under which name.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::links::ClickBatch;
use http::Method;
use local::faults::Fault;
use tests::{Lab, Setup};

use super::{BROKEN, breakable, follow, seed, sum, total};

/// Takes every batch out of the queue, second copies included.
fn batches(lab: &Lab) -> Vec<ClickBatch> {
    let queue = lab.cloud.stack.queues.iter().find(|q| q.logical_id == "ClicksQueue").unwrap();
    let mut bodies = Vec::new();
    loop {
        let queues = lab.cloud.services.queues();
        let taken = queues.receive(&queue.name, 10, None).unwrap();
        if taken.is_empty() {
            return bodies;
        }
        for message in taken {
            assert!(!message.body.contains("127.0.0.1"), "{}", message.body);
            bodies.push(ClickBatch::parse(&message.body).unwrap());
            queues.delete(&queue.name, &message.receipt_handle).unwrap();
        }
    }
}

async fn lab_with_a_link() -> Lab {
    let lab = Lab::new();
    seed(&lab, "", "abc", &[]).await;
    lab
}

#[tokio::test(start_paused = true)]
async fn an_idle_click_is_in_the_queue_before_the_next_request() {
    let lab = lab_with_a_link().await;
    let call = lab.call(Method::GET, "/abc").header("referer", "https://news.example/x");
    call.header("user-agent", "Mozilla/5.0 Firefox/140.0").send().await;
    lab.cloud.functions.quiesce().await;
    let batches = batches(&lab);
    assert_eq!(batches.len(), 1);
    let click = &batches[0].clicks[0];
    assert_eq!((click.domain.as_str(), click.code.as_str(), click.head), ("", "abc", false));
    assert_eq!(click.referrer.as_deref(), Some("news.example"));
    assert_eq!(click.user_agent.as_deref(), Some("Mozilla/5.0 Firefox/140.0"));
    assert_eq!(click.country, None, "any client can send that header");
    assert_ne!(click.visitor, 0);
}

#[tokio::test(start_paused = true)]
async fn under_load_a_message_carries_many_and_the_last_ones_go_when_the_instance_ends() {
    let lab = lab_with_a_link().await;
    for _ in 0..120 {
        follow(&lab, "/abc").await;
        lab.clock.advance_ms(10);
    }
    let sent = batches(&lab);
    assert!(sent.len() <= 4, "{} messages for 120 requests", sent.len());
    let counted: usize = sent.iter().map(|batch| batch.clicks.len()).sum();
    assert!(counted < 120, "nothing was held");
    lab.cloud.functions.retire(Duration::ZERO).await;
    let last: usize = batches(&lab).iter().map(|batch| batch.clicks.len()).sum();
    assert_eq!(counted + last, 120);
    assert_eq!(sum(&lab, "ClicksSent"), 120);
}

#[tokio::test(start_paused = true)]
async fn what_was_held_goes_out_with_the_next_request() {
    let lab = lab_with_a_link().await;
    for _ in 0..5 {
        follow(&lab, "/abc").await;
        lab.clock.advance_ms(10);
    }
    batches(&lab);
    lab.clock.advance_ms(3_000);
    follow(&lab, "/nothing").await;
    let held: usize = batches(&lab).iter().map(|batch| batch.clicks.len()).sum();
    assert_eq!(held, 4);
}

#[tokio::test(start_paused = true)]
async fn a_strict_function_holds_nothing() {
    let lab = Lab::with_parameters(Setup::default(), &[("ClickHoldMs", "0")]);
    seed(&lab, "", "abc", &[]).await;
    for count in 1..=5 {
        follow(&lab, "/abc").await;
        assert_eq!(sum(&lab, "ClicksSent"), count);
    }
}

#[tokio::test(start_paused = true)]
async fn a_head_is_noted_as_one_and_what_is_refused_is_no_click() {
    let lab = lab_with_a_link().await;
    lab.call(Method::HEAD, "/abc").send().await;
    lab.cloud.functions.quiesce().await;
    follow(&lab, "/nothing").await;
    follow(&lab, "/abc+").await;
    lab.cloud.functions.retire(Duration::ZERO).await;
    let clicks: Vec<_> = batches(&lab).into_iter().flat_map(|batch| batch.clicks).collect();
    assert_eq!(clicks.len(), 1);
    assert!(clicks[0].head);
}

#[tokio::test(start_paused = true)]
async fn a_send_whose_answer_is_lost_is_repeated_under_the_same_id() {
    let lab = lab_with_a_link().await;
    follow(&lab, "/abc").await;
    assert_eq!(batches(&lab).len(), 1);
    lab.clock.advance_ms(1_000);
    lab.cloud.faults.inject(0, Fault::CommitThenTimeout);
    follow(&lab, "/abc").await;
    assert!(!lab.cloud.faults.is_pending());
    let sent = batches(&lab);
    let ids: BTreeSet<&str> = sent.iter().map(|batch| batch.id.as_str()).collect();
    assert_eq!((sent.len(), ids.len()), (2, 1), "{sent:?}");
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_fails_costs_no_answer_and_loses_no_click() {
    let lab = breakable();
    seed(&lab, "", "abc", &[]).await;
    BROKEN.set("SendMessage");
    for _ in 0..5 {
        assert_eq!(follow(&lab, "/abc").await.status, 302);
        lab.clock.advance_ms(3_000);
    }
    assert_eq!(batches(&lab).len(), 0);
    BROKEN.set("");
    lab.clock.advance_ms(30_000);
    follow(&lab, "/abc").await;
    let sent = batches(&lab);
    assert_eq!(sent.iter().map(|batch| batch.clicks.len()).sum::<usize>(), 6);
    assert_eq!(sent[0].clicks.len(), 1, "what was sealed stayed as it was");
}

#[tokio::test(start_paused = true)]
async fn a_salt_that_cannot_be_read_costs_no_click() {
    let lab = breakable();
    seed(&lab, "", "abc", &[]).await;
    BROKEN.set("PutItem");
    follow(&lab, "/abc").await;
    BROKEN.set("");
    lab.clock.advance_ms(60_000);
    follow(&lab, "/abc").await;
    let clicks: Vec<_> = batches(&lab).into_iter().flat_map(|batch| batch.clicks).collect();
    assert_eq!(clicks.len(), 2);
    assert_ne!(clicks[0].visitor, clicks[1].visitor, "the first was hashed with a salt of its own");
}

#[tokio::test(start_paused = true)]
async fn a_visitor_is_the_same_on_every_instance_and_another_one_tomorrow() {
    let lab = lab_with_a_link().await;
    let mut visitors = Vec::new();
    for seconds in [0, 60, 86_400] {
        lab.advance_seconds(seconds);
        lab.cloud.functions.go_cold();
        follow(&lab, "/abc").await;
        visitors.extend(batches(&lab).into_iter().flat_map(|batch| batch.clicks));
    }
    let ids: Vec<u64> = visitors.iter().map(|click| click.visitor).collect();
    assert_eq!(ids[0], ids[1]);
    assert_ne!(ids[1], ids[2]);
}

#[tokio::test(start_paused = true)]
async fn an_instance_that_dies_after_its_answer_is_gone_and_the_answer_is_not() {
    let lab = lab_with_a_link().await;
    follow(&lab, "/abc").await;
    lab.clock.advance_ms(1_000);
    lab.cloud.faults.inject(0, Fault::CrashBefore);
    assert_eq!(follow(&lab, "/abc").await.status, 302);
    assert!(!lab.cloud.faults.is_pending(), "it died sending");
    follow(&lab, "/abc").await;
    assert_eq!(total(&lab, ["CacheMisses"]).await, [2], "the next request met a new instance");
}
