//! One page of a feed: what to read next, until there is a page.
//!
//! A [`Scroll`] reads nothing. It says which [`Step`] comes next, is told what was found, and goes on
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

use super::gather::Run;
use super::rank::{Candidate, Item, rank, score};
use super::{Cursor, Order, PostId, Rejected, Settings, Weights, in_feed};
use crate::Timestamp;
use crate::accounts::UserId;

/// Posts of a page, at most.
pub const MAX_PAGE_SIZE: usize = 50;

/// What is read beyond a page, so that a few that are gone cost no second read.
const SPARE: usize = 5;

/// So often candidates are gathered for one page. Whoever follows people whose posts are nearly all hidden from
/// them gets a short page then, and a cursor, before the call is out of time.
const MAX_ROUNDS: usize = 40;

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Find candidates below this, as [`super::gather`] says, and tell [`Scroll::gathered`].
    Gather {
        /// Below which post.
        below: PostId,
        /// At most so many.
        most: usize,
    },
    /// Read these posts and tell [`Scroll::hydrated`].
    Hydrate(Vec<PostId>),
    /// This is the page.
    Done(Page),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// What is on it, in order.
    pub items: Vec<Item>,
    /// Where the next one begins; `None` at the end of the feed.
    pub next: Option<Cursor>,
    /// References that lead to nothing any more and can be taken out of the timeline.
    pub stale: Vec<PostId>,
}

/// A page that is being made.
#[derive(Debug, Clone)]
pub struct Scroll {
    reader: UserId,
    order: Order,
    weights: Weights,
    at: Timestamp,
    limit: usize,
    gathered: usize,
    top: Option<PostId>,
    /// The next window begins below this.
    below: PostId,
    /// Candidates were gathered down to this.
    reached: PostId,
    exhausted: bool,
    rounds: usize,
    /// From the cursor: in order, to be read again.
    pinned: VecDeque<PostId>,
    /// Gathered, to be read.
    pool: VecDeque<PostId>,
    /// Read, may be seen, not ranked yet.
    window: Vec<Candidate>,
    /// In order, not on the page yet.
    ready: VecDeque<Item>,
    items: Vec<Item>,
    stale: Vec<PostId>,
}

impl Scroll {
    /// The first page.
    pub fn start(
        reader: UserId,
        order: Order,
        limit: usize,
        weights: &Weights,
        settings: &Settings,
        now: Timestamp,
    ) -> Result<Self, Rejected> {
        if !(1..=MAX_PAGE_SIZE).contains(&limit) {
            return Err(Rejected::field("limit", format!("1 to {MAX_PAGE_SIZE}")));
        }
        Ok(Self {
            reader,
            order,
            weights: *weights,
            at: now,
            limit,
            gathered: settings.gathered,
            top: None,
            below: PostId::MAX,
            reached: PostId::MAX,
            exhausted: false,
            rounds: 0,
            pinned: VecDeque::new(),
            pool: VecDeque::new(),
            window: Vec::new(),
            ready: VecDeque::new(),
            items: Vec::new(),
            stale: Vec::new(),
        })
    }

    /// A later page. `weights` are those of the cursor's version.
    pub fn resume(
        reader: UserId,
        cursor: Cursor,
        limit: usize,
        weights: &Weights,
        settings: &Settings,
    ) -> Result<Self, Rejected> {
        let first = Self::start(reader, cursor.order, limit, weights, settings, cursor.at)?;
        Ok(Self {
            top: Some(cursor.top),
            below: cursor.below,
            reached: cursor.below,
            pinned: cursor.left.into(),
            ..first
        })
    }

    /// When its ranking is of: affinities are of this moment.
    pub const fn ranked_at(&self) -> Timestamp {
        self.at
    }

    /// What comes next.
    pub fn step(&mut self) -> Step {
        loop {
            while self.items.len() < self.limit
                && let Some(item) = self.ready.pop_front()
            {
                self.items.push(item);
            }
            // One more than the page has is known of before a cursor is given.
            if !self.ready.is_empty() {
                return Step::Done(self.done());
            }
            if !self.pinned.is_empty() {
                let most = self.limit - self.items.len() + SPARE;
                return Step::Hydrate(self.pinned.iter().copied().take(most).collect());
            }
            if self.window.len() < self.window_size() && !self.pool.is_empty() {
                return Step::Hydrate(self.pool.iter().copied().collect());
            }
            let is_open = self.window.len() < self.window_size() && !self.exhausted;
            if is_open && self.rounds < MAX_ROUNDS {
                self.rounds += 1;
                let spare = match self.order {
                    Order::Ranked => self.gathered / 5,
                    Order::Latest => SPARE,
                };
                let missing = self.window_size() - self.window.len();
                let most = self.gathered.min(missing + spare);
                return Step::Gather { below: self.reached, most };
            }
            if self.window.is_empty() {
                return Step::Done(self.done());
            }
            self.close_window(is_open);
        }
    }

    /// Candidates were found: all there are between the run's floor and what was asked for.
    pub fn gathered(&mut self, run: Run) {
        let below = self.reached;
        let ids = run.references.into_iter().map(|found| found.post_id);
        self.pool = ids.filter(|post| *post < below).collect();
        // A floor that does not get on would be asked for without end.
        self.exhausted = run.floor.is_none_or(|floor| floor >= below);
        self.reached = run.floor.unwrap_or(PostId::MIN);
    }

    /// Posts were read: those of the last step that exist.
    pub fn hydrated(&mut self, found: Vec<Candidate>) {
        let pinned = !self.pinned.is_empty();
        let asked: Vec<PostId> = if pinned {
            let most = (self.limit - self.items.len() + SPARE).min(self.pinned.len());
            self.pinned.drain(..most).collect()
        } else {
            self.pool.drain(..).collect()
        };
        let mut found: Vec<_> = found.into_iter().map(Some).collect();
        for post in asked {
            let is_it =
                |one: &Option<Candidate>| one.as_ref().is_some_and(|one| one.post.id == post);
            let candidate = found.iter().position(is_it).and_then(|at| found[at].take());
            match candidate {
                Some(one) if in_feed(&one.post, &one.tie, &self.reader) => {
                    if pinned {
                        self.ready.push_back(score(one, &self.weights, self.at));
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
            Order::Ranked => self.weights.window,
            Order::Latest => self.limit + 1,
        }
    }

    /// The window is complete, or as large as it becomes in time: it gets its order, and the next one begins
    /// below it.
    fn close_window(&mut self, is_open: bool) {
        let window = std::mem::take(&mut self.window);
        self.pool.clear();
        let ids = window.iter().map(|one| one.post.id);
        self.top = self.top.max(ids.clone().max());
        if is_open {
            self.below = self.reached;
        } else {
            // What was read beyond a full window is read again with the next one.
            self.below = ids.min().unwrap_or(self.below);
            self.exhausted = window.len() < self.window_size();
            self.reached = self.below;
        }
        self.ready = match self.order {
            Order::Ranked => rank(window, &self.weights, self.at).into(),
            Order::Latest => {
                window.into_iter().map(|one| score(one, &self.weights, self.at)).collect()
            }
        };
    }

    fn done(&mut self) -> Page {
        let items = std::mem::take(&mut self.items);
        let left: Vec<PostId> =
            self.ready.iter().map(Item::id).chain(self.pinned.iter().copied()).collect();
        let last = items.last().map(Item::id);
        let cursor = |top, below, left| Cursor {
            order: self.order,
            weights: self.weights.version,
            at: self.at,
            top,
            below,
            left,
        };
        let next = match (self.order, self.top, last) {
            (Order::Ranked, Some(top), _) if !left.is_empty() => {
                Some(cursor(top, self.below, left))
            }
            (Order::Latest, Some(top), Some(last)) if !left.is_empty() => {
                Some(cursor(top, last, Vec::new()))
            }
            (_, top, _) if !self.exhausted && self.rounds == MAX_ROUNDS => {
                let below = self.reached;
                Some(cursor(top.unwrap_or(below).max(below), below, Vec::new()))
            }
            _ => None,
        };
        Page { items, next, stale: std::mem::take(&mut self.stale) }
    }
}
