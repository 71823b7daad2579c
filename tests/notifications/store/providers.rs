//! Providers: what many nodes have seen adds up, and no slot is given twice.

use domain::SplitMix64;
use domain::Timestamp;
use domain::notifications::rate::{Grant, Lanes, Lease, grant};
use domain::notifications::{Breaker, Gate, Priority, ProviderName, Seen};
use futures::future::join_all;
use local::faults::Fault;
use notifications::store::{Leased, Trial};
use tests::Lab;

use super::{at, notifications, provider, token};

fn seen(fine: u32, failed: u32) -> Seen {
    Seen { fine, failed }
}

#[tokio::test(start_paused = true)]
async fn what_many_see_at_once_adds_up() {
    let lab = Lab::new();
    let store = notifications(&lab);
    let ses = provider();
    assert_eq!(store.breaker(&ses).await.unwrap(), Breaker::default());
    let looks = (0..20).map(|_| store.observe(&ses, seen(2, 1), at(0), token));
    for came in join_all(looks).await {
        came.unwrap();
    }
    let breaker = store.breaker(&ses).await.unwrap();
    assert_eq!(breaker.version, 20);
    let count = breaker.counts[0];
    assert_eq!((count.fine, count.failed, breaker.counts.len()), (40, 20, 1));
    let smtp = ProviderName::parse("smtp").unwrap();
    let both = store.breakers(&[smtp, ses]).await.unwrap();
    assert_eq!(both, [Breaker::default(), breaker]);
}

#[tokio::test(start_paused = true)]
async fn what_was_seen_is_counted_once_if_the_answer_is_lost() {
    let lab = Lab::new();
    let store = notifications(&lab);
    let ses = provider();
    for call in [1, 1] {
        lab.cloud.faults.inject(call, Fault::CommitThenTimeout);
        store.observe(&ses, seen(1, 0), at(0), token).await.unwrap();
        assert!(!lab.cloud.faults.is_pending());
    }
    let breaker = store.breaker(&ses).await.unwrap();
    assert_eq!((breaker.version, breaker.counts[0].fine), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_fails_is_left_alone_and_then_tried_by_three() {
    let lab = Lab::new();
    let store = notifications(&lab);
    let ses = provider();
    let open = store.observe(&ses, seen(0, 10), at(0), token).await.unwrap();
    assert_eq!(open.gate(at(0)), Gate::Open { until: at(10) });
    let early = store.begin_trial(&ses, &open, at(5), &token()).await.unwrap();
    assert_eq!(early, Trial::Lost(open));
    let mut won = 0;
    // Whoever loses looks again at what they met, until it is no time for it.
    for _ in 0..4 {
        let known = store.breaker(&ses).await.unwrap();
        let tokens: Vec<String> = (0..10).map(|_| token()).collect();
        let trials = tokens.iter().map(|token| store.begin_trial(&ses, &known, at(10), token));
        let came = join_all(trials).await;
        won += came.iter().filter(|came| matches!(came, Ok(Trial::Won(_)))).count();
    }
    assert_eq!(won, 3);
    let closed = store.observe(&ses, seen(3, 0), at(11), token).await.unwrap();
    assert_eq!(closed.gate(at(11)), Gate::Closed);
    assert_eq!(store.breaker(&ses).await.unwrap(), closed);
}

#[tokio::test(start_paused = true)]
async fn a_trial_whose_answer_was_lost_is_won_none_the_less() {
    let lab = Lab::new();
    let store = notifications(&lab);
    let ses = provider();
    let open = store.observe(&ses, seen(0, 10), at(0), token).await.unwrap();
    lab.cloud.faults.inject(0, Fault::CommitThenTimeout);
    let came = store.begin_trial(&ses, &open, at(10), &token()).await.unwrap();
    assert!(matches!(came, Trial::Won(_)), "{came:?}");
}

fn at_ms(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(at(0).as_millisecond() + ms).unwrap()
}

fn planned(lanes: &Lanes, class: Priority, wanted: u32, now: Timestamp) -> Option<Lease> {
    match grant(lanes, 100, class, wanted, now) {
        Grant::Lease(lease) => Some(lease),
        Grant::Later { .. } => None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_written_within_its_bounds_and_not_beyond() {
    let lab = Lab::new();
    let store = notifications(&lab);
    let ses = provider();
    assert_eq!(store.lanes(&ses).await.unwrap(), Lanes::default());
    // Both begin the row anew: the first does, the second finds that it has begun.
    let lease = planned(&Lanes::default(), Priority::Low, 5, at_ms(0)).unwrap();
    let Leased::Ours { slots, lanes } = store.lease(&ses, &lease).await.unwrap() else {
        panic!("there is nothing yet")
    };
    assert_eq!(Some(lanes), lease.apply(&Lanes::default()));
    assert_eq!((slots, slots.count()), (lease.slots(&lanes), 5));
    assert_eq!(store.lease(&ses, &lease).await.unwrap(), Leased::Refused(lanes));
    assert_eq!(store.lanes(&ses).await.unwrap(), lanes);
    // One that only moves on may be written again until there is too little left.
    let lease = planned(&lanes, Priority::Low, 2, at_ms(1)).unwrap();
    let (mut known, mut last_us, mut given) = (lanes, slots.at_us(4), 0);
    while let Leased::Ours { slots, lanes } = store.lease(&ses, &lease).await.unwrap() {
        assert_eq!(Some(lanes), lease.apply(&known));
        assert!(slots.at_us(0) > last_us);
        (known, last_us, given) = (lanes, slots.at_us(1), given + 1);
    }
    assert!(given > 1);
    assert_eq!(lease.apply(&known), None);
    assert_eq!(store.lanes(&ses).await.unwrap(), known);
}

/// What is said to the store is what the domain means, also to those who plan from what the row was.
#[tokio::test(start_paused = true)]
async fn nodes_that_lease_at_once_never_have_a_slot_in_common() {
    let lab = Lab::new();
    let store = notifications(&lab);
    let ses = provider();
    let mut dice = SplitMix64::new(7);
    let mut rows = vec![Lanes::default(); 12];
    let (mut taken, mut ours, mut refused) = (Vec::new(), 0, 0);
    for step in 0..60 {
        let now = at_ms(step * 35);
        let mut nodes = Vec::new();
        for (node, known) in rows.iter().enumerate() {
            let class = Priority::ALL[node % 3];
            let wanted = 1 + u32::try_from(dice.below(8)).unwrap();
            nodes.extend(planned(known, class, wanted, now).map(|lease| (node, lease)));
        }
        let writes = nodes.iter().map(|(_, lease)| store.lease(&ses, lease));
        for ((node, _), came) in nodes.iter().zip(join_all(writes).await) {
            match came.unwrap() {
                Leased::Ours { slots, lanes } => {
                    taken.extend((0..slots.count()).map(|index| slots.at_us(index)));
                    rows[*node] = lanes;
                    ours += 1;
                }
                Leased::Refused(lanes) => {
                    rows[*node] = lanes;
                    refused += 1;
                }
            }
        }
        // A node that got nothing planned knows too much or too little: it looks.
        let current = store.lanes(&ses).await.unwrap();
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
async fn slots_whose_answer_was_lost_are_nobodys() {
    let lab = Lab::new();
    let store = notifications(&lab);
    let ses = provider();
    let first = planned(&Lanes::default(), Priority::Critical, 5, at_ms(0)).unwrap();
    let Leased::Ours { slots, lanes } = store.lease(&ses, &first).await.unwrap() else {
        panic!("there is nothing yet")
    };
    let next = planned(&lanes, Priority::Critical, 5, at_ms(1)).unwrap();
    lab.cloud.faults.inject(0, Fault::CommitThenTimeout);
    let Leased::Ours { slots: later, .. } = store.lease(&ses, &next).await.unwrap() else {
        panic!("there are enough")
    };
    assert!(!lab.cloud.faults.is_pending());
    assert!(later.at_us(0) - slots.at_us(4) > 50_000, "five are lost in between");
}
