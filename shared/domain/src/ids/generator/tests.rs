//! When a generator issues, waits, refuses and asks for a lease.

use super::*;
use crate::ids::id::EPOCH_MS;
use crate::ids::lease::{Proposal, propose};
use proptest::prelude::*;

const FROM: u64 = EPOCH_MS + 1_000_000;

fn lease(shard: u16, from_ms: u64, length_ms: u64) -> IdLease {
    let shard = MachineShard::new(shard).unwrap();
    match propose(shard, None, from_ms, length_ms, RequestId(1)) {
        Proposal::Take(claim) => claim.granted(),
        refused @ (Proposal::Busy { .. } | Proposal::ClockOutOfEra) => panic!("{refused:?}"),
    }
}

fn generator() -> Generator {
    Generator::new(lease(3, FROM, 1_000))
}

fn id(next: NextId) -> Id {
    match next {
        NextId::Id(id) => id,
        NextId::Paused(pause) => panic!("{pause:?}"),
    }
}

#[test]
fn ids_carry_the_clock_the_slot_and_a_sequence_that_restarts_each_millisecond() {
    let mut generator = generator();
    let parts = [FROM, FROM, FROM + 7].map(|now| id(generator.next(now)).parts());
    assert_eq!(parts.map(|parts| parts.unix_ms), [FROM, FROM, FROM + 7]);
    assert_eq!(parts.map(|parts| parts.sequence), [0, 1, 0]);
    assert!(parts.iter().all(|parts| (parts.datacenter, parts.machine) == (0, 3)));
}

#[test]
fn a_spent_millisecond_is_waited_out() {
    let mut generator = generator();
    let mut ids = Vec::new();
    assert_eq!(generator.fill(FROM, 4_096, &mut ids), Fill::Full);
    assert_eq!(generator.next(FROM), NextId::Paused(Pause::Wait { ms: 1 }));
    assert_eq!(id(generator.next(FROM + 1)).sequence(), 0);
}

#[test]
fn a_fill_stops_at_the_end_of_the_millisecond_and_says_so() {
    let mut generator = generator();
    let mut ids = Vec::new();
    assert_eq!(generator.fill(FROM, 10_000, &mut ids), Fill::Paused(Pause::Wait { ms: 1 }));
    assert_eq!(ids.len(), 4_096);
    assert_eq!(generator.fill(FROM, 0, &mut ids), Fill::Full);
    assert_eq!(generator.fill(FROM + 1, usize::MAX, &mut ids), Fill::Paused(Pause::Wait { ms: 1 }));
    assert_eq!(ids.len(), 8_192);
}

#[test]
fn a_split_lane_stays_inside_its_sequence_numbers() {
    let mut generator = Generator::new(lease(768 + 17, FROM, 10));
    let mut ids = Vec::new();
    assert_eq!(generator.fill(FROM, 257, &mut ids), Fill::Paused(Pause::Wait { ms: 1 }));
    let sequences: Vec<u16> = ids.iter().map(|id| id.sequence()).collect();
    assert_eq!(sequences, (256..512).collect::<Vec<u16>>());
    assert!(ids.iter().all(|id| id.machine_id().number() == 769));
}

#[test]
fn nothing_is_issued_from_the_end_of_the_lease_on() {
    let mut generator = generator();
    assert_eq!(id(generator.next(FROM + 999)).unix_ms(), FROM + 999);
    assert_eq!(generator.next(FROM + 1_000), NextId::Paused(Pause::Exhausted));
    // Thawed an hour later, the node is in the same position.
    assert_eq!(generator.next(FROM + 3_600_000), NextId::Paused(Pause::Exhausted));
}

#[test]
fn a_clock_a_little_behind_waits_and_one_far_behind_is_refused() {
    let mut generator = generator();
    let last = id(generator.next(FROM + 100));
    assert_eq!(generator.next(FROM + 95), NextId::Paused(Pause::Wait { ms: 5 }));
    assert_eq!(generator.next(FROM + 94), NextId::Paused(Pause::ClockBack { by_ms: 6 }));
    assert!(id(generator.next(FROM + 100)) > last);
}

#[test]
fn a_clock_that_steps_back_before_the_lease_is_treated_alike() {
    let mut generator = generator();
    assert_eq!(generator.next(FROM - 2), NextId::Paused(Pause::Wait { ms: 2 }));
    assert_eq!(generator.next(FROM - 6), NextId::Paused(Pause::ClockBack { by_ms: 6 }));
    assert_eq!(generator.next(0), NextId::Paused(Pause::ClockBack { by_ms: FROM }));
    assert_eq!(id(generator.next(FROM)).unix_ms(), FROM);
}

#[test]
fn a_renewed_lease_continues_in_the_same_millisecond() {
    let mut generator = generator();
    let last = id(generator.next(FROM + 999));
    let renewal = generator.renewal(FROM + 999, 1_000, RequestId(2)).unwrap();
    generator.set_lease(renewal.granted());
    assert_eq!(generator.until_ms(), FROM + 2_000);
    let next = id(generator.next(FROM + 999));
    assert_eq!((next.sequence(), next > last), (1, true));
    assert_eq!(id(generator.next(FROM + 1_500)).unix_ms(), FROM + 1_500);
}

#[test]
fn on_a_lower_lane_the_millisecond_of_the_last_id_is_not_used_again() {
    let mut generator = Generator::new(lease(500, FROM, 1_000));
    let last = id(generator.next(FROM + 10));
    generator.set_lease(lease(2, FROM + 10, 1_000));
    assert_eq!(generator.next(FROM + 10), NextId::Paused(Pause::Wait { ms: 1 }));
    assert!(id(generator.next(FROM + 11)) > last);
}

#[test]
fn a_lease_of_another_lane_that_starts_where_the_last_ended_changes_the_lane() {
    let mut generator = generator();
    generator.set_lease(lease(9, FROM + 1_000, 1_000));
    assert_eq!(id(generator.next(FROM + 1_000)).machine_id().number(), 9);
    assert_eq!(generator.shard().number(), 9);
}

proptest! {
    #[test]
    fn ids_increase_within_the_lease_with_any_clock(
        shard in 0_u16..4_864,
        readings in prop::collection::vec((0_u64..60, 0_usize..600), 1..200),
    ) {
        let mut generator = Generator::new(lease(shard, FROM + 10, 40));
        let range = generator.shard().range().numbers();
        let mut ids = Vec::new();
        for (reading, count) in readings {
            let before = ids.len();
            let fill = generator.fill(FROM + reading, count, &mut ids);
            prop_assert_eq!(fill == Fill::Full, ids.len() - before == count);
            prop_assert!(ids[before..].iter().all(|id| id.unix_ms() == FROM + reading));
        }
        prop_assert!(ids.is_sorted_by(|a, b| a < b));
        prop_assert!(ids.iter().all(|id| (FROM + 10..FROM + 50).contains(&id.unix_ms())));
        prop_assert!(ids.iter().all(|id| range.contains(&id.sequence())));
    }

    #[test]
    fn one_at_a_time_gives_the_ids_that_a_fill_gives(
        readings in prop::collection::vec((0_u64..20, 1_usize..50), 1..50),
    ) {
        let (mut one, mut many) = (generator(), generator());
        let (mut singly, mut together) = (Vec::new(), Vec::new());
        for (reading, count) in readings {
            many.fill(FROM + reading, count, &mut together);
            singly.extend((0..count).filter_map(|_| match one.next(FROM + reading) {
                NextId::Id(id) => Some(id),
                NextId::Paused(_) => None,
            }));
        }
        prop_assert_eq!(singly, together);
    }

    #[test]
    fn order_survives_any_sequence_of_leases(
        leases in prop::collection::vec((0_u16..4_864, 0_u64..50, 1_u64..30), 1..30),
    ) {
        let mut generator = Generator::new(lease(4_000, FROM, 1));
        let mut ids = Vec::new();
        for (shard, from, length) in leases {
            generator.set_lease(lease(shard, FROM + from, length));
            for reading in 0..length {
                generator.fill(FROM + from + reading, 3, &mut ids);
            }
        }
        prop_assert!(ids.is_sorted_by(|a, b| a < b));
    }
}
