//! One page of a feed: what to read next, until there is a page.
//!
//! A [`FeedPager`] reads nothing. It says which [`PagerStep`] comes next, is told what was found, and goes on
//! until the page is full or the feed ends: what the reader may not see is left out and made up for.
//!
//! ```text
//!  start ─▶ Gather ─▶ Hydrate ─▶ … ─▶ a window, ranked ─▶ Done(page, cursor)
//!  resume ─▶ Hydrate (what is left of the window) ─▶ Done, or on to the next window
//! ```
//!
//! Absent: a post on two pages (windows do not overlap, and a window is carried in the cursor); a post
//! passed over, if it was there when its window began and may be seen when its page comes; a cursor
//! when nothing follows, or none when something does; a page that is short before the end, unless the
//! reader may see next to nothing of thousands of posts: then it ends after a while, with a cursor.

use std::collections::VecDeque;

use super::candidates::ReferenceRun;
use super::rank::{Candidate, RankedItem, rank, score};
use super::{FeedCursor, FeedOrder, FeedSettings, PostId, RankWeights, Rejected, belongs_in_feed};
use crate::Timestamp;
use crate::accounts::UserId;

/// Posts of a page, at most.
pub const MAX_PAGE_SIZE: usize = 50;

/// What is read beyond a page, so that a few that are gone cost no second read.
const OVERFETCH: usize = 5;

/// So often candidates are gathered for one page. A reader who follows people whose posts are nearly all hidden from
/// them gets a short page then, and a cursor, before the call is out of time.
const MAX_ROUNDS: usize = 40;

#[derive(Debug, Clone, PartialEq)]
pub enum PagerStep {
    /// Find candidates below this, as [`super::candidates`] says, and tell [`FeedPager::candidates_fetched`].
    FetchCandidates {
        below: PostId,
        limit: usize,
    },
    /// Read these posts and tell [`FeedPager::posts_hydrated`].
    Hydrate(Vec<PostId>),
    Done(FeedPage),
}

#[derive(Debug, Clone, PartialEq)]
pub struct FeedPage {
    pub items: Vec<RankedItem>,
    /// Where the next one begins; `None` at the end of the feed.
    pub next: Option<FeedCursor>,
    /// References that lead to nothing any more and can be taken out of the timeline.
    pub stale: Vec<PostId>,
}

#[derive(Debug, Clone)]
pub struct FeedPager {
    reader: UserId,
    order: FeedOrder,
    weights: RankWeights,
    ranked_at: Timestamp,
    limit: usize,
    batch: usize,
    newest: Option<PostId>,
    /// The next window begins below this.
    below: PostId,
    /// Candidates were gathered down to this.
    fetched_to: PostId,
    exhausted: bool,
    rounds: usize,
    /// From the cursor: in order, to be read again.
    from_cursor: VecDeque<PostId>,
    /// Gathered, to be read.
    candidates: VecDeque<PostId>,
    /// Read, may be seen, not ranked yet.
    window: Vec<Candidate>,
    /// In order, not on the page yet.
    ranked: VecDeque<RankedItem>,
    items: Vec<RankedItem>,
    stale: Vec<PostId>,
}

impl FeedPager {
    pub fn start(
        reader: UserId,
        order: FeedOrder,
        limit: usize,
        weights: &RankWeights,
        settings: &FeedSettings,
        now: Timestamp,
    ) -> Result<Self, Rejected> {
        if !(1..=MAX_PAGE_SIZE).contains(&limit) {
            return Err(Rejected::field("limit", format!("1 to {MAX_PAGE_SIZE}")));
        }
        Ok(Self {
            reader,
            order,
            weights: *weights,
            ranked_at: now,
            limit,
            batch: settings.candidate_batch,
            newest: None,
            below: PostId::MAX,
            fetched_to: PostId::MAX,
            exhausted: false,
            rounds: 0,
            from_cursor: VecDeque::new(),
            candidates: VecDeque::new(),
            window: Vec::new(),
            ranked: VecDeque::new(),
            items: Vec::new(),
            stale: Vec::new(),
        })
    }

    /// A later page. `weights` are those of the cursor's version.
    pub fn resume(
        reader: UserId,
        cursor: FeedCursor,
        limit: usize,
        weights: &RankWeights,
        settings: &FeedSettings,
    ) -> Result<Self, Rejected> {
        let first = Self::start(reader, cursor.order, limit, weights, settings, cursor.ranked_at)?;
        Ok(Self {
            newest: Some(cursor.newest),
            below: cursor.below,
            fetched_to: cursor.below,
            from_cursor: cursor.remaining.into(),
            ..first
        })
    }

    /// When its ranking is of: affinities are of this moment.
    pub const fn ranked_at(&self) -> Timestamp {
        self.ranked_at
    }

    pub fn step(&mut self) -> PagerStep {
        loop {
            while self.items.len() < self.limit
                && let Some(item) = self.ranked.pop_front()
            {
                self.items.push(item);
            }
            // One more than the page has is known of before a cursor is given.
            if !self.ranked.is_empty() {
                return PagerStep::Done(self.done());
            }
            if !self.from_cursor.is_empty() {
                let limit = self.limit - self.items.len() + OVERFETCH;
                return PagerStep::Hydrate(self.from_cursor.iter().copied().take(limit).collect());
            }
            if self.window.len() < self.window_size() && !self.candidates.is_empty() {
                return PagerStep::Hydrate(self.candidates.iter().copied().collect());
            }
            let is_open = self.window.len() < self.window_size() && !self.exhausted;
            if is_open && self.rounds < MAX_ROUNDS {
                self.rounds += 1;
                let spare = match self.order {
                    FeedOrder::Ranked => self.batch / 5,
                    FeedOrder::Latest => OVERFETCH,
                };
                let missing = self.window_size() - self.window.len();
                let limit = self.batch.min(missing + spare);
                return PagerStep::FetchCandidates { below: self.fetched_to, limit };
            }
            if self.window.is_empty() {
                return PagerStep::Done(self.done());
            }
            self.close_window(is_open);
        }
    }

    /// Candidates were found: all there are between the run's floor and what was asked for.
    pub fn candidates_fetched(&mut self, run: ReferenceRun) {
        let below = self.fetched_to;
        let ids = run.references.into_iter().map(|found| found.post_id);
        self.candidates = ids.filter(|post| *post < below).collect();
        // A floor that does not get on would be asked for without end.
        self.exhausted = run.floor.is_none_or(|floor| floor >= below);
        self.fetched_to = run.floor.unwrap_or(PostId::MIN);
    }

    /// Posts were read: those of the last step that exist.
    pub fn posts_hydrated(&mut self, found: Vec<Candidate>) {
        let from_cursor = !self.from_cursor.is_empty();
        let asked: Vec<PostId> = if from_cursor {
            let limit = (self.limit - self.items.len() + OVERFETCH).min(self.from_cursor.len());
            self.from_cursor.drain(..limit).collect()
        } else {
            self.candidates.drain(..).collect()
        };
        let mut found: Vec<_> = found.into_iter().map(Some).collect();
        for post in asked {
            let is_it =
                |one: &Option<Candidate>| one.as_ref().is_some_and(|one| one.post.id == post);
            let candidate = found.iter().position(is_it).and_then(|at| found[at].take());
            match candidate {
                Some(one) if belongs_in_feed(&one.post, &one.relationship, &self.reader) => {
                    if from_cursor {
                        self.ranked.push_back(score(one, &self.weights, self.ranked_at));
                    } else if self.window.len() < self.window_size() {
                        self.window.push(one);
                    }
                }
                // Only a tombstone is proof. What is not there, or not followed, may be in a moment.
                Some(one) if one.post.deleted_at.is_some() => self.stale.push(post),
                Some(_) | None => {}
            }
        }
    }

    const fn window_size(&self) -> usize {
        match self.order {
            FeedOrder::Ranked => self.weights.window,
            FeedOrder::Latest => self.limit + 1,
        }
    }

    /// The window is complete, or as large as it becomes in time: it gets its order, and the next one begins
    /// below it.
    fn close_window(&mut self, is_open: bool) {
        let window = std::mem::take(&mut self.window);
        self.candidates.clear();
        let ids = window.iter().map(|one| one.post.id);
        self.newest = self.newest.max(ids.clone().max());
        if is_open {
            self.below = self.fetched_to;
        } else {
            // What was read beyond a full window is read again with the next one.
            self.below = ids.min().unwrap_or(self.below);
            self.exhausted = window.len() < self.window_size();
            self.fetched_to = self.below;
        }
        self.ranked = match self.order {
            FeedOrder::Ranked => rank(window, &self.weights, self.ranked_at).into(),
            FeedOrder::Latest => {
                window.into_iter().map(|one| score(one, &self.weights, self.ranked_at)).collect()
            }
        };
    }

    fn done(&mut self) -> FeedPage {
        let items = std::mem::take(&mut self.items);
        let remaining: Vec<PostId> = self
            .ranked
            .iter()
            .map(RankedItem::id)
            .chain(self.from_cursor.iter().copied())
            .collect();
        let last = items.last().map(RankedItem::id);
        let cursor = |newest, below, remaining| FeedCursor {
            order: self.order,
            weights: self.weights.version,
            ranked_at: self.ranked_at,
            newest,
            below,
            remaining,
        };
        let next = match (self.order, self.newest, last) {
            (FeedOrder::Ranked, Some(newest), _) if !remaining.is_empty() => {
                Some(cursor(newest, self.below, remaining))
            }
            (FeedOrder::Latest, Some(newest), Some(last)) if !remaining.is_empty() => {
                Some(cursor(newest, last, Vec::new()))
            }
            (_, newest, _) if !self.exhausted && self.rounds == MAX_ROUNDS => {
                let below = self.fetched_to;
                Some(cursor(newest.unwrap_or(below).max(below), below, Vec::new()))
            }
            _ => None,
        };
        FeedPage { items, next, stale: std::mem::take(&mut self.stale) }
    }
}
