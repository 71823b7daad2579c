//! Providers: what many nodes have seen adds up, and no slot is given twice.

use domain::SplitMix64;
use domain::Timestamp;
use domain::notifications::rate::{Grant, Lease, SlotCounters, grant};
use domain::notifications::{Breaker, BreakerState, CallCounts, Priority, ProviderName};
use futures::future::join_all;
use local::faults::Fault;
use notifications::store::{LeaseOutcome, TrialOutcome};

use super::{at, notifications_in_lab, provider, token};

fn seen(answered: u32, failed: u32) -> CallCounts {
    CallCounts { answered, failed }
}

#[tokio::test(start_paused = true)]
async fn what_many_see_at_once_adds_up() {
    let (_lab, store) = notifications_in_lab();
    let ses = provider();
    assert_eq!(store.breaker(&ses).await.unwrap(), Breaker::default());
    let looks = (0..20).map(|_| store.record_calls(&ses, seen(2, 1), at(0), token));
    for came in join_all(looks).await {
        came.unwrap();
    }
    let breaker = store.breaker(&ses).await.unwrap();
    assert_eq!(breaker.version, 20);
    let count = breaker.counts[0];
    assert_eq!((count.answered, count.failed, breaker.counts.len()), (40, 20, 1));
    let smtp = ProviderName::parse("smtp").unwrap();
    let both = store.breakers(&[smtp, ses]).await.unwrap();
    assert_eq!(both, [Breaker::default(), breaker]);
}

#[tokio::test(start_paused = true)]
async fn what_was_seen_is_counted_once_if_the_answer_is_lost() {
    let (lab, store) = notifications_in_lab();
    let ses = provider();
    for call in [1, 1] {
        lab.cloud.faults.inject(call, Fault::CommitThenTimeout);
        store.record_calls(&ses, seen(1, 0), at(0), token).await.unwrap();
        assert!(!lab.cloud.faults.is_pending());
    }
    let breaker = store.breaker(&ses).await.unwrap();
    assert_eq!((breaker.version, breaker.counts[0].answered), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_fails_is_left_alone_and_then_tried_by_three() {
    let (_lab, store) = notifications_in_lab();
    let ses = provider();
    let open = store.record_calls(&ses, seen(0, 10), at(0), token).await.unwrap();
    assert_eq!(open.state(at(0)), BreakerState::Open { until: at(10) });
    let early = store.begin_trial(&ses, &open, at(5), &token()).await.unwrap();
    assert_eq!(early, TrialOutcome::Lost(open));
    let mut won = 0;
    // A loser tries again from the row as it is, while trials are open.
    for _ in 0..4 {
        let known = store.breaker(&ses).await.unwrap();
        let tokens: Vec<String> = (0..10).map(|_| token()).collect();
        let trials = tokens.iter().map(|token| store.begin_trial(&ses, &known, at(10), token));
        let came = join_all(trials).await;
        won += came.iter().filter(|came| matches!(came, Ok(TrialOutcome::Won(_)))).count();
    }
    assert_eq!(won, 3);
    let closed = store.record_calls(&ses, seen(3, 0), at(11), token).await.unwrap();
    assert_eq!(closed.state(at(11)), BreakerState::Closed);
    assert_eq!(store.breaker(&ses).await.unwrap(), closed);
}

#[tokio::test(start_paused = true)]
async fn a_trial_whose_answer_was_lost_is_won_none_the_less() {
    let (lab, store) = notifications_in_lab();
    let ses = provider();
    let open = store.record_calls(&ses, seen(0, 10), at(0), token).await.unwrap();
    lab.cloud.faults.inject(0, Fault::CommitThenTimeout);
    let came = store.begin_trial(&ses, &open, at(10), &token()).await.unwrap();
    assert!(matches!(came, TrialOutcome::Won(_)), "{came:?}");
}

fn at_ms(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(at(0).as_millisecond() + ms).unwrap()
}

fn planned(counters: &SlotCounters, class: Priority, wanted: u32, now: Timestamp) -> Option<Lease> {
    match grant(counters, 100, class, wanted, now) {
        Grant::Lease(lease) => Some(lease),
        Grant::Later { .. } => None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_written_within_its_bounds_and_not_beyond() {
    let (_lab, store) = notifications_in_lab();
    let ses = provider();
    assert_eq!(store.slot_counters(&ses).await.unwrap(), SlotCounters::default());
    // Both begin the row anew: the first does, the second finds that it has begun.
    let lease = planned(&SlotCounters::default(), Priority::Low, 5, at_ms(0)).unwrap();
    let LeaseOutcome::Granted { slots, counters } = store.lease(&ses, &lease).await.unwrap() else {
        panic!("there is nothing yet")
    };
    assert_eq!(Some(counters), lease.apply(&SlotCounters::default()));
    assert_eq!((slots, slots.count()), (lease.slots(&counters), 5));
    assert_eq!(store.lease(&ses, &lease).await.unwrap(), LeaseOutcome::Refused(counters));
    assert_eq!(store.slot_counters(&ses).await.unwrap(), counters);
    // One that only moves on may be written again until there is too little left.
    let lease = planned(&counters, Priority::Low, 2, at_ms(1)).unwrap();
    let (mut known, mut last_us, mut given) = (counters, slots.at_us(4), 0);
    while let LeaseOutcome::Granted { slots, counters } = store.lease(&ses, &lease).await.unwrap() {
        assert_eq!(Some(counters), lease.apply(&known));
        assert!(slots.at_us(0) > last_us);
        (known, last_us, given) = (counters, slots.at_us(1), given + 1);
    }
    assert!(given > 1);
    assert_eq!(lease.apply(&known), None);
    assert_eq!(store.slot_counters(&ses).await.unwrap(), known);
}

/// What is said to the store is what the domain means, also to those who plan from what the row was.
#[tokio::test(start_paused = true)]
async fn nodes_that_lease_at_once_never_have_a_slot_in_common() {
    let (_lab, store) = notifications_in_lab();
    let ses = provider();
    let mut random = SplitMix64::new(7);
    let mut rows = vec![SlotCounters::default(); 12];
    let (mut taken, mut ours, mut refused) = (Vec::new(), 0, 0);
    for step in 0..60 {
        let now = at_ms(step * 35);
        let mut nodes = Vec::new();
        for (node, known) in rows.iter().enumerate() {
            let class = Priority::ALL[node % 3];
            let wanted = 1 + u32::try_from(random.below(8)).unwrap();
            nodes.extend(planned(known, class, wanted, now).map(|lease| (node, lease)));
        }
        let writes = nodes.iter().map(|(_, lease)| store.lease(&ses, lease));
        for ((node, _), came) in nodes.iter().zip(join_all(writes).await) {
            match came.unwrap() {
                LeaseOutcome::Granted { slots, counters } => {
                    taken.extend((0..slots.count()).map(|index| slots.at_us(index)));
                    rows[*node] = counters;
                    ours += 1;
                }
                LeaseOutcome::Refused(counters) => {
                    rows[*node] = counters;
                    refused += 1;
                }
            }
        }
        // A node that got nothing planned knows too much or too little: it looks.
        let current = store.slot_counters(&ses).await.unwrap();
        for (node, row) in rows.iter_mut().enumerate() {
            if !nodes.iter().any(|(planner, _)| *planner == node) {
                *row = current;
            }
        }
    }
    assert!(ours > 50 && refused > 5, "{ours} {refused}");
    taken.sort_unstable();
    assert!(taken.windows(2).all(|pair| pair[1] - pair[0] >= 10_000), "a hundred a second");
}

#[tokio::test(start_paused = true)]
async fn slots_whose_answer_was_lost_are_not_leased_again() {
    let (lab, store) = notifications_in_lab();
    let ses = provider();
    let first = planned(&SlotCounters::default(), Priority::Critical, 5, at_ms(0)).unwrap();
    let LeaseOutcome::Granted { slots, counters } = store.lease(&ses, &first).await.unwrap() else {
        panic!("there is nothing yet")
    };
    let next = planned(&counters, Priority::Critical, 5, at_ms(1)).unwrap();
    lab.cloud.faults.inject(0, Fault::CommitThenTimeout);
    let LeaseOutcome::Granted { slots: later, .. } = store.lease(&ses, &next).await.unwrap() else {
        panic!("there are enough")
    };
    assert!(!lab.cloud.faults.is_pending());
    assert!(later.at_us(0) - slots.at_us(4) > 50_000, "five are lost in between");
}
