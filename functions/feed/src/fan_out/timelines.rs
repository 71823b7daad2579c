//! Timelines of readers who are back, and of those whose timelines have grown too long.

use boundary::telemetry::{Trace, Unit, measure};
use domain::Result;
use domain::accounts::UserId;
use domain::feed::{FeedMessage, PostId, PostReference, RecentPosts};
use std::collections::BTreeMap;

use crate::fan_out::State;

/// References that are taken away for one message.
const MAX_DROPPED: usize = 1_000;

/// Rebuilds the timeline of a reader who is back, unless that is done or they were away again.
pub(crate) async fn rebuild(state: &State, user: &UserId, epoch: u64) -> Result {
    let now = state.now();
    let reader = state.feed.reader_state(user, now).await?.reader;
    if reader.epoch != epoch || reader.floor != PostId::MAX {
        return Ok(());
    }
    let following = state.feed.following(user, None, None).await?;
    let mut rows: Vec<(UserId, RecentPosts)> = Vec::new();
    for (author, row) in state.feed.authors(&following).await? {
        rows.push((author, row.recents));
    }
    let run = reader.rebuild(&rows, &state.settings);
    let references = run.references.into_iter().map(|reference| (user.clone(), reference));
    state.feed.add_references(references, now).await?;
    state.feed.move_floor(&reader, run.floor.unwrap_or(PostId::MIN), epoch, now).await?;
    measure("TimelinesRebuilt", Unit::Count, 1.0);
    Ok(())
}

/// Trims a timeline that has grown too long, and removes obsolete pull marks.
pub(crate) async fn trim(state: &State, user: &UserId, trace: &Trace) -> Result {
    let now = state.now();
    let reader = state.feed.reader_state(user, now).await?.reader;
    let marked = state.feed.authors(reader.pull_marks.keys()).await?;
    let marked: BTreeMap<UserId, RecentPosts> =
        marked.into_iter().map(|(author, row)| (author, row.recents)).collect();
    state.feed.remove_pull_marks(user, &reader.obsolete_marks(&marked)).await?;
    let most = state.settings.timeline_size + state.settings.timeline_size / 10 + MAX_DROPPED;
    let rows = state.feed.timeline(user, PostId::MAX, most).await?;
    let more = rows.len() >= most;
    let rows: Vec<PostReference> = rows.into_iter().map(|(reference, _)| reference).collect();
    let Some(trim) = reader.trim(&rows, now, &state.settings) else { return Ok(()) };
    if trim.floor != reader.floor
        && !state.feed.move_floor(&reader, trim.floor, reader.epoch, now).await?
    {
        // It may be our own try, whose response was lost. If another instance changed it, it is trimmed later,
        // but not at once.
        let met = state.feed.reader_state(user, now).await?.reader;
        if (met.floor, met.epoch) != (trim.floor, reader.epoch) {
            return Ok(());
        }
    }
    state.feed.remove_references(trim.dropped.into_iter().map(|post| (user.clone(), post))).await?;
    if more {
        state.enqueue(vec![FeedMessage::ReaderSeen { v: 1, reader: user.clone() }], trace).await;
    }
    Ok(())
}
