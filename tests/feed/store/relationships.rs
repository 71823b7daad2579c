//! What is between two people: written with both lists and counted once, by what is true when it is written.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use domain::feed::fan_out::split_slots;
use domain::feed::{FeedMessage, MAX_FOLLOWS, Rejected, SocialAction};
use feed::store::{ActionOutcome, FeedStore, StoredRelationship};
use futures::join;
use tests::Lab;

use super::{
    FEW, at, changed, feed_in_lab, late, place, refused, token, unfinished, user,
    watch_transactions,
};

/// Interleavings of two that are tried.
const STEPS: u64 = 16;

async fn act(store: &FeedStore, who: &str, act: SocialAction, whom: &str) -> ActionOutcome {
    store.apply_action(&user(who), act, &user(whom), at(1), token).await.unwrap()
}

/// How many follow an author, by the counters and by the list.
async fn followers(store: &FeedStore, who: &str) -> (u64, usize) {
    let listed = store.followers(&user(who), None, 1_000).await.unwrap();
    (store.count_followers(&user(who)).await.unwrap(), listed.len())
}

/// How many a reader follows, by their row and by the list.
async fn following(store: &FeedStore, who: &str) -> (u32, usize) {
    let listed = store.following(&user(who), None, None).await.unwrap();
    (store.reader_state(&user(who), at(0)).await.unwrap().following, listed.len())
}

async fn met(store: &FeedStore, who: &str, whom: &str) -> StoredRelationship {
    store.relationship(&user(who), &user(whom)).await.unwrap()
}

async fn set(lab: &Lab, (pk, sk): (&str, &str), name: &str, value: u64) {
    let update = lab.aws().dynamodb().update_item().table_name(lab.table("FeedTable"));
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let update = update.key("pk", text(pk)).key("sk", text(sk));
    let update = update.update_expression("SET #name = :value");
    let update = update.expression_attribute_names("#name", name);
    let value = AttributeValue::N(value.to_string());
    update.expression_attribute_values(":value", value).send().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_follow_is_on_both_lists_and_counts_once() {
    let (_lab, store) = feed_in_lab();
    let (follower, author) = (user("bob"), user("ada"));
    let (relationship, told) = changed(&store, "bob", SocialAction::Follow, "ada").await;
    assert!(relationship.mine.follows && !relationship.theirs.follows);
    assert_eq!(told, [FeedMessage::Followed { v: 1, follower, author, version: 1 }]);
    assert_eq!(unfinished(&store).await, told);
    assert_eq!(
        act(&store, "bob", SocialAction::Follow, "ada").await,
        ActionOutcome::Unchanged(relationship)
    );
    assert_eq!((followers(&store, "ada").await, following(&store, "bob").await), ((1, 1), (1, 1)));
    assert_eq!((followers(&store, "bob").await, following(&store, "ada").await), ((0, 0), (0, 0)));
    assert_eq!(met(&store, "ada", "bob").await.state, relationship.reversed());
    let bob = store.reader_state(&user("bob"), at(9)).await.unwrap();
    assert!(bob.is_known && bob.reader.last_seen_at == at(0), "who follows is here");
}

#[tokio::test(start_paused = true)]
async fn who_ceases_to_follow_twice_is_counted_off_once() {
    let (_lab, store) = feed_in_lab();
    for who in ["bob", "cid"] {
        changed(&store, who, SocialAction::Follow, "ada").await;
    }
    let (relationship, told) = changed(&store, "bob", SocialAction::Unfollow, "ada").await;
    let (follower, author) = (user("bob"), user("ada"));
    assert_eq!(told, [FeedMessage::Unfollowed { v: 1, follower, author }]);
    assert_eq!(
        act(&store, "bob", SocialAction::Unfollow, "ada").await,
        ActionOutcome::Unchanged(relationship)
    );
    assert_eq!((followers(&store, "ada").await, following(&store, "bob").await), ((1, 1), (0, 0)));
    let (_, told) = changed(&store, "bob", SocialAction::Follow, "ada").await;
    assert!(matches!(told[..], [FeedMessage::Followed { version: 3, .. }]), "{told:?}");
    assert_eq!(followers(&store, "ada").await, (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_block_ends_both_follows_and_lets_none_begin() {
    let (_lab, store) = feed_in_lab();
    changed(&store, "bob", SocialAction::Follow, "ada").await;
    changed(&store, "ada", SocialAction::Follow, "bob").await;
    changed(&store, "ada", SocialAction::Mute, "bob").await;
    assert!(met(&store, "ada", "bob").await.state.is_mutual_follow(), "a mute ends nothing");
    let (relationship, told) = changed(&store, "ada", SocialAction::Block, "bob").await;
    assert!(relationship.mine.blocks && !relationship.mine.follows && !relationship.theirs.follows);
    let (ada, bob) = (user("ada"), user("bob"));
    let ended = |follower, author| FeedMessage::Unfollowed { v: 1, follower, author };
    assert_eq!(told, [ended(ada.clone(), bob.clone()), ended(bob, ada)]);
    for who in ["ada", "bob"] {
        let lists = (followers(&store, who).await, following(&store, who).await);
        assert_eq!(lists, ((0, 0), (0, 0)), "{who}");
    }
    assert_eq!(
        act(&store, "ada", SocialAction::Block, "bob").await,
        ActionOutcome::Unchanged(relationship)
    );
    let refused = act(&store, "bob", SocialAction::Follow, "ada").await;
    assert_eq!(refused, ActionOutcome::Rejected(Rejected::UnknownUser));
    let refused = act(&store, "ada", SocialAction::Follow, "bob").await;
    assert_eq!(refused, ActionOutcome::Rejected(Rejected::Blocked));
    changed(&store, "ada", SocialAction::Unblock, "bob").await;
    changed(&store, "bob", SocialAction::Follow, "ada").await;
    assert_eq!(followers(&store, "ada").await, (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_follow_that_read_an_older_epoch_is_refused() {
    let (lab, store) = feed_in_lab();
    // The author's row is at 0, and the counters are at 7 whenever they are met.
    for counter in 0..16 {
        set(&lab, ("followers#ada", &format!("#{counter:02}")), "epoch", 7).await;
    }
    watch_transactions(&lab);
    store
        .apply_action(&user("bob"), SocialAction::Follow, &user("ada"), at(0), token)
        .await
        .unwrap_err();
    assert_eq!(refused(&lab), 8);
    assert_eq!(met(&store, "bob", "ada").await, StoredRelationship::default());
    assert_eq!((followers(&store, "ada").await, following(&store, "bob").await), ((0, 0), (0, 0)));
    assert_eq!(unfinished(&store).await, []);
    assert!(!store.reader_state(&user("bob"), at(0)).await.unwrap().is_known);
}

#[tokio::test(start_paused = true)]
async fn a_follow_that_meets_a_crossing_is_marked_if_it_comes_after_it() {
    let (lab, store) = feed_in_lab();
    let (mut again, mut before) = (0, 0);
    for steps in 0..STEPS {
        let whom = format!("author-{steps}");
        changed(&store, "eve", SocialAction::Follow, &whom).await;
        watch_transactions(&lab);
        let author = user(&whom);
        let crossing = async {
            late(steps).await;
            store.update_fan_out_policy(&author, &FEW, at(0), token).await.unwrap().unwrap()
        };
        join!(changed(&store, "bob", SocialAction::Follow, &whom), crossing);
        let (followed, crossed) = (place(&lab, "ADD followers :one"), place(&lab, "ReachCrossed"));
        let marks = store.reader_state(&user("bob"), at(0)).await.unwrap().reader.pull_marks;
        let came_after = crossed < followed;
        assert_eq!(marks.get(&user(&whom)), came_after.then_some(&1), "{steps}");
        assert_eq!(followers(&store, &whom).await, (2, 2));
        again += refused(&lab);
        before += usize::from(!came_after);
    }
    assert!(again > 0 && before > 0, "{again} {before}");
}

#[tokio::test(start_paused = true)]
async fn what_two_do_about_each_other_at_once_is_both_done() {
    let (lab, store) = feed_in_lab();
    for (version, act) in [(2, SocialAction::Follow), (4, SocialAction::Mute)] {
        watch_transactions(&lab);
        join!(changed(&store, "ada", act, "bob"), changed(&store, "bob", act, "ada"));
        assert_eq!(refused(&lab), 1, "one of them looked again");
        assert_eq!(met(&store, "ada", "bob").await.version, version);
    }
    let relationship = met(&store, "ada", "bob").await.state;
    assert!(
        relationship.is_mutual_follow() && relationship.mine.mutes && relationship.theirs.mutes
    );
    assert_eq!((followers(&store, "ada").await, followers(&store, "bob").await), ((1, 1), (1, 1)));
}

#[tokio::test(start_paused = true)]
async fn whichever_comes_first_there_is_no_follow_beside_a_block() {
    let (_lab, store) = feed_in_lab();
    let (mut followed, mut rejected) = (0, 0);
    for steps in 0..STEPS {
        let whom = format!("author-{steps}");
        let block = async {
            late(steps).await;
            changed(&store, &whom, SocialAction::Block, "bob").await
        };
        match join!(act(&store, "bob", SocialAction::Follow, &whom), block).0 {
            ActionOutcome::Changed(..) => followed += 1,
            other @ (ActionOutcome::Unchanged(_) | ActionOutcome::Rejected(_)) => {
                assert_eq!(other, ActionOutcome::Rejected(Rejected::UnknownUser));
                rejected += 1;
            }
        }
        let relationship = met(&store, "bob", &whom).await.state;
        assert!(
            relationship.theirs.blocks && !relationship.mine.follows,
            "{steps}: {relationship:?}"
        );
        assert_eq!(followers(&store, &whom).await, (0, 0), "{steps}");
        assert_eq!(following(&store, "bob").await, (0, 0), "{steps}");
    }
    assert!(followed > 0 && rejected > 0, "{followed} {rejected}");
}

#[tokio::test(start_paused = true)]
async fn of_two_follows_for_the_last_place_one_is_taken() {
    let (lab, store) = feed_in_lab();
    changed(&store, "bob", SocialAction::Follow, "eve").await;
    set(&lab, ("reader#bob", "reader"), "following", u64::from(MAX_FOLLOWS) - 1).await;
    watch_transactions(&lab);
    let came = join!(
        act(&store, "bob", SocialAction::Follow, "ada"),
        act(&store, "bob", SocialAction::Follow, "cid")
    );
    let [one, other] = [came.0, came.1].map(|came| matches!(came, ActionOutcome::Changed(..)));
    assert!(one != other && refused(&lab) == 1);
    assert_eq!(following(&store, "bob").await, (MAX_FOLLOWS, 2));
}

#[tokio::test(start_paused = true)]
async fn more_people_than_fit_into_a_batch_are_listed_page_by_page_and_read_at_once() {
    let (_lab, store) = feed_in_lab();
    let people: BTreeSet<_> = (0..104).map(|n| user(&format!("p{n}"))).collect();
    for who in &people {
        changed(&store, who.as_str(), SocialAction::Follow, "ada").await;
        changed(&store, "ada", SocialAction::Follow, who.as_str()).await;
    }
    assert_eq!(store.count_followers(&user("ada")).await.unwrap(), 104);
    let relationships =
        store.relationships(&user("ada"), people.iter().chain([&user("ada")])).await.unwrap();
    assert_eq!(relationships.len(), 104);
    assert!(relationships.values().all(|one| one.state.is_mutual_follow()));
    let (mut followers, mut following) = (Vec::new(), Vec::new());
    while followers.len() < 104 {
        let page = store.followers(&user("ada"), followers.last(), 30).await.unwrap();
        followers.extend(page);
        let page = store.following(&user("ada"), following.last(), Some(30)).await.unwrap();
        following.extend(page);
    }
    assert_eq!((followers.len(), following.len()), (104, 104));
    let mut paged = Vec::new();
    for page in split_slots(3) {
        paged.extend(store.followers_of_page(&user("ada"), &page, 1_000).await.unwrap());
    }
    assert_eq!(paged, followers, "ranges are in the same order");
    for list in [followers, following] {
        assert_eq!(list.into_iter().collect::<BTreeSet<_>>(), people);
    }
}
