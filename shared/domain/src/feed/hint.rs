//! What those who are connected are told, and what they say.
//!
//! A hint names posts; whoever wants one asks for it, and may not get it. Hints may come twice and in any
//! order, and a connection may be cut at any moment. Each has a position, and whoever comes back says the
//! latest that they were told: what arrived since is named again, and a while before that, because
//! writers' clocks differ and writes take a while. Absent: a post that arrived, may be seen, and is named
//! neither before a cut nor to who resumes after it.

use serde::{Deserialize, Serialize};

use super::{PostId, Recents, Rejected};
use crate::Timestamp;

/// What was written to a timeline so long before the position is named again.
const OVERLAP_MS: i64 = 60_000;

/// The same for what is pulled. It has arrived as soon as it is written, but those who are connected
/// hear of it by a message that may have to be repeated.
const PULLED_OVERLAP_MS: i64 = 15 * 60_000;

/// Posts that a hint names, at most.
const MAX_HINTED: usize = 100;

/// What a connection is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Hint {
    /// There are posts that may be new. The same one may be named twice.
    NewPosts {
        /// Format version; 1.
        v: u8,
        post_ids: Vec<PostId>,
        /// What to resume from. The latest of all that were told counts.
        position: Timestamp,
    },
    /// More was missed than is worth naming: the feed is to be read anew.
    Reload {
        /// Format version; 1.
        v: u8,
        /// What to resume from.
        position: Timestamp,
    },
    /// The connection is alive, and whatever arrived a while ago was named on it.
    Pong {
        /// Format version; 1.
        v: u8,
        /// What to resume from.
        position: Timestamp,
    },
    /// What was said makes no sense, or can't be answered.
    Problem {
        /// Format version; 1.
        v: u8,
        detail: String,
    },
}

/// What a connection says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Said {
    /// It was here before.
    Resume {
        /// The latest position that it was told.
        position: Timestamp,
    },
    /// It still is: what says nothing for ten minutes is cut off.
    Ping,
}

impl Said {
    /// Reads what a connection says. A position that nobody can have been told would hide everything
    /// until then, so it is refused.
    pub fn parse(text: &str, now: Timestamp) -> Result<Self, Rejected> {
        const RULE: &str = "{\"type\":\"resume\",\"position\":<time>} or {\"type\":\"ping\"}";
        let said = serde_json::from_str(text).map_err(|_| Rejected::field("message", RULE))?;
        match said {
            Self::Resume { position }
                if position.as_millisecond() > now.as_millisecond() + OVERLAP_MS =>
            {
                Err(Rejected::field("position", "a time that has come"))
            }
            Self::Resume { .. } | Self::Ping => Ok(said),
        }
    }
}

impl Hint {
    /// That something is wrong.
    pub fn problem(detail: impl Into<String>) -> Self {
        Self::Problem { v: 1, detail: detail.into() }
    }

    /// As it goes over the wire.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What a connection missed since a position. A post may arrive long after it was written, so it is
/// the arrival that counts: timelines say for each reference when it was put there, and `now` is when they
/// were read. What is pulled arrives when it is written; of an author who wrote more than their row
/// remembers, not all is known. What the reader may not see is still to be left out.
pub fn missed<'r>(
    position: Timestamp,
    pushed: impl IntoIterator<Item = (PostId, Timestamp)>,
    pulled: impl IntoIterator<Item = &'r Recents>,
    now: Timestamp,
) -> Hint {
    let after = |at: Timestamp, overlap: i64| {
        at.as_millisecond() >= position.as_millisecond().saturating_sub(overlap)
    };
    let arrived = pushed.into_iter().filter(|(_, at)| after(*at, OVERLAP_MS));
    let mut late: Vec<PostId> = arrived.map(|(post, _)| post).collect();
    let next = position.max(now);
    for row in pulled {
        if row.cut.is_some_and(|cut| after(cut.at(), PULLED_OVERLAP_MS)) {
            return Hint::Reload { v: 1, position: next };
        }
        late.extend(row.posts.iter().filter(|post| after(post.at(), PULLED_OVERLAP_MS)));
    }
    hint(late, next)
}

/// The hint that these posts have arrived.
pub fn hint(mut posts: Vec<PostId>, position: Timestamp) -> Hint {
    posts.sort_unstable();
    posts.dedup();
    if posts.len() > MAX_HINTED {
        return Hint::Reload { v: 1, position };
    }
    Hint::NewPosts { v: 1, post_ids: posts, position }
}

#[cfg(test)]
mod tests;
