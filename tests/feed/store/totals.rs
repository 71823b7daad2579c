//! Totals: exact in the end, and no counter is forgotten.

use domain::feed::counts::shard_count;
use domain::feed::{Counts, PostAction, PostId, Privacy};
use feed::store::{EngageOutcome, FeedStore};
use futures::future::join_all;

use super::{act, at, count, entry, feed_in_lab, id, post, public, relation, token, user, write};

/// Posts that are still to be added up.
async fn listed(store: &FeedStore) -> Vec<PostId> {
    let mut all = Vec::new();
    for list in 0..FeedStore::COUNT_LISTS {
        let (posts, next) = store.pending_aggregations(list, None, 100).await.unwrap();
        assert_eq!(next, None);
        all.extend(posts);
    }
    all
}

#[tokio::test(start_paused = true)]
async fn a_total_is_what_people_did() {
    let (_lab, store) = feed_in_lab();
    public(&store, 1).await;
    assert_eq!(store.aggregate(id(9), at(0)).await.unwrap(), None);
    count(&store, "bob", PostAction::Like, id(1)).await;
    count(&store, "eve", PostAction::Like, id(1)).await;
    count(&store, "eve", PostAction::Unlike, id(1)).await;
    count(&store, "bob", PostAction::Comment, id(1)).await;
    count(&store, "bob", PostAction::Comment, id(1)).await;
    count(&store, "ada", PostAction::Share, id(1)).await;
    assert_eq!(entry(&store, id(1)).await.counts, Counts::default());
    assert_eq!(listed(&store).await, [id(1)]);
    let total = store.aggregate(id(1), at(1)).await.unwrap().unwrap();
    let counts = Counts { likes: 1, comments: 2, shares: 1 };
    assert_eq!((total.counts, total.acts), (counts, 6));
    assert_eq!(total.hourly_users.values().sum::<u64>(), 3, "each person once");
    let stored = entry(&store, id(1)).await;
    assert_eq!((stored.counts, stored.acts, stored.post.version), (counts, 6, 1));
    assert_eq!(listed(&store).await, []);
    // Once more changes nothing, and an act puts it on the list again.
    assert_eq!(store.aggregate(id(1), at(2)).await.unwrap().unwrap().counts, counts);
    count(&store, "eve", PostAction::Like, id(1)).await;
    assert_eq!(listed(&store).await, [id(1)]);
    store.aggregate(id(1), at(3)).await.unwrap();
    assert_eq!(entry(&store, id(1)).await.counts.likes, 2);
}

#[tokio::test(start_paused = true)]
async fn an_edit_leaves_totals_alone_and_a_fold_leaves_the_words() {
    let (_lab, store) = feed_in_lab();
    let before = public(&store, 1).await.post;
    count(&store, "bob", PostAction::Like, id(1)).await;
    store.aggregate(id(1), at(1)).await.unwrap();
    let gone = before.hidden(at(2)).unwrap();
    store.update_post(&before, &gone, at(2), &token()).await.unwrap();
    let stored = entry(&store, id(1)).await;
    assert_eq!((stored.post, stored.counts.likes), (gone.clone(), 1));
    count(&store, "eve", PostAction::Like, id(1)).await;
    store.aggregate(id(1), at(3)).await.unwrap();
    let stored = entry(&store, id(1)).await;
    assert_eq!((stored.post, stored.counts.likes), (gone, 2));
}

#[tokio::test(start_paused = true)]
async fn a_post_is_spread_as_it_is_found_to_be_popular() {
    let (_lab, store) = feed_in_lab();
    public(&store, 1).await;
    for n in 0..70 {
        count(&store, &format!("p{n}"), PostAction::Like, id(1)).await;
    }
    store.aggregate(id(1), at(1)).await.unwrap();
    assert_eq!(entry(&store, id(1)).await.shard_count, shard_count(70));
    for n in 70..100 {
        count(&store, &format!("p{n}"), PostAction::Like, id(1)).await;
    }
    store.aggregate(id(1), at(2)).await.unwrap();
    let stored = entry(&store, id(1)).await;
    assert_eq!((stored.counts.likes, stored.acts, stored.shard_count), (100, 100, 8));
    assert_eq!(listed(&store).await, []);
}

/// Folds that run all the time, and acts between them: the last one of a
/// post that is left on the list makes it exact.
#[tokio::test(start_paused = true)]
async fn folds_among_acts_lose_nothing() {
    let (_lab, store) = feed_in_lab();
    public(&store, 1).await;
    for round in 0..12 {
        let names: Vec<String> = (0..6).map(|n| format!("p{n}")).collect();
        let what = if round % 3 == 2 { PostAction::Unlike } else { PostAction::Like };
        let acts = names.iter().map(async |name| {
            loop {
                if act(&store, name, what, id(1)).await != EngageOutcome::Conflict {
                    break;
                }
            }
        });
        let folds = (0..4).map(async |_| store.aggregate(id(1), at(round)).await.unwrap());
        tokio::join!(join_all(acts), join_all(folds));
        for post in listed(&store).await {
            store.aggregate(post, at(round)).await.unwrap();
        }
        assert_eq!(listed(&store).await, []);
        let likes = entry(&store, id(1)).await.counts.likes;
        assert_eq!(likes, if round % 3 == 2 { 0 } else { 6 }, "round {round}");
    }
}

#[tokio::test(start_paused = true)]
async fn hours_that_no_total_needs_go() {
    let (lab, store) = feed_in_lab();
    let post = public(&store, 1).await;
    for hour in 0..80 {
        let who = user(&format!("p{hour}"));
        let ada = store.relationship(&who, &post.post.author).await.unwrap();
        let now = at(hour * 3_600);
        store
            .engage((&who, PostAction::Like), &post, &ada, Vec::new(), now, &token())
            .await
            .unwrap();
    }
    let now = at(79 * 3_600);
    for _ in 0..2 {
        let total = store.aggregate(id(1), now).await.unwrap().unwrap();
        assert_eq!((total.counts.likes, total.hourly_users.len()), (80, 48));
    }
    let table = lab.table("FeedTable");
    let text = |text: &str| aws_sdk_dynamodb::types::AttributeValue::S(text.to_owned());
    let get = lab.aws().dynamodb().get_item().table_name(table);
    let get = get.key("pk", text(&format!("count#{}#0", id(1)))).key("sk", text("count"));
    let counter = get.send().await.unwrap().item.unwrap();
    let hours = counter.keys().filter(|name| name[1..].parse::<i64>().is_ok()).count();
    assert_eq!(hours, 48);
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_likes_would_not_meet_in_one_row() {
    let (lab, store) = feed_in_lab();
    let mut post = write(&store, &post(1, "ada", Privacy::Public)).await;
    post.shard_count = 64;
    lab.record_calls();
    for n in 0..256 {
        let name = format!("p{n}");
        let ada = relation(&store, &name, &post).await;
        let who = user(&name);
        store
            .engage((&who, PostAction::Like), &post, &ada, Vec::new(), at(0), &token())
            .await
            .unwrap();
    }
    let mut most = std::collections::HashMap::<String, usize>::new();
    for call in lab.cloud.faults.recorded() {
        let body: serde_json::Value = serde_json::from_slice(&call.body).unwrap();
        for item in body["TransactItems"].as_array().into_iter().flatten() {
            let update = &item["Update"]["Key"]["pk"]["S"];
            if let Some(pk) = update.as_str() {
                *most.entry(pk.to_owned()).or_default() += 1;
            }
        }
    }
    assert_eq!(most.values().sum::<usize>(), 256, "one counter each");
    assert!(most.len() > 55 && most.values().all(|writes| *writes < 16), "{most:?}");
}
