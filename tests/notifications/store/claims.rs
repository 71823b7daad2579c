//! Claims: one winner, and only as long as everything is as it was decided by.

use domain::notifications::{Because, By, Event, Preferences, Refusal, Status, Suppression, Why};
use futures::future::join_all;
use local::faults::Fault;
use notifications::store::{Applied, Claim, Claimed, Noted, Person, Saved};
use tests::Lab;

use super::{
    accepted_as, at, claim, contacts, mailbox, notification, notifications, pending, phone_of,
    provider, rendering, save_contacts, save_preferences, sending, token, user,
};

#[tokio::test(start_paused = true)]
async fn a_claim_is_written_as_the_domain_decides() {
    let lab = Lab::new();
    let store = notifications(&lab);
    let delivery = pending(&store, 1).await;
    let rendering = rendering(Some("b"));
    let wanted = Claim {
        delivery: &delivery,
        person: &Person::default(),
        address: &mailbox("ada"),
        by: "me",
        provider: &provider(),
        rendering: Some(&rendering),
    };
    let Claimed::Claimed(claimed) = store.claim(wanted, at(1), &token()).await.unwrap() else {
        panic!("nobody else wants it")
    };
    assert_eq!((claimed.status, claimed.attempt), (Status::Sending, 1));
    assert_eq!(claimed.rendering, Some(rendering));
    assert_eq!(store.delivery(&delivery.id).await.unwrap(), Some(*claimed));
}

#[tokio::test(start_paused = true)]
async fn of_fifty_who_claim_one_wins() {
    let lab = Lab::new();
    let store = notifications(&lab);
    save_contacts(&store, 1).await;
    let delivery = pending(&store, 1).await;
    let person = store.person(&user("ada")).await.unwrap();
    let names: Vec<String> = (0..50).map(|n| format!("worker-{n}")).collect();
    let claims = names.iter().map(|by| claim(&store, &delivery, &person, by));
    let came = join_all(claims).await;
    let won = |came: &&Claimed| matches!(came, Claimed::Claimed(_));
    assert_eq!(came.iter().filter(won).count(), 1);
    assert_eq!(came.iter().filter(|came| **came == Claimed::Moved).count(), 49);
    let stored = store.delivery(&delivery.id).await.unwrap().unwrap();
    assert_eq!((stored.attempt, stored.tries, stored.version), (1, 1, 2));
}

#[tokio::test(start_paused = true)]
async fn whoever_has_it_already_is_told_so_under_any_token() {
    let lab = Lab::new();
    let store = notifications(&lab);
    let delivery = pending(&store, 1).await;
    let first = claim(&store, &delivery, &Person::default(), "me").await;
    assert!(matches!(first, Claimed::Claimed(_)));
    assert_eq!(claim(&store, &delivery, &Person::default(), "me").await, first);
    assert_eq!(claim(&store, &delivery, &Person::default(), "you").await, Claimed::Moved);
}

#[tokio::test(start_paused = true)]
async fn a_claim_whose_answer_was_lost_is_recognised() {
    let lab = Lab::new();
    let store = notifications(&lab);
    let delivery = pending(&store, 1).await;
    lab.cloud.faults.inject(0, Fault::CommitThenTimeout);
    let came = claim(&store, &delivery, &Person::default(), "me").await;
    assert!(matches!(came, Claimed::Claimed(_)), "{came:?}");
    assert!(!lab.cloud.faults.is_pending());
}

#[tokio::test(start_paused = true)]
async fn whoever_has_changed_their_mind_is_looked_at_again() {
    let lab = Lab::new();
    let store = notifications(&lab);
    let delivery = pending(&store, 1).await;
    let nobody = Person::default();
    save_preferences(&store, 1).await;
    assert_eq!(claim(&store, &delivery, &nobody, "me").await, Claimed::PersonMoved);
    let wants = store.person(&user("ada")).await.unwrap();
    save_contacts(&store, 1).await;
    assert_eq!(claim(&store, &delivery, &wants, "me").await, Claimed::PersonMoved);
    let has = store.person(&user("ada")).await.unwrap();
    save_preferences(&store, 2).await;
    assert_eq!(claim(&store, &delivery, &has, "me").await, Claimed::PersonMoved);
    let now = store.person(&user("ada")).await.unwrap();
    save_contacts(&store, 2).await;
    assert_eq!(claim(&store, &delivery, &now, "me").await, Claimed::PersonMoved);
    assert_eq!(store.delivery(&delivery.id).await.unwrap().as_ref(), Some(&delivery));
    let person = store.person(&user("ada")).await.unwrap();
    let won = claim(&store, &delivery, &person, "me").await;
    assert!(matches!(won, Claimed::Claimed(_)), "{won:?}");
}

/// Whichever comes first: either the claim was made before the opt-out was written, or there is none.
#[tokio::test(start_paused = true)]
async fn no_claim_follows_an_opt_out() {
    let lab = Lab::new();
    let store = notifications(&lab);
    for n in 0..20 {
        let delivery = pending(&store, n).await;
        let person = store.person(&user("ada")).await.unwrap();
        let off = Preferences { enabled: n % 2 == 1, ..person.preferences.clone() };
        let after = person.preferences.changed(off, By::Preferences, at(1));
        let ada = user("ada");
        let change_token = token();
        let change = store.save_preferences(&ada, &after, &change_token);
        let (claimed, saved) = if n % 4 < 2 {
            tokio::join!(claim(&store, &delivery, &person, "me"), change)
        } else {
            let (saved, claimed) = tokio::join!(change, claim(&store, &delivery, &person, "me"));
            (claimed, saved)
        };
        assert_eq!(saved.unwrap(), Saved::Saved);
        let stored = store.delivery(&delivery.id).await.unwrap().unwrap();
        match claimed {
            Claimed::Claimed(_) => assert_eq!(stored.status, Status::Sending),
            Claimed::PersonMoved => assert_eq!(stored, delivery),
            other @ (Claimed::Moved | Claimed::Suppressed(_) | Claimed::Refused(_)) => {
                panic!("{other:?}")
            }
        }
        // From now on nobody can claim by what was read before.
        let late = pending(&store, 100 + n).await;
        assert_eq!(claim(&store, &late, &person, "me").await, Claimed::PersonMoved);
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_goes_to_an_address_that_is_suppressed_meanwhile() {
    let lab = Lab::new();
    let store = notifications(&lab);
    let delivery = pending(&store, 1).await;
    let bounced = Suppression { because: Because::Bounced, at: at(0) };
    let noted = store.suppress(&mailbox("Ada"), &bounced).await.unwrap();
    assert_eq!(noted, Noted::Noted);
    let came = claim(&store, &delivery, &Person::default(), "me").await;
    assert_eq!(came, Claimed::Suppressed(bounced));
    assert_eq!(store.delivery(&delivery.id).await.unwrap().as_ref(), Some(&delivery));
    save_contacts(&store, 1).await;
    let came = claim(&store, &delivery, &Person::default(), "me").await;
    assert_eq!(came, Claimed::PersonMoved, "another address may be a good one");
    let (_, phone) = phone_of("one");
    let person = store.person(&user("ada")).await.unwrap();
    assert_eq!(person.contacts, contacts(1));
    let elsewhere = Claim {
        delivery: &delivery,
        person: &person,
        address: &phone,
        by: "me",
        provider: &provider(),
        rendering: None,
    };
    let won = store.claim(elsewhere, at(1), &token()).await.unwrap();
    assert!(matches!(won, Claimed::Claimed(_)), "{won:?}");
}

#[tokio::test(start_paused = true)]
async fn what_the_domain_refuses_is_not_written() {
    let lab = Lab::new();
    let store = notifications(&lab);
    let sent = sending(&store, 1).await;
    let done = store.record(&sent, &accepted_as("r"), 0, at(2), token).await.unwrap();
    let Applied::Changed { after, .. } = done else { panic!("{done:?}") };
    let came = claim(&store, &after, &Person::default(), "you").await;
    assert_eq!(came, Claimed::Refused(Refusal::Is(Status::Delivered)));
    let later = notification(2, "ada");
    let delivery = super::accept(&store, &later, &["email"]).await;
    let event = Event::Deferred { until: at(60), why: Why::Quiet };
    let waits = super::happen(&store, &delivery.id, event, at(0)).await;
    let came = claim(&store, &waits, &Person::default(), "me").await;
    assert_eq!(came, Claimed::Refused(Refusal::NotYet));
}
