//! From several sources to one list of candidates, complete as far as it goes.
//!
//! Every source gives its newest references below a place, and says down to where it has told all.
//! What lies above the highest of these floors is known to be complete; the rest waits for the next
//! round. Absent: a candidate that is passed over because a source was cut short.
//!
//! Which sources, and how many reads that takes (a batch is one read of up to 100 rows):
//!
//! | reading | sources | reads |
//! |---|---|---|
//! | above the floor of the reader's timeline | the timeline, and the recent posts of the authors whom the reader's row is marked with | 1 query + 1 batch for each 100 marks |
//! | below it, or after a week's absence | the recent posts of all whom the reader follows | 1 batch for each 100 follows, so at most 50, + 1 query for each author whose row does not reach down |
//!
//! So the reads of a feed do not grow with the number of follows. Of a timeline's thousand references at
//! most ten authors have a hundred, so right below it at most ten need a query of their own, and those
//! who are pulled and wrote as much.

use super::{FanOutPolicy, FeedSettings, PostDelivery, PostId, Reader};
use crate::accounts::UserId;

/// A post, as timelines have it: not a copy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PostReference {
    pub post_id: PostId,
    pub author: UserId,
}

/// References, the newest first, and down to where they are all there are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReferenceRun {
    pub references: Vec<PostReference>,
    /// Complete from here on; `None` if there is nothing below.
    pub floor: Option<PostId>,
}

/// An author's row of recent posts. It changes in the transaction that writes a post.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecentPosts {
    pub posts: Vec<PostId>,
    /// From here on these are all; older ones were left out. `None` if these are all there are.
    pub truncated_at: Option<PostId>,
    /// The newest post that was not pushed.
    pub last_pulled: Option<PostId>,
    pub policy: FanOutPolicy,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CandidateSources {
    /// The timeline, and the recent posts of these authors.
    Timeline(Vec<UserId>),
    /// The recent posts of everybody whom the reader follows.
    AllFollowed,
}

const BATCH: usize = 100;

/// Reads of a first page for a reader with so many marks: their rows, their timeline, recent posts of
/// pulled authors, posts, relationships, and profiles with own likes. Posts that are passed on take two more.
pub const fn reads_of_first_page(marks: usize) -> usize {
    5 + marks.div_ceil(BATCH)
}

/// Reads of a rebuild for a reader who follows so many: whom, and their recent posts.
pub const fn reads_of_rebuild(follows: usize) -> usize {
    1 + follows.div_ceil(BATCH)
}

/// Where to look for candidates below a place.
pub fn candidate_sources(reader: &Reader, below: PostId) -> CandidateSources {
    if below > reader.floor {
        CandidateSources::Timeline(reader.pull_marks.keys().cloned().collect())
    } else {
        CandidateSources::AllFollowed
    }
}

impl RecentPosts {
    /// With a post more. A repeat changes nothing.
    pub fn add(&mut self, post: PostId, delivery: PostDelivery, settings: &FeedSettings) {
        let Err(place) = self.posts.binary_search_by(|known| post.cmp(known)) else { return };
        // Clocks differ: what comes below the cut is left out like the rest of what is there.
        if self.truncated_at.is_none_or(|truncated_at| post > truncated_at) {
            self.posts.insert(place, post);
        }
        if self.posts.len() > settings.recent_size {
            self.posts.truncate(settings.recent_size);
            self.truncated_at = self.posts.last().copied();
        }
        if delivery == PostDelivery::Pull {
            self.last_pulled = self.last_pulled.max(Some(post));
        }
    }

    /// Without a post that was deleted. What is left of a row that was cut is complete down to where it was
    /// before, also if nothing is left.
    pub fn remove(&mut self, post: PostId) {
        self.posts.retain(|known| *known != post);
    }

    /// What it says of the posts below a place; `None` if it does not reach down to there, and the
    /// author's posts have to be queried.
    pub fn run_below(&self, author: &UserId, below: PostId) -> Option<ReferenceRun> {
        if self.truncated_at.is_some_and(|truncated_at| below <= truncated_at) {
            return None;
        }
        let ids = self.posts.iter().copied().filter(|post| *post < below);
        let references =
            ids.map(|post_id| PostReference { post_id, author: author.clone() }).collect();
        Some(ReferenceRun { references, floor: self.truncated_at })
    }
}

impl ReferenceRun {
    /// What a query of at most `limit` posts of one author found.
    pub fn from_query(author: &UserId, posts: &[PostId], limit: usize) -> Self {
        let floor = posts.last().copied().filter(|_| posts.len() >= limit);
        let reference =
            |post_id: &PostId| PostReference { post_id: *post_id, author: author.clone() };
        Self { references: posts.iter().map(reference).collect(), floor }
    }

    /// What a query of at most `limit` rows of the reader's timeline found.
    pub fn from_timeline(rows: Vec<PostReference>, limit: usize, reader: &Reader) -> Self {
        let truncated_at = rows.last().map(|row| row.post_id).filter(|_| rows.len() >= limit);
        let floor = truncated_at.unwrap_or(PostId::MIN).max(reader.floor);
        let references = rows.into_iter().filter(|row| row.post_id >= floor).collect();
        Self { references, floor: (floor > PostId::MIN).then_some(floor) }
    }
}

/// The newest `limit` references below a place, each once, and down to where they are complete.
pub fn merge_runs(runs: Vec<ReferenceRun>, below: PostId, limit: usize) -> ReferenceRun {
    let mut floor = runs.iter().filter_map(|run| run.floor).max();
    let mut references: Vec<_> = runs
        .into_iter()
        .flat_map(|run| run.references)
        .filter(|found| found.post_id < below && floor.is_none_or(|floor| found.post_id >= floor))
        .collect();
    references.sort_unstable_by(|a, b| b.cmp(a));
    references.dedup_by(|a, b| a.post_id == b.post_id);
    if references.len() > limit {
        references.truncate(limit);
        floor = references.last().map(|last| last.post_id);
    }
    ReferenceRun { references, floor }
}

#[cfg(test)]
mod tests;
