//! The messages of the WebSocket, both ways.
//!
//! A message names posts; the client reads those it wants, and may not get them. Messages may come twice and in any
//! order, and a connection may be cut at any moment. Each has a position, and a client that resumes sends the
//! latest that it received: what arrived since is named again, and a while before that, because
//! writers' clocks differ and writes take a while. Absent: a post that arrived, may be seen, and is named
//! neither before a cut nor on the resume after it.

use serde::{Deserialize, Serialize};

use super::{PostId, RecentPosts, Rejected};
use crate::Timestamp;

/// What was written to a timeline so long before the position is named again.
const OVERLAP_MS: i64 = 60_000;

/// The same for what is pulled. It has arrived as soon as it is written, but those who are connected
/// hear of it by a message that may have to be repeated.
const PULLED_OVERLAP_MS: i64 = 15 * 60_000;

/// Posts that a message names, at most.
const MAX_NAMED_POSTS: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ServerMessage {
    /// There are posts that may be new. The same one may be named twice.
    NewPosts {
        v: u8,
        post_ids: Vec<PostId>,
        /// What to resume from. The latest of all that were told counts.
        position: Timestamp,
    },
    /// More was missed than is worth naming: the feed is to be read anew.
    Reload { v: u8, position: Timestamp },
    /// The connection is alive, and posts that arrived a while ago were named on it.
    Pong { v: u8, position: Timestamp },
    /// The client's message is malformed, or can't be answered.
    Problem { v: u8, detail: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ClientMessage {
    Resume {
        /// The latest position that it was told.
        position: Timestamp,
    },
    /// It still is: what says nothing for ten minutes is cut off.
    Ping,
}

impl ClientMessage {
    /// Reads what a connection says. A position in the future would hide everything
    /// until then, so it is refused.
    pub fn parse(text: &str, now: Timestamp) -> Result<Self, Rejected> {
        const RULE: &str = "{\"type\":\"resume\",\"position\":<time>} or {\"type\":\"ping\"}";
        let message = serde_json::from_str(text).map_err(|_| Rejected::field("message", RULE))?;
        match message {
            Self::Resume { position }
                if position.as_millisecond() > now.as_millisecond() + OVERLAP_MS =>
            {
                Err(Rejected::field("position", "a time that has come"))
            }
            Self::Resume { .. } | Self::Ping => Ok(message),
        }
    }
}

impl ServerMessage {
    pub fn problem(detail: impl Into<String>) -> Self {
        Self::Problem { v: 1, detail: detail.into() }
    }

    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What a connection missed since a position. A post may arrive long after it was written, so it is
/// the arrival that counts: timelines say for each reference when it was put there, and `now` is when they
/// were read. What is pulled arrives when it is written; of an author who wrote more than their row
/// remembers, not all is known. What the reader may not see is still to be left out.
pub fn missed_posts<'r>(
    position: Timestamp,
    pushed: impl IntoIterator<Item = (PostId, Timestamp)>,
    pulled: impl IntoIterator<Item = &'r RecentPosts>,
    now: Timestamp,
) -> ServerMessage {
    let after = |at: Timestamp, overlap: i64| {
        at.as_millisecond() >= position.as_millisecond().saturating_sub(overlap)
    };
    let arrived = pushed.into_iter().filter(|(_, at)| after(*at, OVERLAP_MS));
    let mut late: Vec<PostId> = arrived.map(|(post, _)| post).collect();
    let next = position.max(now);
    for row in pulled {
        if row.truncated_at.is_some_and(|truncated_at| after(truncated_at.at(), PULLED_OVERLAP_MS))
        {
            return ServerMessage::Reload { v: 1, position: next };
        }
        late.extend(row.posts.iter().filter(|post| after(post.at(), PULLED_OVERLAP_MS)));
    }
    new_posts_message(late, next)
}

/// The message that these posts have arrived.
pub fn new_posts_message(mut posts: Vec<PostId>, position: Timestamp) -> ServerMessage {
    posts.sort_unstable();
    posts.dedup();
    if posts.len() > MAX_NAMED_POSTS {
        return ServerMessage::Reload { v: 1, position };
    }
    ServerMessage::NewPosts { v: 1, post_ids: posts, position }
}

#[cfg(test)]
mod tests;
