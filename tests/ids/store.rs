//! Id leases.

use domain::ids::{ClaimOutcome, LeaseClaim, MachineShard, Proposal, RequestId, propose};
use local::faults::Fault;
use store::IdLeases;
use tests::Lab;

const NOW: u64 = 1_772_366_400_000;

fn claim(shard: u16, now: u64, request: u128) -> LeaseClaim {
    match propose(MachineShard::new(shard).unwrap(), None, now, 1_000, RequestId(request)) {
        Proposal::Take(claim) => claim,
        Proposal::Busy { .. } | Proposal::ClockOutOfEra => panic!("refused"),
    }
}

fn leases(lab: &Lab) -> IdLeases {
    IdLeases::new(lab.aws().dynamodb(), lab.table("IdsTable"))
}

fn is_held(outcome: &ClaimOutcome) -> bool {
    matches!(outcome, ClaimOutcome::Held(_))
}

#[tokio::test(start_paused = true)]
async fn a_lane_is_leased_once_until_its_interval_has_passed() {
    let lab = Lab::new();
    let leases = leases(&lab);
    assert!(is_held(&leases.claim(claim(7, NOW, 1)).await.unwrap()));
    assert!(!is_held(&leases.claim(claim(7, NOW + 999, 2)).await.unwrap()));
    assert!(is_held(&leases.claim(claim(7, NOW + 1_000, 3)).await.unwrap()));
    assert!(is_held(&leases.claim(claim(8, NOW, 4)).await.unwrap()));
}

#[tokio::test(start_paused = true)]
async fn a_write_whose_answer_was_lost_is_recognised_as_our_own() {
    let lab = Lab::new();
    lab.cloud.faults.inject(0, Fault::CommitThenTimeout);
    assert!(is_held(&leases(&lab).claim(claim(7, NOW, 1)).await.unwrap()));
    assert!(!lab.cloud.faults.is_pending());
}

#[tokio::test(start_paused = true)]
async fn only_the_holder_of_the_last_interval_renews_it() {
    let lab = Lab::new();
    let leases = leases(&lab);
    let ClaimOutcome::Held(lease) = leases.claim(claim(7, NOW, 1)).await.unwrap() else { panic!() };
    let generator = domain::ids::Generator::new(lease);
    let renewal = |request| generator.renewal(NOW, 1_000, RequestId(request)).unwrap();
    assert!(is_held(&leases.claim(renewal(2)).await.unwrap()));
    assert!(!is_held(&leases.claim(renewal(3)).await.unwrap()));
}
