//! Somebody follows, or no longer: what was said before comes to them, and followers are counted.

use boundary::telemetry::Trace;
use domain::Failure;
use domain::accounts::UserId;
use domain::feed::Message;

use crate::fan_out::{State, hints};

/// A reader may change under our hands so often.
const TRIES: usize = 8;

/// Brings what an author said before into a timeline, and counts.
pub(crate) async fn followed(
    state: &State,
    follower: &UserId,
    author: &UserId,
    version: u64,
    trace: &Trace,
) -> Result<(), Failure> {
    let (who, whom) = (follower.clone(), author.clone());
    let said = Message::Followed { v: 1, follower: who, author: whom, version };
    let Some(work) = said.work() else { return Ok(()) };
    if !state.feed.is_due(&work).await? {
        return Ok(());
    }
    backfill(state, follower, author, trace).await?;
    if state.feed.author(author).await?.recents.reach.mark().is_some() {
        hints::marked(state, author, [follower]).await?;
    }
    counted(state, author, trace).await?;
    state.feed.done(&work).await
}

/// Counts an author's followers, and begins to pull or to push them if that is what follows.
pub(crate) async fn counted(state: &State, author: &UserId, trace: &Trace) -> Result<(), Failure> {
    let token = || state.token();
    let crossed = state.feed.recount(author, &state.settings, state.now(), token).await?;
    state.ask(crossed.into_iter().collect(), trace).await;
    Ok(())
}

/// The reader's row first, then the references: whoever reads in between reads the author's posts from
/// the author.
async fn backfill(
    state: &State,
    reader: &UserId,
    author: &UserId,
    trace: &Trace,
) -> Result<(), Failure> {
    for _ in 0..TRIES {
        let now = state.now();
        let row = state.feed.author(author).await?.recents;
        let before = state.feed.standing(reader, now).await?.reader;
        let (after, references) = before.backfilled(author, &row);
        let same = (after.floor, after.epoch) == (before.floor, before.epoch);
        if !same && !state.feed.move_floor(&before, after.floor, after.epoch, now).await? {
            continue;
        }
        if after.epoch != before.epoch {
            let (reader, epoch) = (reader.clone(), after.epoch);
            state.ask(vec![Message::ReaderReturned { v: 1, reader, epoch }], trace).await;
        }
        let references = references.into_iter().map(|reference| (reader.clone(), reference));
        return state.feed.refer(references, now).await;
    }
    Err(Failure::new("bring posts into a timeline", "the reader keeps changing"))
}
