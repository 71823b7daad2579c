//! Posts: written with their author's row or not at all, and changed only from the version that was read.

use domain::feed::{
    FanOutMode, FeedMessage, FeedSettings, Post, PostDelivery, PostEdit, PostId, Privacy,
    RecentPosts,
};
use feed::store::{AuthorRow, CreateOutcome, FeedStore, NewPost, UpdateOutcome};
use store::idempotency::{Claim, IdempotentRequest, StoredResponse};

use super::{
    FEW, SocialAction, at, changed, entry, feed_in_lab, id, post, public, token, unfinished, user,
    write,
};

async fn author(store: &FeedStore, who: &str) -> AuthorRow {
    store.author(&user(who)).await.unwrap()
}

/// Writes a post by what was read of its author.
async fn create(store: &FeedStore, post: &Post, author: &AuthorRow) -> CreateOutcome {
    let new = NewPost { post, author, once: None };
    store.create_post(new, Vec::new(), &FeedSettings::DEFAULT, at(0), &token()).await.unwrap()
}

fn edited(post: &Post, text: &str) -> Post {
    let edit: PostEdit = serde_json::from_value(serde_json::json!({ "text": text })).unwrap();
    post.edited(edit, at(1)).unwrap().unwrap()
}

fn opened(post: &Post, privacy: &str) -> Post {
    let edit = serde_json::from_value(serde_json::json!({ "privacy": privacy })).unwrap();
    post.edited(edit, at(1)).unwrap().unwrap()
}

/// Deletes a post as it was read.
async fn delete(store: &FeedStore, before: &Post, author: &AuthorRow) -> UpdateOutcome {
    let after = before.deleted(at(2)).unwrap();
    let posts = (before, &after);
    store
        .delete_post(posts, author, Vec::new(), &FeedSettings::DEFAULT, at(2), &token())
        .await
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_post_is_written_with_its_authors_row_and_what_is_to_be_done() {
    let (_lab, store) = feed_in_lab();
    let first = post(1, "ada", Privacy::Public);
    let said = FeedMessage::post_created(&first);
    let done = create(&store, &first, &AuthorRow::default()).await;
    assert_eq!(done, CreateOutcome::Created(Some(said.clone())));
    assert_eq!(entry(&store, id(1)).await.post, first);
    let row = author(&store, "ada").await;
    assert_eq!((row.recents.posts.as_slice(), row.version), ([id(1)].as_slice(), 1));
    assert_eq!(unfinished(&store).await, [said]);
    let private = post(2, "ada", Privacy::Private);
    assert_eq!(create(&store, &private, &row).await, CreateOutcome::Created(None));
    assert_eq!(unfinished(&store).await.len(), 1, "a private post is not fanned out");
}

#[tokio::test(start_paused = true)]
async fn a_post_whose_author_wrote_another_one_meanwhile_is_not_written() {
    let (_lab, store) = feed_in_lab();
    for (seen, n) in [(0, 1), (1, 3)] {
        let before = author(&store, "ada").await;
        assert_eq!(before.version, seen);
        public(&store, n).await;
        let late = post(n + 1, "ada", Privacy::Public);
        assert_eq!(create(&store, &late, &before).await, CreateOutcome::Conflict);
        assert_eq!(store.post(late.id).await.unwrap(), None);
    }
    assert_eq!(author(&store, "ada").await.recents.posts, [id(3), id(1)]);
    assert_eq!(unfinished(&store).await.len(), 2, "what is not written is not fanned out");
}

#[tokio::test(start_paused = true)]
async fn a_post_whose_author_crossed_meanwhile_is_not_written_by_the_old_way() {
    let (_lab, store) = feed_in_lab();
    changed(&store, "bob", SocialAction::Follow, "ada").await;
    store.update_fan_out_policy(&user("ada"), &FEW, at(0), token).await.unwrap().unwrap();
    let rising = author(&store, "ada").await;
    assert_eq!(
        (rising.recents.policy.mode, rising.recents.policy.post_delivery()),
        (FanOutMode::Switching, PostDelivery::Push)
    );
    store.finish_switch_to_pull(&user("ada"), 1, "mark#ada#1", at(0), token).await.unwrap();
    let pushed = post(1, "ada", Privacy::Public);
    assert_eq!(create(&store, &pushed, &rising).await, CreateOutcome::Conflict);
    let now = author(&store, "ada").await;
    let pulled = Post { delivery: now.recents.policy.post_delivery(), ..pushed };
    assert_eq!(pulled.delivery, PostDelivery::Pull);
    let done = create(&store, &pulled, &now).await;
    assert!(matches!(done, CreateOutcome::Created(Some(_))), "those who are connected are told");
    assert_eq!(author(&store, "ada").await.recents.last_pulled, Some(id(1)));
}

#[tokio::test(start_paused = true)]
async fn who_finds_their_own_post_there_has_written_it() {
    let (_lab, store) = feed_in_lab();
    let mine = post(1, "ada", Privacy::Public);
    let before = author(&store, "ada").await;
    for _ in 0..2 {
        let done = create(&store, &mine, &before).await;
        assert_eq!(done, CreateOutcome::Created(Some(FeedMessage::post_created(&mine))));
    }
    assert_eq!(author(&store, "ada").await.version, 1);
}

#[tokio::test(start_paused = true)]
async fn a_repeat_is_told_what_was_answered_until_that_is_forgotten() {
    let (_lab, store) = feed_in_lab();
    let answer = |n: u8| StoredResponse { status: 201, location: None, etag: None, body: vec![n] };
    let request = |caller, fingerprint| IdempotentRequest {
        caller,
        operation: "writePost",
        key: "one",
        fingerprint: [fingerprint; 32],
        claimant: "node",
        deadline: at(30),
    };
    let create = async |n: u8, request: IdempotentRequest<'_>, second: i64| {
        let post = post(n.into(), request.caller, Privacy::Public);
        let author = author(&store, request.caller).await;
        let once = Some((&request, &answer(n)));
        let new = NewPost { post: &post, author: &author, once };
        let now = at(second);
        store.create_post(new, Vec::new(), &FeedSettings::DEFAULT, now, &token()).await.unwrap()
    };
    let made = |created: &CreateOutcome| matches!(created, CreateOutcome::Created(_));
    assert!(made(&create(1, request("ada", 7), 0).await));
    let repeat = create(2, request("ada", 7), 1).await;
    assert_eq!(repeat, CreateOutcome::Replayed(Claim::Answered(answer(1))));
    let other = create(3, request("ada", 8), 1).await;
    assert_eq!(other, CreateOutcome::Replayed(Claim::Mismatch));
    assert!(made(&create(4, request("bob", 7), 1).await), "another user's key is another");
    assert_eq!(author(&store, "ada").await.recents.posts, [id(1)]);
    assert_eq!(store.post(id(2)).await.unwrap(), None);
    assert!(made(&create(5, request("ada", 8), 86_400).await), "a day later it is forgotten");
    // A request that holds the key keeps others out until its deadline.
    let held = IdempotentRequest { claimant: "other", ..request("cid", 7) };
    assert!(matches!(store.once().claim(&held, at(0)).await.unwrap(), Claim::Won(_)));
    let met = create(6, request("cid", 7), 29).await;
    assert_eq!(met, CreateOutcome::Replayed(Claim::Running(at(30))));
    assert!(made(&create(6, request("cid", 7), 30).await));
}

#[tokio::test(start_paused = true)]
async fn an_edit_of_an_older_version_changes_nothing() {
    let (_lab, store) = feed_in_lab();
    let before = public(&store, 1).await.post;
    let after = edited(&before, "first");
    let done = store.update_post(&before, &after, at(1), &token()).await.unwrap();
    assert_eq!(done, UpdateOutcome::Updated(None));
    let late = edited(&before, "second");
    let done = store.update_post(&before, &late, at(1), &token()).await.unwrap();
    assert_eq!(done, UpdateOutcome::Conflict);
    assert_eq!(entry(&store, id(1)).await.post, after);
}

#[tokio::test(start_paused = true)]
async fn what_is_opened_to_others_is_fanned_out_unless_it_changed_meanwhile() {
    let (_lab, store) = feed_in_lab();
    let before = write(&store, &post(1, "ada", Privacy::Private)).await.post;
    let same = edited(&before, "still for myself");
    assert!(matches!(
        store.update_post(&before, &same, at(1), &token()).await,
        Ok(UpdateOutcome::Updated(_))
    ));
    let late = opened(&before, "PUBLIC");
    let done = store.update_post(&before, &late, at(1), &token()).await.unwrap();
    assert_eq!((done, unfinished(&store).await), (UpdateOutcome::Conflict, vec![]));
    let after = opened(&same, "FRIENDS");
    let said = FeedMessage::post_created(&after);
    let done = store.update_post(&same, &after, at(1), &token()).await.unwrap();
    assert_eq!(done, UpdateOutcome::Updated(Some(said.clone())));
    assert_eq!(unfinished(&store).await, [said]);
}

#[tokio::test(start_paused = true)]
async fn a_deletion_takes_the_post_out_of_every_list_and_stays() {
    let (_lab, store) = feed_in_lab();
    let (before, kept) = (public(&store, 1).await.post, public(&store, 2).await.post);
    let row = author(&store, "ada").await;
    let gone = before.deleted(at(2)).unwrap();
    let said = FeedMessage::post_deleted(&gone);
    assert_eq!(delete(&store, &before, &row).await, UpdateOutcome::Updated(Some(said.clone())));
    assert_eq!(entry(&store, id(1)).await.post, gone);
    assert!(unfinished(&store).await.contains(&said));
    let row = author(&store, "ada").await;
    assert_eq!(row.recents.posts, [kept.id]);
    let truncated_at = RecentPosts { truncated_at: Some(PostId::MAX), ..RecentPosts::default() };
    let listed = store.posts_below(&user("ada"), &truncated_at, PostId::MAX, 9).await.unwrap();
    assert_eq!(listed.references.len(), 1, "it is on no list of all posts either");
    // Neither an edit nor another deletion that was decided before gets through.
    let late = store.update_post(&before, &edited(&before, "late"), at(3), &token()).await.unwrap();
    assert_eq!(late, UpdateOutcome::Conflict);
    assert_eq!(delete(&store, &before, &row).await, UpdateOutcome::Conflict);
    assert_eq!(entry(&store, id(1)).await.post, gone);
}

#[tokio::test(start_paused = true)]
async fn a_deletion_that_was_decided_by_older_rows_deletes_nothing() {
    let (_lab, store) = feed_in_lab();
    let before = public(&store, 1).await.post;
    let row = author(&store, "ada").await;
    public(&store, 2).await;
    assert_eq!(
        delete(&store, &before, &row).await,
        UpdateOutcome::Conflict,
        "another post was written"
    );
    let row = author(&store, "ada").await;
    let after = edited(&before, "other words");
    store.update_post(&before, &after, at(1), &token()).await.unwrap();
    assert_eq!(delete(&store, &before, &row).await, UpdateOutcome::Conflict, "the post was edited");
    assert_eq!(entry(&store, id(1)).await.post, after);
    assert_eq!(author(&store, "ada").await, row);
    assert!(matches!(delete(&store, &after, &row).await, UpdateOutcome::Updated(Some(_))));
}
