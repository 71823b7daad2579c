//! New posts, named to connected readers.
//!
//! A message names a post to the readers who have it in their feed at that moment, by their relationship with the
//! author, read just before. A connection that can't be reached or is not open yet is tried again; one that is gone is deleted.

use std::collections::{BTreeSet, HashMap};

use crate::store::{Presence, ReaderConnection};
use boundary::socket::Posted;
use boundary::telemetry::Trace;
use domain::accounts::UserId;
use domain::feed::fan_out::{FanOutPlan, plan_push};
use domain::feed::{FeedMessage, Post, PostId, ServerMessage, new_posts_message};
use domain::{Result, Timestamp};
use futures::{StreamExt, stream};

use crate::fan_out::State;

/// Connections that are posted to at the same time.
const AT_ONCE: usize = 64;

/// Connections of one page of an audience.
const PAGE: usize = 200;

/// Who can't be reached is looked after so much later.
const RETRY_SECONDS: u32 = 10;

/// A connection is noted before API Gateway opens it, so for a moment it can't be reached. What is older
/// than this is gone.
const OPENING_MS: i64 = 20_000;

/// Names a post that was just pushed to the followers who are connected. If their relationships can't be read,
/// the page is repeated.
pub(crate) async fn pushed(
    state: &State,
    post: &Post,
    followers: &HashMap<UserId, Presence>,
    trace: &Trace,
) -> Result {
    notify(state, post, connections_of(followers), trace).await
}

/// Names a post that is pulled to a page of those who are connected and pull, and says where the next one
/// begins.
pub(crate) async fn audience(
    state: &State,
    id: PostId,
    author: &UserId,
    after: Option<&str>,
    trace: &Trace,
) -> Result {
    let Some(entry) = state.feed.post(id).await? else { return Ok(()) };
    let post = entry.post;
    if post.author != *author || plan_push(&post, 0, &state.settings) != FanOutPlan::Pulled {
        return Ok(());
    }
    let page = state.feed.audience(author, after, PAGE, state.now()).await?;
    if page.next.is_some() {
        let next = FeedMessage::AudiencePage {
            v: 1,
            post_id: id,
            author: post.author.clone(),
            after: page.next,
        };
        state.queue.send([next], &trace.traceparent()).await?;
    }
    notify(state, &post, page.connections, trace).await
}

/// Names to a connection what arrived while it was opened, or when it could not be reached.
pub(crate) async fn connected(
    state: &State,
    target: ReaderConnection,
    since: Timestamp,
    trace: &Trace,
) -> Result {
    let owner = state.feed.connection_owner(&target.connection).await?;
    if owner.is_none_or(|owner| owner.reader != target.reader) {
        return Ok(());
    }
    let missed = state.feed.missed(&target.reader, since, &state.settings, state.now()).await?;
    if matches!(&missed, ServerMessage::NewPosts { post_ids, .. } if post_ids.is_empty()) {
        return Ok(());
    }
    if send_to_connection(state, &target, &missed, trace).await? {
        return Ok(());
    }
    let ReaderConnection { reader, connection } = target;
    let again = FeedMessage::Connected { v: 1, reader, connection, since };
    state.queue.send_delayed([again], RETRY_SECONDS, &trace.traceparent()).await
}

/// Puts the connections of readers who pull an author from now on into the author's audience. Their marks
/// are written by then: who connects later finds them.
pub(crate) async fn pull_marks_added(
    state: &State,
    author: &UserId,
    readers: impl IntoIterator<Item = &UserId>,
) -> Result {
    let presences = state.feed.presence(readers).await?;
    state.feed.add_to_audience(author, connections_of(&presences), state.now()).await
}

/// Those of some people who are connected, once for each connection.
fn connections_of(people: &HashMap<UserId, Presence>) -> Vec<ReaderConnection> {
    let mut found = Vec::new();
    for (who, presence) in people {
        let connections = presence.connections.iter().cloned();
        found.extend(
            connections.map(|connection| ReaderConnection { reader: who.clone(), connection }),
        );
    }
    found
}

/// Names a post to those of some listeners in whose feed it belongs.
async fn notify(
    state: &State,
    post: &Post,
    connections: Vec<ReaderConnection>,
    trace: &Trace,
) -> Result {
    if connections.is_empty() {
        return Ok(());
    }
    let now = state.now();
    let readers: BTreeSet<&UserId> = connections.iter().map(|it| &it.reader).collect();
    let readers = state.feed.readers_of(post, readers).await?;
    let message = new_posts_message(vec![post.id], now);
    let visible_to = connections.iter().filter(|it| readers.contains(&it.reader));
    let posts: Vec<_> =
        visible_to.map(|it| send_or_retry(state, it, &message, now, trace)).collect();
    let unreached = stream::iter(posts).buffer_unordered(AT_ONCE);
    let unreached: Vec<FeedMessage> = unreached.filter_map(std::future::ready).collect().await;
    state.queue.send_delayed(unreached, RETRY_SECONDS, &trace.traceparent()).await
}

/// Sends to a connection; the message to queue if that fails.
async fn send_or_retry(
    state: &State,
    target: &ReaderConnection,
    message: &ServerMessage,
    now: Timestamp,
    trace: &Trace,
) -> Option<FeedMessage> {
    match send_to_connection(state, target, message, trace).await {
        Ok(true) => return None,
        Ok(false) => {}
        Err(failure) => state.log.warn(now, trace, &failure.chain()),
    }
    let ReaderConnection { reader, connection } = target.clone();
    Some(FeedMessage::Connected { v: 1, reader, connection, since: now })
}

/// Sends to a connection, and deletes it if it is gone; `false` if it is not open yet.
async fn send_to_connection(
    state: &State,
    target: &ReaderConnection,
    message: &ServerMessage,
    trace: &Trace,
) -> Result<bool> {
    if state.connections.post(&target.connection, message.text()).await? == Posted::Sent {
        return Ok(true);
    }
    let now = state.now();
    let owner = state.feed.connection_owner(&target.connection).await?;
    let is_opening = |at: Timestamp| now.as_millisecond() - at.as_millisecond() < OPENING_MS;
    if owner.is_some_and(|owner| is_opening(owner.opened_at)) {
        return Ok(false);
    }
    // If this fails, the row expires.
    if let Err(failure) = state.feed.remove_connection(target).await {
        state.log.warn(now, trace, &failure.chain());
    }
    Ok(true)
}
