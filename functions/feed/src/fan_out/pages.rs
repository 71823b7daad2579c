//! From a post to timelines: work is split into ranges of followers, each worked through page by page.
//!
//! Small authors have one range, whose first page is worked through at once. The row of the work says
//! which ranges are done; the page that finishes the last one ends the work.

use crate::store::{FanOutState, StoredPost};
use boundary::telemetry::{Trace, Unit, measure, measure_by};
use domain::accounts::UserId;
use domain::feed::fan_out::{
    FanOutPlan, FollowerPage, PageInput, TimelineWrite, follower_band, page_writes, plan_purge,
    plan_push, range_count,
};
use domain::feed::{FanOutPolicy, FanOutTask, FeedMessage, Post, PostId};
use domain::{Result, Timestamp};
use futures::future::try_join;
use futures::{StreamExt, TryStreamExt, stream};

use crate::fan_out::{State, notify};

/// Marks that are written at the same time.
const AT_ONCE: usize = 16;

/// A post was written, or may now be read by others.
pub(crate) async fn post_created(
    state: &State,
    id: PostId,
    author: &UserId,
    version: u64,
    trace: &Trace,
) -> Result {
    let task = FanOutTask::Push { post_id: id, version };
    let Some(entry) = state.feed.post(id).await? else { return state.end(task, author).await };
    match plan_push(&entry.post, 0, &state.settings) {
        FanOutPlan::Nothing => state.end(task, author).await,
        FanOutPlan::Pulled => {
            notify::audience(state, id, author, None, trace).await?;
            state.end(task, author).await
        }
        FanOutPlan::Pages(_) => begin(state, author, task, trace).await,
    }
}

/// A post was deleted.
pub(crate) async fn post_deleted(
    state: &State,
    id: PostId,
    author: &UserId,
    trace: &Trace,
) -> Result {
    let task = FanOutTask::Purge { post_id: id };
    let Some(entry) = state.feed.post(id).await? else { return state.end(task, author).await };
    match plan_purge(&entry.post, 0, &state.settings) {
        FanOutPlan::Nothing | FanOutPlan::Pulled => state.end(task, author).await,
        FanOutPlan::Pages(_) => begin(state, author, task, trace).await,
    }
}

pub(crate) async fn policy_changed(
    state: &State,
    author: &UserId,
    epoch: u64,
    trace: &Trace,
) -> Result {
    begin(state, author, FanOutTask::Mark { epoch }, trace).await
}

/// Splits the work, or goes on with what is left of it.
async fn begin(state: &State, author: &UserId, task: FanOutTask, trace: &Trace) -> Result {
    let name = task.work_id(author);
    let followers = state.feed.count_followers(author).await?;
    let ranges = range_count(followers, &state.settings);
    let Some(work) = state.feed.start_fan_out(&name, followers, ranges).await? else {
        return Ok(());
    };
    match <[FollowerPage; 1]>::try_from(work.progress.remaining_pages()) {
        Ok([only]) => page(state, author, task, only, trace).await,
        Err(left) if left.is_empty() => finish(state, author, task, &work).await,
        Err(left) => {
            let pages =
                left.into_iter().map(|page| FeedMessage::fan_out_page(author.clone(), task, page));
            state.queue.send(pages, &trace.traceparent()).await
        }
    }
}

/// Works through one page of followers, and says where the next one begins.
pub(crate) async fn page(
    state: &State,
    author: &UserId,
    task: FanOutTask,
    page: FollowerPage,
    trace: &Trace,
) -> Result {
    let name = task.work_id(author);
    let followers = state.feed.followers_of_page(author, &page, state.settings.page_size);
    let (followers, (entry, policy)) =
        try_join(followers, load_subject(state, author, task)).await?;
    let presences = state.feed.presence(&followers).await?;
    let known =
        |who: &UserId| presences.get(who).map_or(Timestamp::UNIX_EPOCH, |one| one.last_seen_at);
    let last_visits: Vec<_> = followers.iter().map(|who| (who.clone(), known(who))).collect();
    let post = entry.as_ref().map(|entry| &entry.post);
    let input = PageInput { author, post, policy, followers: &last_visits };
    let now = state.now();
    apply_writes(state, author, page_writes(task, &input, now, &state.settings), now).await?;
    if let Some(next) = page.next(&followers, &state.settings) {
        let next = FeedMessage::fan_out_page(author.clone(), task, next);
        state.queue.send([next], &trace.traceparent()).await?;
    } else if let Some(work) = state.feed.complete_range(&name, page.range).await?
        && work.progress.is_complete()
    {
        finish(state, author, task, &work).await?;
    }
    // After the references: no timeline waits for a slow WebSocket.
    if let (FanOutTask::Push { .. }, Some(post)) = (task, post) {
        measure_lag(post, state.now());
        notify::pushed(state, post, &presences, trace).await?;
    }
    Ok(())
}

/// The post that a task is about, or how its author reaches people.
async fn load_subject(
    state: &State,
    author: &UserId,
    task: FanOutTask,
) -> Result<(Option<StoredPost>, FanOutPolicy)> {
    match task {
        FanOutTask::Push { post_id, .. } | FanOutTask::Purge { post_id } => {
            Ok((state.feed.post(post_id).await?, FanOutPolicy::default()))
        }
        FanOutTask::Mark { .. } => Ok((None, state.feed.author(author).await?.recents.policy)),
    }
}

async fn apply_writes(
    state: &State,
    author: &UserId,
    writes: Vec<TimelineWrite>,
    now: Timestamp,
) -> Result {
    let (mut referred, mut forgotten, mut marked) = (Vec::new(), Vec::new(), Vec::new());
    for write in writes {
        match write {
            TimelineWrite::AddReference(reader, reference) => referred.push((reader, reference)),
            TimelineWrite::RemoveReference(reader, post) => forgotten.push((reader, post)),
            TimelineWrite::AddPullMark(reader, epoch) => marked.push((reader, epoch)),
        }
    }
    measure("TimelineWrites", Unit::Count, count(referred.len()));
    state.feed.add_references(referred, now).await?;
    state.feed.remove_references(forgotten).await?;
    let marks: Vec<_> = marked
        .iter()
        .map(|(reader, epoch)| state.feed.add_pull_mark(reader, author, *epoch))
        .collect();
    stream::iter(marks).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    notify::pull_marks_added(state, author, marked.iter().map(|(reader, _)| reader)).await
}

async fn finish(state: &State, author: &UserId, task: FanOutTask, work: &FanOutState) -> Result {
    let (name, now) = (task.work_id(author), state.now());
    match task {
        FanOutTask::Push { .. } | FanOutTask::Purge { .. } => {
            state.feed.complete_work(&name).await?;
        }
        FanOutTask::Mark { epoch } => {
            state.feed.finish_switch_to_pull(author, epoch, &name, now, || state.token()).await?;
        }
    }
    if let FanOutTask::Push { .. } = task {
        let band = vec![("Band", follower_band(work.followers).to_owned())];
        measure_by("FanOuts", Unit::Count, 1.0, band.clone());
        measure_by("FanOutDuration", Unit::Milliseconds, elapsed(work.since, now), band);
    }
    Ok(())
}

/// How long a post took to come this far.
fn measure_lag(post: &Post, now: Timestamp) {
    let since = post.edited_at.unwrap_or(post.created_at);
    measure("FanOutLag", Unit::Milliseconds, elapsed(since, now));
}

fn elapsed(since: Timestamp, now: Timestamp) -> f64 {
    let ms = now.as_millisecond().saturating_sub(since.as_millisecond()).max(0);
    count(usize::try_from(ms).unwrap_or(0))
}

fn count(of: usize) -> f64 {
    f64::from(u32::try_from(of).unwrap_or(u32::MAX))
}

impl State {
    /// Ends work that has come to nothing.
    async fn end(&self, task: FanOutTask, author: &UserId) -> Result {
        self.feed.complete_work(&task.work_id(author)).await
    }
}
