//! Who comes back is told of what belongs into their feed, and of nothing else.

use domain::feed::{Body, Fan, Hint, Mode, Post, Privacy, Reach, Reader, Reference, Settings};
use feed::store::{Amended, Created, NewPost};

use super::*;

/// Who was away for so long is taken for dormant.
const WEEK: i64 = 7 * 86_400;

fn id(second: i64) -> PostId {
    PostId::made_from(at(second), [7; 8])
}

/// Somebody writes a post of a second; by how they reach people it is pushed or pulled.
async fn write(feed: &Feed, who: &str, second: i64, mode: Mode, privacy: Privacy) -> Post {
    let mut author = feed.author(&person(who)).await.unwrap();
    author.recents.reach = Reach { mode, epoch: 2 };
    let fan = author.recents.reach.fan();
    let body = Body { text: "hi".to_owned(), privacy, ..Body::default() };
    let post = Post::new(id(second), person(who), body, fan, at(second));
    let new = NewPost { post: &post, author: &author, once: None };
    let settings = Settings { recents: 5, ..Settings::DEFAULT };
    let created = feed.create(new, Vec::new(), &settings, at(second), &token()).await.unwrap();
    assert!(matches!(created, Created::Created(_)), "{created:?}");
    post
}

/// The same, brought into somebody's timeline at another second.
async fn push(feed: &Feed, post: &Post, to: &str, arrived: i64) {
    assert_eq!(post.fan, Fan::Push);
    let reference = Reference { post_id: post.id, author: post.author.clone() };
    feed.refer([(person(to), reference)], at(arrived)).await.unwrap();
}

async fn missed(feed: &Feed, who: &str, since: i64, now: i64) -> Hint {
    feed.missed(&person(who), at(since), &Settings::DEFAULT, at(now)).await.unwrap()
}

fn named(hint: Hint) -> Vec<PostId> {
    let Hint::NewPosts { post_ids, .. } = hint else { panic!("{hint:?}") };
    post_ids
}

#[tokio::test(start_paused = true)]
async fn what_arrived_since_is_named_pushed_or_pulled() {
    let lab = Lab::new();
    let feed = feed(&lab);
    act(&feed, "ada", Act::Follow, "bob").await;
    act(&feed, "ada", Act::Follow, "cleo").await;
    feed.mark(&person("ada"), &person("cleo"), 2).await.unwrap();
    for (second, arrived) in [(10, 5_000), (20, 30), (4_990, 5_010)] {
        let post = write(&feed, "bob", second, Mode::Pushed, Privacy::Public).await;
        push(&feed, &post, "ada", arrived).await;
    }
    for second in [40, 5_005] {
        write(&feed, "cleo", second, Mode::Pulled, Privacy::Public).await;
    }
    let hint = missed(&feed, "ada", 5_000, 5_020).await;
    let expected = vec![id(10), id(4_990), id(5_005)];
    assert_eq!(hint, Hint::NewPosts { v: 1, post_ids: expected, position: at(5_020) });
    assert_eq!(named(missed(&feed, "ada", 9_000, 9_001).await), []);
    assert_eq!(named(missed(&feed, "eve", 0, 5_020).await), [], "who follows nobody");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_named_that_is_not_for_the_reader() {
    let lab = Lab::new();
    let feed = feed(&lab);
    // Each of them is in the timeline, whatever became of them.
    let authors = ["bob", "blocks", "blocked", "muted", "left", "close"];
    for author in authors {
        act(&feed, "ada", Act::Follow, author).await;
    }
    act(&feed, "close", Act::Follow, "ada").await;
    let mut posts = Vec::new();
    for (second, author) in (100..).zip(authors) {
        let post = write(&feed, author, second, Mode::Pushed, Privacy::Public).await;
        push(&feed, &post, "ada", second).await;
        posts.push(post);
    }
    for (second, author) in [(120, "bob"), (121, "close")] {
        let post = write(&feed, author, second, Mode::Pushed, Privacy::Friends).await;
        push(&feed, &post, "ada", second).await;
    }
    assert_eq!(named(missed(&feed, "ada", 100, 130).await).len(), 7);
    act(&feed, "blocks", Act::Block, "ada").await;
    act(&feed, "ada", Act::Block, "blocked").await;
    act(&feed, "ada", Act::Mute, "muted").await;
    act(&feed, "ada", Act::Unfollow, "left").await;
    let author = feed.author(&person("bob")).await.unwrap();
    let gone = posts[0].deleted(at(125)).unwrap();
    let settings = Settings::DEFAULT;
    let (both, token) = ((&posts[0], &gone), token());
    let deleted = feed.delete(both, &author, Vec::new(), &settings, at(125), &token);
    assert!(matches!(deleted.await.unwrap(), Amended::Amended(_)));
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
    let lab = Lab::new();
    let feed = feed(&lab);
    let reload = |second: i64| Hint::Reload { v: 1, position: at(second) };
    // Cleo's row remembers five posts.
    act(&feed, "ada", Act::Follow, "cleo").await;
    feed.mark(&person("ada"), &person("cleo"), 2).await.unwrap();
    for second in 5_000..5_006 {
        write(&feed, "cleo", second, Mode::Pulled, Privacy::Public).await;
    }
    assert_eq!(missed(&feed, "ada", 5_000, 5_010).await, reload(5_010));
    assert_eq!(named(missed(&feed, "ada", 5_902, 5_910).await).len(), 4, "older ones are known");
    // Whoever was away for a week has no timeline to go by, and no more so while it is rebuilt.
    assert_eq!(missed(&feed, "ada", WEEK - 60, WEEK).await, reload(WEEK));
    let ada = person("ada");
    let before = feed.standing(&ada, at(5_010)).await.unwrap();
    let after = Reader { floor: PostId::MAX, epoch: 1, ..before.reader.clone() };
    assert!(feed.arrived(&before, &after, at(5_010)).await.unwrap());
    assert_eq!(missed(&feed, "ada", 9_000, 9_010).await, reload(9_010));
}
