//! A follow or an unfollow: earlier posts are backfilled, and followers are counted.

use boundary::telemetry::Trace;
use domain::accounts::UserId;
use domain::feed::FeedMessage;
use domain::{Failure, Result};

use crate::fan_out::{State, notify};

/// Tries when another instance changes the reader.
const TRIES: usize = 8;

/// Backfills an author's earlier posts into a timeline, and counts.
pub(crate) async fn followed(
    state: &State,
    follower: &UserId,
    author: &UserId,
    version: u64,
    trace: &Trace,
) -> Result {
    let (who, whom) = (follower.clone(), author.clone());
    let message = FeedMessage::Followed { v: 1, follower: who, author: whom, version };
    let Some(work) = message.work_id() else { return Ok(()) };
    if !state.feed.is_pending(&work).await? {
        return Ok(());
    }
    backfill(state, follower, author, trace).await?;
    if state.feed.author(author).await?.recents.policy.mark_epoch().is_some() {
        notify::pull_marks_added(state, author, [follower]).await?;
    }
    update_policy(state, author, trace).await?;
    state.feed.complete_work(&work).await
}

/// Counts an author's followers, and begins to pull or to push them if that is what follows.
pub(crate) async fn update_policy(state: &State, author: &UserId, trace: &Trace) -> Result {
    let token = || state.token();
    let crossed =
        state.feed.update_fan_out_policy(author, &state.settings, state.now(), token).await?;
    state.enqueue(crossed.into_iter().collect(), trace).await;
    Ok(())
}

/// The reader's row first, then the references: a request in between reads the author's posts from
/// the author.
async fn backfill(state: &State, reader: &UserId, author: &UserId, trace: &Trace) -> Result {
    for _ in 0..TRIES {
        let now = state.now();
        let row = state.feed.author(author).await?.recents;
        let before = state.feed.reader_state(reader, now).await?.reader;
        let (after, references) = before.backfill(author, &row);
        let same = (after.floor, after.epoch) == (before.floor, before.epoch);
        if !same && !state.feed.move_floor(&before, after.floor, after.epoch, now).await? {
            continue;
        }
        if after.epoch != before.epoch {
            let (reader, epoch) = (reader.clone(), after.epoch);
            state.enqueue(vec![FeedMessage::ReaderReturned { v: 1, reader, epoch }], trace).await;
        }
        let references = references.into_iter().map(|reference| (reader.clone(), reference));
        return state.feed.add_references(references, now).await;
    }
    Err(Failure::new("bring posts into a timeline", "the reader keeps changing"))
}
