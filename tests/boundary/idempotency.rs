//! The claim on a repeated request.

use domain::Timestamp;
use local::faults::Fault;
use store::Idempotency;
use store::idempotency::{Claim, IdempotentRequest};
use tests::Lab;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn request<'a>(caller: &'a str, claimant: &'a str, fingerprint: u8) -> IdempotentRequest<'a> {
    IdempotentRequest {
        caller,
        operation: "test",
        key: "key",
        fingerprint: [fingerprint; 32],
        claimant,
        deadline: at(110),
    }
}

fn once(lab: &Lab) -> Idempotency {
    Idempotency::new(lab.aws().dynamodb(), lab.table("AccountsTable"))
}

#[tokio::test(start_paused = true)]
async fn the_first_wins_and_the_others_wait_until_its_deadline() {
    let lab = Lab::new();
    let once = once(&lab);
    assert!(matches!(once.claim(&request("a", "1", 0), at(100)).await.unwrap(), Claim::Won(_)));
    let second = once.claim(&request("a", "2", 0), at(109)).await.unwrap();
    assert_eq!(second, Claim::Running(at(110)));
    let mismatch = once.claim(&request("a", "2", 9), at(109)).await.unwrap();
    assert_eq!(mismatch, Claim::Mismatch);
    assert!(matches!(once.claim(&request("b", "2", 9), at(109)).await.unwrap(), Claim::Won(_)));
    assert!(matches!(once.claim(&request("a", "3", 0), at(110)).await.unwrap(), Claim::Won(_)));
}

#[tokio::test(start_paused = true)]
async fn a_released_claim_is_free_and_a_taken_over_one_can_not_be_released() {
    let lab = Lab::new();
    let once = once(&lab);
    let Claim::Won(first) = once.claim(&request("a", "1", 0), at(100)).await.unwrap() else {
        panic!("lost");
    };
    let Claim::Won(second) = once.claim(&request("a", "2", 0), at(120)).await.unwrap() else {
        panic!("lost");
    };
    once.release(&first).await.unwrap();
    let met = once.claim(&request("a", "3", 0), at(105)).await.unwrap();
    assert!(matches!(met, Claim::Running(_)));
    once.release(&second).await.unwrap();
    assert!(matches!(once.claim(&request("a", "3", 0), at(121)).await.unwrap(), Claim::Won(_)));
}

#[tokio::test(start_paused = true)]
async fn a_claim_whose_answer_was_lost_is_still_ours() {
    let lab = Lab::new();
    lab.cloud.faults.inject(0, Fault::CommitThenTimeout);
    let claim = once(&lab).claim(&request("a", "1", 0), at(100)).await.unwrap();
    assert!(matches!(claim, Claim::Won(_)));
}
