//! Slots: evenly spaced, shared as they should be, and never too many.

use proptest::prelude::*;

use super::*;

fn at_us(us: i64) -> Timestamp {
    Timestamp::from_microsecond(1_772_323_200_000_000 + us).unwrap()
}

/// Leases from a row that is known as it is.
fn lease(
    counters: &mut SlotCounters,
    rate: u32,
    priority: Priority,
    wanted: u32,
    now: Timestamp,
) -> Option<Slots> {
    match grant(counters, rate, priority, wanted, now) {
        Grant::Lease(lease) => {
            *counters = lease.apply(counters).unwrap();
            Some(lease.slots(counters))
        }
        Grant::Later { at } => {
            assert!(at > now);
            None
        }
    }
}

/// The most uses within any second, if each slot is used at the worst moment it may be.
fn worst_second(slots: &[i64]) -> usize {
    let (mut worst, mut end) = (0, 0);
    for (index, first) in slots.iter().enumerate() {
        // The first is used as late as it may be; the others in time.
        let until = first + GRACE_MS * 1_000 + 1_000_000;
        while slots.get(end).is_some_and(|slot| *slot < until) {
            end += 1;
        }
        worst = worst.max(end - index);
    }
    worst
}

/// Lets greedy classes ask in turns, every few milliseconds, and counts what each gets.
fn run(rate: u32, greedy: &[Priority], seconds: i64) -> ([usize; 3], Vec<i64>) {
    let mut counters = SlotCounters::default();
    let mut got = [0; 3];
    let mut slots_used = Vec::new();
    let mut turn = 0;
    for ms in (0..seconds * 1_000).step_by(3) {
        // Low asks more often than the others, having most workers.
        for _ in 0..4 {
            turn += 1;
            let priority = greedy[turn % greedy.len()];
            if let Some(slots) = lease(&mut counters, rate, priority, 10, at_us(ms * 1_000)) {
                got[priority.level()] += slots.count() as usize;
                slots_used.extend((0..slots.count()).map(|index| slots.at_us(index)));
            }
        }
    }
    (got, slots_used)
}

#[test]
fn all_who_want_everything_get_their_shares() {
    for rate in [20, 100, 1_000] {
        let (got, _) = run(rate, &Priority::ALL, 60);
        let total: usize = got.iter().sum();
        for (level, share) in [70, 20, 10].into_iter().enumerate() {
            let percent = got[level] * 100 / total;
            assert!(percent.abs_diff(share) <= 2, "{rate}: {got:?}");
        }
    }
}

#[test]
fn an_idle_class_lends_its_share_and_nothing_is_wasted() {
    for greedy in [
        &[Priority::Low][..],
        &[Priority::Critical],
        &[Priority::Normal, Priority::Low, Priority::Low],
        &[Priority::Critical, Priority::Low, Priority::Low, Priority::Low],
    ] {
        for rate in [5, 100, 2_000] {
            let (got, _) = run(rate, greedy, 60);
            let total: usize = got.iter().sum();
            assert!(total >= rate as usize * 60 * 95 / 100 - 1, "{rate} {greedy:?}: {got:?}");
            assert!(got[2] == 0 || got[2] * 100 / total >= 9, "{rate} {greedy:?}: {got:?}");
            assert!(got[0] == 0 || got[0] * 100 / total >= 69, "{rate} {greedy:?}: {got:?}");
        }
    }
}

#[test]
fn critical_is_served_at_once_however_much_low_waits() {
    let mut counters = SlotCounters::default();
    for ms in 0..5_000 {
        let now = at_us(ms * 1_000);
        lease(&mut counters, 100, Priority::Low, 1_000, now);
        if ms % 1_000 == 999 {
            let slots = lease(&mut counters, 100, Priority::Critical, 5, now).unwrap();
            assert_eq!(slots.count(), 5);
            assert!(slots.at_us(0) - now.as_microsecond() < 250_000);
        }
    }
}

#[test]
fn a_slot_is_for_its_time_and_a_little_longer() {
    let slots = lease(&mut SlotCounters::default(), 100, Priority::Low, 2, at_us(0)).unwrap();
    assert_eq!(slots.count(), 2);
    let at = |us: i64| Timestamp::from_microsecond(slots.at_us(1) + us).unwrap();
    assert_eq!(slots.wait_us(1, at(-500)), Some(500));
    assert_eq!(slots.wait_us(1, at(50_000)), Some(0));
    assert_eq!(slots.wait_us(1, at(50_001)), None);
    assert_eq!(slots.wait_us(2, at(0)), None, "there are two");
}

#[test]
fn slow_providers_are_not_overrun_either() {
    for rate in 1..=60 {
        let (_, slots) = run(rate, &Priority::ALL, 20);
        let most = rate as usize * 105 / 100;
        assert!(worst_second(&slots) <= most, "{rate}: {}", worst_second(&slots));
        assert!(slots.len() * 100 >= rate as usize * 20 * 94, "{rate}: {}", slots.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_leases_of_any_size_give_a_second_too_many(
        rate in 1_u32..3_000,
        asks in proptest::collection::vec((0_usize..3, 1_u32..50, -5_000_i64..40_000), 1..300),
    ) {
        let (mut counters, mut known) = (SlotCounters::default(), SlotCounters::default());
        let mut slots_used = Vec::new();
        let mut now = 0;
        for (level, wanted, later) in asks {
            now = (now + later).max(0);
            let priority = Priority::ALL[level];
            // A plan from an older row gets no more than one from the current row.
            let Grant::Lease(lease) = grant(&known, rate, priority, wanted, at_us(now)) else {
                known = counters;
                continue;
            };
            if let Some(next) = lease.apply(&counters) {
                let slots = lease.slots(&next);
                prop_assert!(slots.count() > 0 && slots.count() <= wanted);
                prop_assert!(slots.at_us(0) >= counters.next_us);
                slots_used.extend((0..slots.count()).map(|index| slots.at_us(index)));
                counters = next;
            } else {
                known = counters;
            }
        }
        let most = u64::from(rate) * 105 / 100;
        prop_assert!(worst_second(&slots_used) as u64 <= most.max(1));
    }
}
