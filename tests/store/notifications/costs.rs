//! What the path of a notification costs at the store, in calls.

use domain::notifications::Event;
use store::idempotency::{Answer, Request};
use store::notifications::{Accept, Claim, Claimed};
use store::tally::counted;
use tests::Lab;

use super::{
    accepted_as, at, deliveries, mailbox, notification, notifications, provider, save_contacts,
    token, user,
};

#[tokio::test(start_paused = true)]
async fn each_step_is_one_call() {
    let lab = Lab::new();
    let store = notifications(&lab);
    save_contacts(&store, 1).await;
    let new = notification(1, "ada");
    let all = deliveries(&new, &["email", "sms"]);
    let request = Request {
        caller: "shop",
        operation: "notify",
        key: "key",
        fingerprint: [0; 32],
        claimant: "someone",
        deadline: at(30),
    };
    let answer = Answer { status: 202, location: None, etag: None, body: b"{}".to_vec() };
    let wanted = Accept { notification: &new, deliveries: &all };
    let once = Some((&request, &answer));
    let (done, accepting) = counted(store.accept(wanted, once, at(0), &token())).await;
    done.unwrap();
    let ada = user("ada");
    let (look, looking) = counted(store.look(&all[0].id, Some(&ada))).await;
    let look = look.unwrap().unwrap();
    let claim = Claim {
        delivery: &look.delivery,
        person: &look.person,
        address: &mailbox("ada"),
        by: "me",
        provider: &provider(),
        rendering: None,
    };
    let (claimed, claiming) = counted(store.claim(claim, at(1), &token())).await;
    let Claimed::Claimed(claimed) = claimed.unwrap() else { panic!("nobody else is there") };
    let (done, recording) =
        counted(store.record(&claimed, &accepted_as("m"), 0, at(2), token)).await;
    done.unwrap();
    for (step, tally) in
        [("accept", accepting), ("look", looking), ("claim", claiming), ("record", recording)]
    {
        println!("{step}: {} units", tally.units);
        assert_eq!(tally.calls, 1, "{step}");
    }
    let event = Event::Withdrawn { why: domain::notifications::Why::Cancelled };
    let (_, applying) = counted(store.apply(&all[1].id, &event, at(3), token)).await;
    println!("apply: {} units", applying.units);
    assert_eq!(applying.calls, 2);
}
