//! Who comes back is told of what belongs into their feed, and of nothing else.

use domain::feed::{
    FanOutMode, FanOutPolicy, FeedSettings, Post, PostBody, PostDelivery, PostReference, Privacy,
    Reader, ServerMessage,
};
use feed::store::{CreateOutcome, NewPost, UpdateOutcome};

use super::*;

/// Who was away for so long is taken for dormant.
const WEEK: i64 = 7 * 86_400;

fn id(second: i64) -> PostId {
    PostId::made_from(at(second), [7; 8])
}

/// Writes a post of a second, pushed or pulled by its author's mode.
async fn write(
    feed: &FeedStore,
    who: &str,
    second: i64,
    mode: FanOutMode,
    privacy: Privacy,
) -> Post {
    let mut author = feed.author(&person(who)).await.unwrap();
    author.recents.policy = FanOutPolicy { mode, epoch: 2 };
    let delivery = author.recents.policy.post_delivery();
    let body = PostBody { text: "hi".to_owned(), privacy, ..PostBody::default() };
    let post = Post::new(id(second), person(who), body, delivery, at(second));
    let new = NewPost { post: &post, author: &author, once: None };
    let settings = FeedSettings { recent_size: 5, ..FeedSettings::DEFAULT };
    let created = feed.create_post(new, Vec::new(), &settings, at(second), &token()).await.unwrap();
    assert!(matches!(created, CreateOutcome::Created(_)), "{created:?}");
    post
}

/// The same, in a reader's timeline at another second.
async fn push(feed: &FeedStore, post: &Post, to: &str, arrived: i64) {
    assert_eq!(post.delivery, PostDelivery::Push);
    let reference = PostReference { post_id: post.id, author: post.author.clone() };
    feed.add_references([(person(to), reference)], at(arrived)).await.unwrap();
}

async fn missed(feed: &FeedStore, who: &str, since: i64, now: i64) -> ServerMessage {
    feed.missed(&person(who), at(since), &FeedSettings::DEFAULT, at(now)).await.unwrap()
}

fn named(hint: ServerMessage) -> Vec<PostId> {
    let ServerMessage::NewPosts { post_ids, .. } = hint else { panic!("{hint:?}") };
    post_ids
}

#[tokio::test(start_paused = true)]
async fn what_arrived_since_is_named_pushed_or_pulled() {
    let (_lab, feed) = feed_in_lab();
    act(&feed, "ada", SocialAction::Follow, "bob").await;
    act(&feed, "ada", SocialAction::Follow, "cleo").await;
    feed.add_pull_mark(&person("ada"), &person("cleo"), 2).await.unwrap();
    for (second, arrived) in [(10, 5_000), (20, 30), (4_990, 5_010)] {
        let post = write(&feed, "bob", second, FanOutMode::Push, Privacy::Public).await;
        push(&feed, &post, "ada", arrived).await;
    }
    for second in [40, 5_005] {
        write(&feed, "cleo", second, FanOutMode::Pull, Privacy::Public).await;
    }
    let hint = missed(&feed, "ada", 5_000, 5_020).await;
    let expected = vec![id(10), id(4_990), id(5_005)];
    assert_eq!(hint, ServerMessage::NewPosts { v: 1, post_ids: expected, position: at(5_020) });
    assert_eq!(named(missed(&feed, "ada", 9_000, 9_001).await), []);
    assert_eq!(named(missed(&feed, "eve", 0, 5_020).await), [], "who follows no one");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_named_that_is_not_for_the_reader() {
    let (_lab, feed) = feed_in_lab();
    // Each of them is in the timeline.
    let authors = ["bob", "blocks", "blocked", "muted", "left", "close"];
    for author in authors {
        act(&feed, "ada", SocialAction::Follow, author).await;
    }
    act(&feed, "close", SocialAction::Follow, "ada").await;
    let mut posts = Vec::new();
    for (second, author) in (100..).zip(authors) {
        let post = write(&feed, author, second, FanOutMode::Push, Privacy::Public).await;
        push(&feed, &post, "ada", second).await;
        posts.push(post);
    }
    for (second, author) in [(120, "bob"), (121, "close")] {
        let post = write(&feed, author, second, FanOutMode::Push, Privacy::Friends).await;
        push(&feed, &post, "ada", second).await;
    }
    assert_eq!(named(missed(&feed, "ada", 100, 130).await).len(), 7);
    act(&feed, "blocks", SocialAction::Block, "ada").await;
    act(&feed, "ada", SocialAction::Block, "blocked").await;
    act(&feed, "ada", SocialAction::Mute, "muted").await;
    act(&feed, "ada", SocialAction::Unfollow, "left").await;
    let author = feed.author(&person("bob")).await.unwrap();
    let gone = posts[0].deleted(at(125)).unwrap();
    let settings = FeedSettings::DEFAULT;
    let (both, token) = ((&posts[0], &gone), token());
    let deleted = feed.delete_post(both, &author, Vec::new(), &settings, at(125), &token);
    assert!(matches!(deleted.await.unwrap(), UpdateOutcome::Updated(_)));
    assert_eq!(named(missed(&feed, "ada", 100, 130).await), [id(105), id(121)]);
    // The same for those who are told at once.
    for (post, expected) in
        [(&posts[5], true), (&posts[1], false), (&posts[3], false), (&gone, false)]
    {
        let readers = feed.readers_of(post, [&person("ada"), &person("eve")]).await.unwrap();
        assert_eq!(readers.contains(&person("ada")), expected, "{post:?}");
        assert!(!readers.contains(&person("eve")), "who does not follow");
    }
}

#[tokio::test(start_paused = true)]
async fn who_can_t_be_told_all_is_told_to_read_anew() {
    let (_lab, feed) = feed_in_lab();
    let reload = |second: i64| ServerMessage::Reload { v: 1, position: at(second) };
    // Cleo's row remembers five posts.
    act(&feed, "ada", SocialAction::Follow, "cleo").await;
    feed.add_pull_mark(&person("ada"), &person("cleo"), 2).await.unwrap();
    for second in 5_000..5_006 {
        write(&feed, "cleo", second, FanOutMode::Pull, Privacy::Public).await;
    }
    assert_eq!(missed(&feed, "ada", 5_000, 5_010).await, reload(5_010));
    assert_eq!(named(missed(&feed, "ada", 5_902, 5_910).await).len(), 4, "older ones are known");
    // A reader who was away for a week has no valid timeline, and no more so while it is rebuilt.
    assert_eq!(missed(&feed, "ada", WEEK - 60, WEEK).await, reload(WEEK));
    let ada = person("ada");
    let before = feed.reader_state(&ada, at(5_010)).await.unwrap();
    let after = Reader { floor: PostId::MAX, epoch: 1, ..before.reader.clone() };
    assert!(feed.record_visit(&before, &after, at(5_010)).await.unwrap());
    assert_eq!(missed(&feed, "ada", 9_000, 9_010).await, reload(9_010));
}
