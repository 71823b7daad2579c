//! Claims: one winner, and only as long as everything is as it was decided by.

use domain::notifications::{
    ChangeSource, Event, IllegalTransition, Preferences, Reason, Status, Suppression,
    SuppressionReason,
};
use futures::future::join_all;
use local::faults::Fault;
use notifications::store::{
    ApplyOutcome, AttemptClaim, ClaimOutcome, Recipient, SaveOutcome, SuppressOutcome,
};

use super::{
    accepted_as, at, claim, contacts, mailbox, notification, notifications_in_lab, pending,
    phone_of, provider, rendering, save_contacts, save_preferences, sending, token, user,
};

#[tokio::test(start_paused = true)]
async fn a_claim_is_written_as_the_domain_decides() {
    let (_lab, store) = notifications_in_lab();
    let delivery = pending(&store, 1).await;
    let rendering = rendering(Some("b"));
    let wanted = AttemptClaim {
        delivery: &delivery,
        recipient: &Recipient::default(),
        address: &mailbox("ada"),
        by: "me",
        provider: &provider(),
        rendering: Some(&rendering),
    };
    let ClaimOutcome::Won(claimed) = store.claim(wanted, at(1), &token()).await.unwrap() else {
        panic!("there is no other claimant")
    };
    assert_eq!((claimed.status, claimed.attempt), (Status::Sending, 1));
    assert_eq!(claimed.rendering, Some(rendering));
    assert_eq!(store.delivery(&delivery.id).await.unwrap(), Some(*claimed));
}

#[tokio::test(start_paused = true)]
async fn of_fifty_who_claim_one_wins() {
    let (_lab, store) = notifications_in_lab();
    save_contacts(&store, 1).await;
    let delivery = pending(&store, 1).await;
    let recipient = store.recipient(&user("ada")).await.unwrap();
    let names: Vec<String> = (0..50).map(|n| format!("worker-{n}")).collect();
    let claims = names.iter().map(|by| claim(&store, &delivery, &recipient, by));
    let came = join_all(claims).await;
    let won = |came: &&ClaimOutcome| matches!(came, ClaimOutcome::Won(_));
    assert_eq!(came.iter().filter(won).count(), 1);
    assert_eq!(came.iter().filter(|came| **came == ClaimOutcome::Conflict).count(), 49);
    let stored = store.delivery(&delivery.id).await.unwrap().unwrap();
    assert_eq!((stored.attempt, stored.tries, stored.version), (1, 1, 2));
}

#[tokio::test(start_paused = true)]
async fn a_repeated_claim_is_won_under_any_token() {
    let (_lab, store) = notifications_in_lab();
    let delivery = pending(&store, 1).await;
    let first = claim(&store, &delivery, &Recipient::default(), "me").await;
    assert!(matches!(first, ClaimOutcome::Won(_)));
    assert_eq!(claim(&store, &delivery, &Recipient::default(), "me").await, first);
    assert_eq!(
        claim(&store, &delivery, &Recipient::default(), "you").await,
        ClaimOutcome::Conflict
    );
}

#[tokio::test(start_paused = true)]
async fn a_claim_whose_answer_was_lost_is_recognised() {
    let (lab, store) = notifications_in_lab();
    let delivery = pending(&store, 1).await;
    lab.cloud.faults.inject(0, Fault::CommitThenTimeout);
    let came = claim(&store, &delivery, &Recipient::default(), "me").await;
    assert!(matches!(came, ClaimOutcome::Won(_)), "{came:?}");
    assert!(!lab.cloud.faults.is_pending());
}

#[tokio::test(start_paused = true)]
async fn changed_preferences_or_contacts_fail_the_claim() {
    let (_lab, store) = notifications_in_lab();
    let delivery = pending(&store, 1).await;
    let unsaved = Recipient::default();
    save_preferences(&store, 1).await;
    assert_eq!(claim(&store, &delivery, &unsaved, "me").await, ClaimOutcome::RecipientChanged);
    let wants = store.recipient(&user("ada")).await.unwrap();
    save_contacts(&store, 1).await;
    assert_eq!(claim(&store, &delivery, &wants, "me").await, ClaimOutcome::RecipientChanged);
    let has = store.recipient(&user("ada")).await.unwrap();
    save_preferences(&store, 2).await;
    assert_eq!(claim(&store, &delivery, &has, "me").await, ClaimOutcome::RecipientChanged);
    let now = store.recipient(&user("ada")).await.unwrap();
    save_contacts(&store, 2).await;
    assert_eq!(claim(&store, &delivery, &now, "me").await, ClaimOutcome::RecipientChanged);
    assert_eq!(store.delivery(&delivery.id).await.unwrap().as_ref(), Some(&delivery));
    let recipient = store.recipient(&user("ada")).await.unwrap();
    let won = claim(&store, &delivery, &recipient, "me").await;
    assert!(matches!(won, ClaimOutcome::Won(_)), "{won:?}");
}

/// Whichever comes first: either the claim was made before the opt-out was written, or there is none.
#[tokio::test(start_paused = true)]
async fn no_claim_follows_an_opt_out() {
    let (_lab, store) = notifications_in_lab();
    for n in 0..20 {
        let delivery = pending(&store, n).await;
        let recipient = store.recipient(&user("ada")).await.unwrap();
        let off = Preferences { enabled: n % 2 == 1, ..recipient.preferences.clone() };
        let after = recipient.preferences.updated(off, ChangeSource::Preferences, at(1));
        let ada = user("ada");
        let change_token = token();
        let change = store.save_preferences(&ada, &after, &change_token);
        let (claimed, saved) = if n % 4 < 2 {
            tokio::join!(claim(&store, &delivery, &recipient, "me"), change)
        } else {
            let (saved, claimed) = tokio::join!(change, claim(&store, &delivery, &recipient, "me"));
            (claimed, saved)
        };
        assert_eq!(saved.unwrap(), SaveOutcome::Saved);
        let stored = store.delivery(&delivery.id).await.unwrap().unwrap();
        match claimed {
            ClaimOutcome::Won(_) => assert_eq!(stored.status, Status::Sending),
            ClaimOutcome::RecipientChanged => assert_eq!(stored, delivery),
            other @ (ClaimOutcome::Conflict
            | ClaimOutcome::Suppressed(_)
            | ClaimOutcome::Illegal(_)) => {
                panic!("{other:?}")
            }
        }
        // From now on a claim by what was read before fails.
        let late = pending(&store, 100 + n).await;
        assert_eq!(claim(&store, &late, &recipient, "me").await, ClaimOutcome::RecipientChanged);
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_goes_to_an_address_that_is_suppressed_meanwhile() {
    let (_lab, store) = notifications_in_lab();
    let delivery = pending(&store, 1).await;
    let bounced = Suppression { reason: SuppressionReason::Bounced, at: at(0) };
    let noted = store.suppress(&mailbox("Ada"), &bounced).await.unwrap();
    assert_eq!(noted, SuppressOutcome::Written);
    let came = claim(&store, &delivery, &Recipient::default(), "me").await;
    assert_eq!(came, ClaimOutcome::Suppressed(bounced));
    assert_eq!(store.delivery(&delivery.id).await.unwrap().as_ref(), Some(&delivery));
    save_contacts(&store, 1).await;
    let came = claim(&store, &delivery, &Recipient::default(), "me").await;
    assert_eq!(came, ClaimOutcome::RecipientChanged, "another address may be a good one");
    let (_, phone) = phone_of("one");
    let recipient = store.recipient(&user("ada")).await.unwrap();
    assert_eq!(recipient.contacts, contacts(1));
    let elsewhere = AttemptClaim {
        delivery: &delivery,
        recipient: &recipient,
        address: &phone,
        by: "me",
        provider: &provider(),
        rendering: None,
    };
    let won = store.claim(elsewhere, at(1), &token()).await.unwrap();
    assert!(matches!(won, ClaimOutcome::Won(_)), "{won:?}");
}

#[tokio::test(start_paused = true)]
async fn what_the_domain_refuses_is_not_written() {
    let (_lab, store) = notifications_in_lab();
    let sent = sending(&store, 1).await;
    let done = store.record(&sent, &accepted_as("r"), 0, at(2), token).await.unwrap();
    let ApplyOutcome::Changed { after, .. } = done else { panic!("{done:?}") };
    let came = claim(&store, &after, &Recipient::default(), "you").await;
    assert_eq!(came, ClaimOutcome::Illegal(IllegalTransition::WrongStatus(Status::Delivered)));
    let later = notification(2, "ada");
    let delivery = super::accept(&store, &later, &["email"]).await;
    let event = Event::Deferred { until: at(60), reason: Reason::DoNotDisturb };
    let waits = super::apply_event(&store, &delivery.id, event, at(0)).await;
    let came = claim(&store, &waits, &Recipient::default(), "me").await;
    assert_eq!(came, ClaimOutcome::Illegal(IllegalTransition::TooEarly));
}
