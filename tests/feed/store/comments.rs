//! Comments: each is written and counted together, once for each call.

use domain::feed::{Comment, CommentDraft, CommentId, SocialAction};
use feed::store::{CommentOutcome, UncommentOutcome};
use store::idempotency::{Claim, IdempotentRequest, StoredResponse};

use super::{at, entry, feed_in_lab, id, public, relation, token, user};

fn comment(n: u8, who: &str) -> Comment {
    let draft = CommentDraft { text: format!("comment {n}") };
    let name = CommentId::made_from(at(n.into()), [n; 8]);
    draft.checked(name, id(1), user(who), at(n.into())).unwrap()
}

async fn say(store: &feed::store::FeedStore, comment: &Comment) -> CommentOutcome {
    let post = entry(store, id(1)).await;
    let ada = relation(store, comment.author.as_str(), &post).await;
    store.comment(comment, &post, &ada, None, at(0), &token()).await.unwrap()
}

async fn counted(store: &feed::store::FeedStore) -> u64 {
    store.aggregate(id(1), at(9)).await.unwrap().unwrap().counts.comments
}

#[tokio::test(start_paused = true)]
async fn comments_are_listed_oldest_first_and_counted() {
    let (_lab, store) = feed_in_lab();
    public(&store, 1).await;
    for n in [2, 1, 3] {
        assert!(matches!(say(&store, &comment(n, "bob")).await, CommentOutcome::Created { .. }));
    }
    let all = store.comments(id(1), None, 10).await.unwrap();
    assert_eq!(all, [comment(1, "bob"), comment(2, "bob"), comment(3, "bob")]);
    let rest = store.comments(id(1), Some(all[0].id), 1).await.unwrap();
    assert_eq!(rest, [comment(2, "bob")]);
    assert_eq!(store.comments(id(2), None, 10).await.unwrap(), []);
    assert_eq!(store.find_comment(id(1), all[2].id).await.unwrap(), Some(comment(3, "bob")));
    assert_eq!(counted(&store).await, 3);
    // The very same again finds itself.
    assert!(matches!(say(&store, &comment(1, "bob")).await, CommentOutcome::Created { .. }));
    assert_eq!(counted(&store).await, 3);
}

#[tokio::test(start_paused = true)]
async fn the_second_with_a_key_gets_the_answer_of_the_first() {
    let (_lab, store) = feed_in_lab();
    let post = public(&store, 1).await;
    let attempt = async |n: u8, fingerprint: u8| {
        let request = IdempotentRequest {
            caller: "bob",
            operation: "commentOnPost",
            key: "key",
            fingerprint: [fingerprint; 32],
            claimant: "someone",
            deadline: at(30),
        };
        let answer = StoredResponse { status: 201, location: None, etag: None, body: vec![n] };
        let ada = relation(&store, "bob", &post).await;
        let once = Some((&request, &answer));
        store.comment(&comment(n, "bob"), &post, &ada, once, at(0), &token()).await.unwrap()
    };
    assert!(matches!(attempt(1, 0).await, CommentOutcome::Created { .. }));
    let first = StoredResponse { status: 201, location: None, etag: None, body: vec![1] };
    assert_eq!(attempt(2, 0).await, CommentOutcome::Replayed(Claim::Answered(first)));
    assert_eq!(attempt(3, 7).await, CommentOutcome::Replayed(Claim::Mismatch));
    assert_eq!(store.comments(id(1), None, 10).await.unwrap(), [comment(1, "bob")]);
    assert_eq!(counted(&store).await, 1);
}

#[tokio::test(start_paused = true)]
async fn no_comment_follows_a_block() {
    let (_lab, store) = feed_in_lab();
    let post = public(&store, 1).await;
    let seen = relation(&store, "bob", &post).await;
    store
        .apply_action(&user("ada"), SocialAction::Block, &user("bob"), at(0), token)
        .await
        .unwrap();
    let came = store.comment(&comment(1, "bob"), &post, &seen, None, at(1), &token()).await;
    assert_eq!(came.unwrap(), CommentOutcome::Conflict);
    assert_eq!(store.comments(id(1), None, 10).await.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn a_comment_is_taken_back_once_and_its_words_are_gone() {
    let (_lab, store) = feed_in_lab();
    let post = public(&store, 1).await;
    say(&store, &comment(1, "bob")).await;
    say(&store, &comment(2, "bob")).await;
    let gone = comment(1, "bob").deleted(&post.post, &user("ada"), at(5)).unwrap().unwrap();
    let came = store.uncomment(&gone, &post, at(5), &token()).await.unwrap();
    assert!(matches!(came, UncommentOutcome::Deleted { .. }));
    let again = store.uncomment(&gone, &post, at(6), &token()).await.unwrap();
    assert_eq!(again, UncommentOutcome::Unchanged);
    assert_eq!(store.find_comment(id(1), gone.id).await.unwrap(), Some(gone));
    assert_eq!(counted(&store).await, 1);
    // One that was never there takes nothing from those that are.
    let unheard = comment(7, "bob").deleted(&post.post, &user("bob"), at(5)).unwrap().unwrap();
    let came = store.uncomment(&unheard, &post, at(6), &token()).await.unwrap();
    assert_eq!(came, UncommentOutcome::Unchanged);
    assert_eq!(counted(&store).await, 1);
}
