//! What the path of a notification costs at the store: what the table in its documentation says.

use domain::notifications::rate::{Grant, SlotCounters, grant};
use domain::notifications::{Event, Priority, Reason};
use notifications::store::{Acceptance, AttemptClaim, ClaimOutcome, CountedEvent};
use store::capacity::{CapacityUsed, metered};
use store::idempotency::{IdempotentRequest, StoredResponse};

use super::{
    accepted_as, at, deliveries, mailbox, notification, notifications_in_lab, provider, rendering,
    save_contacts, token, user,
};

/// What some work costs. Its state is large, and there is a lot of it in one test.
async fn cost<T>(work: impl Future<Output = T>) -> (T, CapacityUsed) {
    Box::pin(metered(work)).await
}

#[tokio::test(start_paused = true)]
async fn each_step_is_one_call() {
    let (_lab, store) = notifications_in_lab();
    save_contacts(&store, 1).await;
    let new = notification(1, "ada");
    let all = deliveries(&new, &["email", "sms"]);
    let request = IdempotentRequest {
        caller: "shop",
        operation: "notify",
        key: "key",
        fingerprint: [0; 32],
        claimant: "other",
        deadline: at(30),
    };
    let answer = StoredResponse { status: 202, location: None, etag: None, body: b"{}".to_vec() };
    let wanted = Acceptance { notification: &new, deliveries: &all };
    let once = Some((&request, &answer));
    let (done, accepting) = cost(store.accept(wanted, once, at(0), &token())).await;
    done.unwrap();
    let ada = user("ada");
    let (snapshot, looking) = cost(store.load(&all[0].id, Some(&ada))).await;
    let snapshot = snapshot.unwrap().unwrap();
    let claim = AttemptClaim {
        delivery: &snapshot.delivery,
        recipient: &snapshot.recipient,
        address: &mailbox("ada"),
        by: "me",
        provider: &provider(),
        rendering: None,
    };
    let (claimed, claiming) = cost(store.claim(claim, at(1), &token())).await;
    let ClaimOutcome::Won(claimed) = claimed.unwrap() else { panic!("there is no other claimant") };
    let (done, recording) = cost(store.record(&claimed, &accepted_as("m"), 0, at(2), token)).await;
    done.unwrap();
    let lease = match grant(&SlotCounters::default(), 100, Priority::Low, 10, at(2)) {
        Grant::Lease(lease) => lease,
        Grant::Later { at } => panic!("{at}"),
    };
    let (done, leasing) = cost(store.lease(&provider(), &lease)).await;
    done.unwrap();
    let rendering = rendering(None);
    let (done, counting) =
        cost(store.count(&claimed.id, &rendering, CountedEvent::Sent, at(2), &token())).await;
    done.unwrap();
    for (step, capacity, units) in [
        ("accept", accepting, 2 + 3 + 4 + 4),
        ("look", looking, 4),
        ("claim", claiming, 6 + 2),
        ("record", recording, 2 + 2 + 2),
        ("lease", leasing, 1),
        ("count", counting, 4),
    ] {
        assert_eq!(capacity, CapacityUsed { calls: 1, units: f64::from(units) }, "{step}");
    }
    let event = Event::Withdrawn { reason: Reason::Cancelled };
    let (_, applying) = cost(store.apply(&all[1].id, &event, at(3), token)).await;
    assert_eq!(applying, CapacityUsed { calls: 2, units: 5.0 });
}
