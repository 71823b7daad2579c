//! From a post to timelines: work is split into ranges of followers, each worked through page by page.
//!
//! Small authors have one range, whose first page is worked through at once. The row of the work says
//! which ranges are done; whoever finishes the last one ends it.

use crate::store::{Entry, Underway};
use boundary::telemetry::{Trace, Unit, measure, measure_by};
use domain::accounts::UserId;
use domain::feed::fan_out::{
    FanOut, Found, PageOfFollowers, Write, band, plan, purge, ranges, work,
};
use domain::feed::{Message, Post, PostId, Reach, Task};
use domain::{Failure, Timestamp};
use futures::future::try_join;
use futures::{StreamExt, TryStreamExt, stream};

use crate::fan_out::{State, hints};

/// Marks that are written at the same time.
const AT_ONCE: usize = 16;

/// A post was written, or may now be read by others.
pub(crate) async fn created(
    state: &State,
    id: PostId,
    author: &UserId,
    version: u64,
    trace: &Trace,
) -> Result<(), Failure> {
    let task = Task::Push { post_id: id, version };
    let Some(entry) = state.feed.post(id).await? else { return state.end(task, author).await };
    match plan(&entry.post, 0, &state.settings) {
        FanOut::Nothing => state.end(task, author).await,
        FanOut::Pulled => {
            hints::audience(state, id, author, None, trace).await?;
            state.end(task, author).await
        }
        FanOut::Pages(_) => begin(state, author, task, trace).await,
    }
}

/// A post was deleted.
pub(crate) async fn deleted(
    state: &State,
    id: PostId,
    author: &UserId,
    trace: &Trace,
) -> Result<(), Failure> {
    let task = Task::Purge { post_id: id };
    let Some(entry) = state.feed.post(id).await? else { return state.end(task, author).await };
    match purge(&entry.post, 0, &state.settings) {
        FanOut::Nothing | FanOut::Pulled => state.end(task, author).await,
        FanOut::Pages(_) => begin(state, author, task, trace).await,
    }
}

/// An author began to rise.
pub(crate) async fn crossed(
    state: &State,
    author: &UserId,
    epoch: u64,
    trace: &Trace,
) -> Result<(), Failure> {
    begin(state, author, Task::Mark { epoch }, trace).await
}

/// Splits the work, or goes on with what is left of it.
async fn begin(state: &State, author: &UserId, task: Task, trace: &Trace) -> Result<(), Failure> {
    let name = task.work(author);
    let followers = state.feed.count_followers(author).await?;
    let split = ranges(followers, &state.settings);
    let Some(work) = state.feed.underway(&name, followers, split).await? else { return Ok(()) };
    match <[PageOfFollowers; 1]>::try_from(work.progress.left()) {
        Ok([only]) => page(state, author, task, only, trace).await,
        Err(left) if left.is_empty() => finish(state, author, task, &work).await,
        Err(left) => {
            let pages = left.into_iter().map(|page| Message::page(author.clone(), task, page));
            state.queue.say(pages, &trace.traceparent()).await
        }
    }
}

/// Works through one page of followers, and says where the next one begins.
pub(crate) async fn page(
    state: &State,
    author: &UserId,
    task: Task,
    page: PageOfFollowers,
    trace: &Trace,
) -> Result<(), Failure> {
    let name = task.work(author);
    let followers = state.feed.followers_of_page(author, &page, state.settings.page);
    let (followers, (entry, reach)) = try_join(followers, look(state, author, task)).await?;
    let visitors = state.feed.visitors(&followers).await?;
    let known = |who: &UserId| visitors.get(who).map_or(Timestamp::UNIX_EPOCH, |one| one.seen_at);
    let seen: Vec<_> = followers.iter().map(|who| (who.clone(), known(who))).collect();
    let post = entry.as_ref().map(|entry| &entry.post);
    let found = Found { author, post, reach, followers: &seen };
    let now = state.now();
    apply(state, author, work(task, &found, now, &state.settings), now).await?;
    if let Some(next) = page.next(&followers, &state.settings) {
        let next = Message::page(author.clone(), task, next);
        state.queue.say([next], &trace.traceparent()).await?;
    } else if let Some(work) = state.feed.range_done(&name, page.range).await?
        && work.progress.is_complete()
    {
        finish(state, author, task, &work).await?;
    }
    // Nobody's reference waits until somebody who is hard to reach has heard of another one.
    if let (Task::Push { .. }, Some(post)) = (task, post) {
        lagged(post, state.now());
        hints::pushed(state, post, &visitors, trace).await?;
    }
    Ok(())
}

/// The post that a task is about, or how its author reaches people.
async fn look(
    state: &State,
    author: &UserId,
    task: Task,
) -> Result<(Option<Entry>, Reach), Failure> {
    match task {
        Task::Push { post_id, .. } | Task::Purge { post_id } => {
            Ok((state.feed.post(post_id).await?, Reach::default()))
        }
        Task::Mark { .. } => Ok((None, state.feed.author(author).await?.recents.reach)),
    }
}

async fn apply(
    state: &State,
    author: &UserId,
    writes: Vec<Write>,
    now: Timestamp,
) -> Result<(), Failure> {
    let (mut referred, mut forgotten, mut marked) = (Vec::new(), Vec::new(), Vec::new());
    for write in writes {
        match write {
            Write::Refer(reader, reference) => referred.push((reader, reference)),
            Write::Forget(reader, post) => forgotten.push((reader, post)),
            Write::Mark(reader, epoch) => marked.push((reader, epoch)),
        }
    }
    measure("TimelineWrites", Unit::Count, count(referred.len()));
    state.feed.refer(referred, now).await?;
    state.feed.forget(forgotten).await?;
    let marks: Vec<_> =
        marked.iter().map(|(reader, epoch)| state.feed.mark(reader, author, *epoch)).collect();
    stream::iter(marks).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    hints::marked(state, author, marked.iter().map(|(reader, _)| reader)).await
}

/// Every range is done.
async fn finish(
    state: &State,
    author: &UserId,
    task: Task,
    work: &Underway,
) -> Result<(), Failure> {
    let (name, now) = (task.work(author), state.now());
    match task {
        Task::Push { .. } | Task::Purge { .. } => state.feed.done(&name).await?,
        Task::Mark { epoch } => {
            state.feed.risen(author, epoch, &name, now, || state.token()).await?;
        }
    }
    if let Task::Push { .. } = task {
        let band = vec![("Band", band(work.followers).to_owned())];
        measure_by("FanOuts", Unit::Count, 1.0, band.clone());
        measure_by("FanOutDuration", Unit::Milliseconds, elapsed(work.since, now), band);
    }
    Ok(())
}

/// How long a post took to come this far.
fn lagged(post: &Post, now: Timestamp) {
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
    async fn end(&self, task: Task, author: &UserId) -> Result<(), Failure> {
        self.feed.done(&task.work(author)).await
    }
}
