//! Hints to those who are connected.
//!
//! A hint names a post to whoever has it in their feed at that moment, by what is between them and the
//! author, read just before. Whoever can't be reached is looked after a moment later, and so is a connection that
//! was not open yet; one that is gone is forgotten.

use std::collections::{BTreeSet, HashMap};

use crate::store::{Listener, Visitor};
use boundary::socket::Posted;
use boundary::telemetry::Trace;
use domain::accounts::UserId;
use domain::feed::fan_out::{FanOut, plan};
use domain::feed::{Hint, Message, Post, PostId, hint};
use domain::{Failure, Timestamp};
use futures::{StreamExt, stream};

use crate::fan_out::State;

/// Connections that are posted to at the same time.
const AT_ONCE: usize = 64;

/// Connections of one page of an audience.
const PAGE: usize = 200;

/// Who can't be reached is looked after so much later.
const LOOK_AGAIN_SECONDS: u32 = 10;

/// A connection is noted before API Gateway opens it, so for a moment nobody can be reached by it. What is older
/// than this is gone.
const OPENING_MS: i64 = 20_000;

/// Names a post that was just put into their timelines to followers who are connected. If it can't be said
/// to whom, the page is repeated: they would not ask for it again.
pub(crate) async fn pushed(
    state: &State,
    post: &Post,
    followers: &HashMap<UserId, Visitor>,
    trace: &Trace,
) -> Result<(), Failure> {
    name(state, post, listeners(followers), trace).await
}

/// Names a post that is pulled to a page of those who are connected and pull, and says where the next one
/// begins.
pub(crate) async fn audience(
    state: &State,
    id: PostId,
    author: &UserId,
    after: Option<&str>,
    trace: &Trace,
) -> Result<(), Failure> {
    let Some(entry) = state.feed.post(id).await? else { return Ok(()) };
    let post = entry.post;
    if post.author != *author || plan(&post, 0, &state.settings) != FanOut::Pulled {
        return Ok(());
    }
    let page = state.feed.audience(author, after, PAGE, state.now()).await?;
    if page.next.is_some() {
        let next = Message::AudiencePage {
            v: 1,
            post_id: id,
            author: post.author.clone(),
            after: page.next,
        };
        state.queue.say([next], &trace.traceparent()).await?;
    }
    name(state, &post, page.listeners, trace).await
}

/// Names to a connection what arrived while it was opened, or when it could not be reached.
pub(crate) async fn connected(
    state: &State,
    listener: Listener,
    since: Timestamp,
    trace: &Trace,
) -> Result<(), Failure> {
    let owner = state.feed.owner(&listener.connection).await?;
    if owner.is_none_or(|owner| owner.who != listener.who) {
        return Ok(());
    }
    let missed = state.feed.missed(&listener.who, since, &state.settings, state.now()).await?;
    if matches!(&missed, Hint::NewPosts { post_ids, .. } if post_ids.is_empty()) {
        return Ok(());
    }
    if post(state, &listener, &missed, trace).await? {
        return Ok(());
    }
    let Listener { who: reader, connection } = listener;
    let again = Message::Connected { v: 1, reader, connection, since };
    state.queue.say_later([again], LOOK_AGAIN_SECONDS, &trace.traceparent()).await
}

/// Puts the connections of readers who pull an author from now on into the author's audience. Their marks
/// are written by then: who connects later finds them.
pub(crate) async fn marked(
    state: &State,
    author: &UserId,
    readers: impl IntoIterator<Item = &UserId>,
) -> Result<(), Failure> {
    let visitors = state.feed.visitors(readers).await?;
    state.feed.listen(author, listeners(&visitors), state.now()).await
}

/// Those of some people who are connected, once for each connection.
fn listeners(people: &HashMap<UserId, Visitor>) -> Vec<Listener> {
    let mut listeners = Vec::new();
    for (who, visitor) in people {
        let connections = visitor.connections.iter().cloned();
        listeners.extend(connections.map(|connection| Listener { who: who.clone(), connection }));
    }
    listeners
}

/// Names a post to those of some listeners in whose feed it belongs.
async fn name(
    state: &State,
    post: &Post,
    listeners: Vec<Listener>,
    trace: &Trace,
) -> Result<(), Failure> {
    if listeners.is_empty() {
        return Ok(());
    }
    let now = state.now();
    let readers: BTreeSet<&UserId> = listeners.iter().map(|it| &it.who).collect();
    let readers = state.feed.readers_of(post, readers).await?;
    let hint = hint(vec![post.id], now);
    let told = listeners.iter().filter(|it| readers.contains(&it.who));
    let posts: Vec<_> = told.map(|it| reach(state, it, &hint, now, trace)).collect();
    let unreached = stream::iter(posts).buffer_unordered(AT_ONCE);
    let unreached: Vec<Message> = unreached.filter_map(std::future::ready).collect().await;
    state.queue.say_later(unreached, LOOK_AGAIN_SECONDS, &trace.traceparent()).await
}

/// Posts to a listener; what is to be said if that does not work.
async fn reach(
    state: &State,
    listener: &Listener,
    hint: &Hint,
    now: Timestamp,
    trace: &Trace,
) -> Option<Message> {
    match post(state, listener, hint, trace).await {
        Ok(true) => return None,
        Ok(false) => {}
        Err(failure) => state.log.warn(now, trace, &failure.chain()),
    }
    let Listener { who: reader, connection } = listener.clone();
    Some(Message::Connected { v: 1, reader, connection, since: now })
}

/// Posts to a listener, and forgets the connection if it is gone; `false` if it is not open yet.
async fn post(
    state: &State,
    listener: &Listener,
    hint: &Hint,
    trace: &Trace,
) -> Result<bool, Failure> {
    if state.connections.post(&listener.connection, hint.text()).await? == Posted::Sent {
        return Ok(true);
    }
    let now = state.now();
    let owner = state.feed.owner(&listener.connection).await?;
    let is_opening = |at: Timestamp| now.as_millisecond() - at.as_millisecond() < OPENING_MS;
    if owner.is_some_and(|owner| is_opening(owner.opened_at)) {
        return Ok(false);
    }
    // It expires, if nobody finds it gone again before.
    if let Err(failure) = state.feed.disconnect(listener).await {
        state.log.warn(now, trace, &failure.chain());
    }
    Ok(true)
}
