//! Each decision of the lease protocol, won and lost.

use super::*;
use proptest::prelude::*;

const NOW: u64 = EPOCH_MS + 1_000_000;
const ME: RequestId = RequestId(1);
const OTHER: RequestId = RequestId(2);

fn shard() -> MachineShard {
    MachineShard::new(5).unwrap()
}

fn row(ended_at_ms: u64, holder: RequestId) -> LeaseRow {
    LeaseRow { shard: shard(), ended_at_ms, holder }
}

fn claim(row: Option<&LeaseRow>, now_ms: u64) -> LeaseClaim {
    match propose(shard(), row, now_ms, 100, ME) {
        Proposal::Take(claim) => claim,
        refused @ (Proposal::Busy { .. } | Proposal::ClockOutOfEra) => panic!("{refused:?}"),
    }
}

#[test]
fn a_lane_that_was_never_leased_is_taken_from_now_on() {
    let claim = claim(None, NOW);
    assert_eq!(claim.condition(), LeaseCondition::EndedBy(NOW));
    assert_eq!(claim.row(), &row(NOW + 100, ME));
    let lease = claim.granted();
    assert_eq!((lease.shard(), lease.from_ms(), lease.until_ms()), (shard(), NOW, NOW + 100));
}

#[test]
fn a_lane_whose_lease_ends_this_millisecond_is_free() {
    assert_eq!(claim(Some(&row(NOW, OTHER)), NOW).from_ms(), NOW);
}

#[test]
fn a_lane_whose_lease_ends_later_is_busy() {
    let found = row(NOW + 1, OTHER);
    let proposal = propose(shard(), Some(&found), NOW, 100, ME);
    assert!(matches!(proposal, Proposal::Busy { until_ms } if until_ms == NOW + 1));
    assert!(!claim(None, NOW).condition().allows(Some(&found)));
}

#[test]
fn a_clock_outside_the_era_or_an_empty_interval_claims_nothing() {
    for (now_ms, length_ms) in
        [(0, 100), (EPOCH_MS - 1, 100), (ERA_END_MS - 99, 100), (u64::MAX, 100), (NOW, 0)]
    {
        let proposal = propose(shard(), None, now_ms, length_ms, ME);
        assert!(matches!(proposal, Proposal::ClockOutOfEra), "{now_ms} {length_ms}");
    }
}

#[test]
fn a_claim_that_meets_its_own_row_is_held() {
    let outcome = claim(None, NOW).resolve(Some(&row(NOW + 100, ME)));
    assert!(matches!(outcome, ClaimOutcome::Held(lease) if lease.until_ms() == NOW + 100));
}

#[test]
fn a_claim_that_meets_anothers_row_or_none_is_lost() {
    for found in [Some(row(NOW + 100, OTHER)), Some(row(NOW + 200, ME)), None] {
        let outcome = claim(None, NOW).resolve(found.as_ref());
        assert!(matches!(outcome, ClaimOutcome::Lost), "{found:?}");
    }
}

#[test]
fn a_renewal_is_allowed_only_over_the_row_it_continues() {
    let renewal = LeaseClaim::following(shard(), NOW, NOW - 10, 100, ME).unwrap();
    assert_eq!((renewal.from_ms(), renewal.row().ended_at_ms), (NOW, NOW + 100));
    assert!(renewal.condition().allows(Some(&row(NOW, OTHER))));
    assert!(!renewal.condition().allows(Some(&row(NOW + 1, OTHER))));
    assert!(!renewal.condition().allows(None));
}

#[test]
fn a_late_renewal_covers_the_gap_and_reaches_into_the_future() {
    let renewal = LeaseClaim::following(shard(), NOW, NOW + 5_000, 100, ME).unwrap();
    assert_eq!((renewal.from_ms(), renewal.row().ended_at_ms), (NOW, NOW + 5_100));
}

#[test]
fn request_ids_are_read_back_as_written() {
    assert_eq!(RequestId::parse(&RequestId(u128::MAX).to_string()), Some(RequestId(u128::MAX)));
    assert_eq!(RequestId::parse(&ME.to_string()), Some(ME));
    assert_eq!(RequestId::parse("1"), None);
    assert_eq!(RequestId::parse("+0000000000000000000000000000001"), None);
}

proptest! {
    #[test]
    fn however_clocks_jump_the_intervals_of_a_lane_are_disjoint(
        tries in prop::collection::vec((0_u64..5_000, 1_u64..500, any::<bool>()), 1..60),
    ) {
        let mut stored: Option<LeaseRow> = None;
        let mut spent_until = 0;
        for (request, (now, length, renews)) in (10_u128..).zip(tries) {
            let (now_ms, request) = (EPOCH_MS + now, RequestId(request));
            let claim = match stored {
                Some(row) if renews => {
                    LeaseClaim::following(shard(), row.ended_at_ms, now_ms, length, request).unwrap()
                }
                _ => match propose(shard(), None, now_ms, length, request) {
                    Proposal::Take(claim) => claim,
                    Proposal::Busy { .. } | Proposal::ClockOutOfEra => continue,
                },
            };
            if claim.condition().allows(stored.as_ref()) {
                stored = Some(*claim.row());
                let lease = claim.granted();
                prop_assert!(lease.from_ms() >= spent_until && lease.until_ms() > lease.from_ms());
                spent_until = lease.until_ms();
            }
        }
    }
}
