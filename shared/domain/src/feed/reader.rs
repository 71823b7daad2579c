//! A reader: whether they are here, and from where on their timeline is complete.
//!
//! ```text
//!            a week without a visit
//!   ACTIVE ─────────────────────────▶ DORMANT
//!     ▲                                  │ the next visit: nothing in the timeline counts
//!     └── rebuilt: complete from a floor on ◀┘
//! ```
//!
//! Nothing is written when a reader becomes dormant: their last visit says it. On return, the row is
//! written *first* (here, and with no complete timeline), and only then are the authors' recent posts read,
//! strongly. A fan-out that skipped them had read the row before that, so its post was written before
//! too, and the rebuild sees it; one that reads the row afterwards writes. Until the timeline is
//! rebuilt the feed is read from the authors, so it is never falsely empty. A reader counts as away an hour
//! before a fan-out thinks so, because clocks differ.
//!
//! Absent: a pushed post that is above [`Reader::floor`] and, once fan-outs are through, not
//! in the timeline; a floor that goes down other than by a rebuild.

use std::collections::BTreeMap;

use super::candidates::{PostReference, RecentPosts, ReferenceRun, merge_runs};
use super::{FeedSettings, PostId};
use crate::Timestamp;
use crate::accounts::UserId;

/// A visit is noted if the last note is so old.
const VISIT_INTERVAL_SECONDS: i64 = 6 * 3_600;

/// Timelines of those who were here within so long are trimmed.
const TRIM_MAX_AWAY_SECONDS: i64 = 86_400;

/// So long before a fan-out takes them for dormant, readers do.
const CLOCK_MARGIN_SECONDS: i64 = 3_600;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader {
    pub user: UserId,
    /// When they were last here, as far as that was noted.
    pub last_seen_at: Timestamp,
    /// From here on the timeline is complete: [`PostId::MIN`] for all of it, [`PostId::MAX`] for none.
    pub floor: PostId,
    /// Authors whose recent posts are read with the timeline, with the epoch of the mark.
    pub pull_marks: BTreeMap<UserId, u64>,
    /// Grows with each return: a rebuild of an earlier one is not written.
    pub epoch: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReaderVisit {
    Recent,
    /// They were here: write that, if nothing else did.
    Recorded(Reader),
    /// They are back: write that, then rebuild.
    Returned(Reader),
}

/// A timeline that has grown too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trim {
    /// Written first, if epoch and floor are still those of the row that was read.
    pub floor: PostId,
    /// Then these are deleted.
    pub dropped: Vec<PostId>,
}

impl Reader {
    /// A new reader: they follow no one, so an empty timeline is complete.
    pub const fn new(user: UserId, now: Timestamp) -> Self {
        Self { user, last_seen_at: now, floor: PostId::MIN, pull_marks: BTreeMap::new(), epoch: 0 }
    }

    pub fn visit(&self, now: Timestamp, settings: &FeedSettings) -> ReaderVisit {
        let away = now.as_second() - self.last_seen_at.as_second();
        let here = || Self { last_seen_at: now, ..self.clone() };
        if away >= settings.dormant_seconds - CLOCK_MARGIN_SECONDS {
            return ReaderVisit::Returned(Self {
                floor: PostId::MAX,
                epoch: self.epoch + 1,
                ..here()
            });
        }
        if away >= VISIT_INTERVAL_SECONDS {
            ReaderVisit::Recorded(here())
        } else {
            ReaderVisit::Recent
        }
    }

    /// The references to write on return, from the recent posts of all whom the reader follows, and the
    /// floor to write after them, if the epoch is still this one and there is still no floor.
    pub fn rebuild(&self, rows: &[(UserId, RecentPosts)], settings: &FeedSettings) -> ReferenceRun {
        let run = |(author, row): &(UserId, RecentPosts)| {
            row.run_below(author, PostId::MAX).unwrap_or_default()
        };
        merge_runs(rows.iter().map(run).collect(), PostId::MAX, settings.timeline_size)
    }

    /// After beginning to follow an author: the row to write first, if it is still this one, and then the
    /// references. If a rebuild is under way it may not have heard of the author, so it begins again.
    pub fn backfill(&self, author: &UserId, row: &RecentPosts) -> (Self, Vec<PostReference>) {
        if self.floor == PostId::MAX {
            return (Self { epoch: self.epoch + 1, ..self.clone() }, Vec::new());
        }
        let ReferenceRun { mut references, floor } =
            row.run_below(author, PostId::MAX).unwrap_or_default();
        let floor = floor.unwrap_or(PostId::MIN).max(self.floor);
        references.retain(|reference| reference.post_id >= floor);
        (Self { floor, ..self.clone() }, references)
    }

    /// What to drop of the timeline, given its rows, the newest first. Nothing until it is a tenth too
    /// long, so that trimming is seldom; nothing during a rebuild, and nothing of a reader who was not here
    /// today, so that no deletion that is late meets a rebuild.
    pub fn trim(
        &self,
        rows: &[PostReference],
        now: Timestamp,
        settings: &FeedSettings,
    ) -> Option<Trim> {
        let away = now.as_second() - self.last_seen_at.as_second();
        let long = rows.len() > settings.timeline_size + settings.timeline_size / 10;
        if !long || self.floor == PostId::MAX || away >= TRIM_MAX_AWAY_SECONDS {
            return None;
        }
        let (kept, dropped) = rows.split_at_checked(settings.timeline_size)?;
        let floor = kept.last()?.post_id.max(self.floor);
        Some(Trim { floor, dropped: dropped.iter().map(|row| row.post_id).collect() })
    }

    /// Marks that can go, each with the epoch that it must still have. None during a rebuild: it may have
    /// read an author's row before the last post that was pulled.
    pub fn obsolete_marks(&self, rows: &BTreeMap<UserId, RecentPosts>) -> Vec<(UserId, u64)> {
        if self.floor == PostId::MAX {
            return Vec::new();
        }
        let is_outlived = |author: &UserId, epoch: u64| {
            rows.get(author)
                .is_some_and(|row| row.policy.is_mark_obsolete(epoch, row.last_pulled, self.floor))
        };
        let marks = self.pull_marks.iter().map(|(author, epoch)| (author.clone(), *epoch));
        marks.filter(|(author, epoch)| is_outlived(author, *epoch)).collect()
    }
}

#[cfg(test)]
mod tests;
