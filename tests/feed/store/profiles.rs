//! Profiles, which users exist, and reads of more than a batch takes.

use domain::feed::{
    FanOutMode, FeedSettings, PostAction, PostId, Privacy, Profile, RecentPosts, SocialAction,
};
use feed::store::NewPost;

use super::{FEW, at, changed, count, feed_in_lab, id, policy, post, public, token, user, write};

fn profile(who: &str, version: u64, name: &str) -> Profile {
    let name = name.to_owned();
    Profile { name, version, ..Profile::default_for(user(who), at(0)) }
}

#[tokio::test(start_paused = true)]
async fn a_profile_is_written_only_in_the_place_of_the_one_that_was_read() {
    let (_lab, store) = feed_in_lab();
    for before in 0..2 {
        let (first, late) = (profile("ada", before + 1, "Ada"), profile("ada", before + 1, "Eve"));
        assert!(store.save_profile(&first, before, &token()).await.unwrap());
        assert!(!store.save_profile(&late, before, &token()).await.unwrap());
        assert_eq!(store.profile(&user("ada")).await.unwrap(), Some(first));
    }
    assert!(!store.save_profile(&profile("bob", 3, "Bob"), 2, &token()).await.unwrap());
    assert_eq!(
        store.profile(&user("bob")).await.unwrap(),
        None,
        "no second version without a first"
    );
}

#[tokio::test(start_paused = true)]
async fn users_exist_who_read_wrote_or_saved_a_profile_and_not_who_is_only_followed() {
    let (_lab, store) = feed_in_lab();
    changed(&store, "bob", SocialAction::Follow, "eve").await;
    store.update_fan_out_policy(&user("eve"), &FEW, at(0), token).await.unwrap();
    assert_eq!(policy(&store, "eve").await, (FanOutMode::Switching, 1), "there is a row of hers");
    public(&store, 1).await;
    store.save_profile(&profile("cid", 1, "Cid"), 0, &token()).await.unwrap();
    for (who, known) in [("ada", true), ("bob", true), ("cid", true), ("eve", false)] {
        assert_eq!(store.user_exists(&user(who)).await.unwrap(), known, "{who}");
    }
}

#[tokio::test(start_paused = true)]
async fn more_posts_authors_and_profiles_than_fit_into_a_batch_are_all_read() {
    let (_lab, store) = feed_in_lab();
    let people: Vec<_> = (0..104).map(|n| format!("p{n}")).collect();
    for (n, who) in (0..).zip(&people) {
        let post = post(n, who, Privacy::Public);
        let author = store.author(&user(who)).await.unwrap();
        let new = NewPost { post: &post, author: &author, once: None };
        store.create_post(new, Vec::new(), &FeedSettings::DEFAULT, at(0), &token()).await.unwrap();
        store.save_profile(&profile(who, 1, who), 0, &token()).await.unwrap();
    }
    count(&store, "bob", PostAction::Like, id(103)).await;
    let ids = || (0..106).map(id);
    let users: Vec<_> = people.iter().map(|who| user(who)).chain([user("unknown")]).collect();
    let posts = store.posts(ids()).await.unwrap();
    assert_eq!((posts.len(), &posts[&id(103)].post.author), (104, &user("p103")));
    let authors = store.authors(&users).await.unwrap();
    assert_eq!((authors.len(), &authors[&user("p7")].recents.posts), (104, &vec![id(7)]));
    let context = store.post_context(&user("bob"), &users, ids()).await.unwrap();
    assert_eq!((context.profiles.len(), context.engagements.len()), (104, 1));
    assert!(context.engagements[&id(103)].likes);
    assert_eq!(context.profiles[&user("p50")].name, "p50");
}

#[tokio::test(start_paused = true)]
async fn posts_go_on_below_the_row_of_the_newest() {
    const SETTINGS: FeedSettings = FeedSettings { recent_size: 3, ..FeedSettings::DEFAULT };
    let (_lab, store) = feed_in_lab();
    let ada = user("ada");
    write(&store, &post(100, "bob", Privacy::Public)).await;
    for n in 1..=8 {
        let post = post(n, "ada", Privacy::Public);
        let author = store.author(&ada).await.unwrap();
        let new = NewPost { post: &post, author: &author, once: None };
        store.create_post(new, Vec::new(), &SETTINGS, at(0), &token()).await.unwrap();
    }
    let row: RecentPosts = store.author(&ada).await.unwrap().recents;
    assert_eq!(
        (row.posts.as_slice(), row.truncated_at),
        ([id(8), id(7), id(6)].as_slice(), Some(id(6)))
    );
    // Two at a time: from the row as far as it goes, then from the index.
    let mut below = PostId::MAX;
    let mut pages = Vec::new();
    loop {
        let run = store.posts_below(&ada, &row, below, 2).await.unwrap();
        assert!(run.references.iter().all(|reference| reference.author == ada));
        pages.push(run.references.iter().map(|reference| reference.post_id).collect::<Vec<_>>());
        let Some(floor) = run.floor else { break };
        below = floor;
    }
    let pages: Vec<&[PostId]> = pages.iter().map(Vec::as_slice).collect();
    let row: &[PostId] = &[id(8), id(7), id(6)];
    assert_eq!(pages, [row, &[id(5), id(4)], &[id(3), id(2)], &[id(1)]]);
}
