//! Trending posts.
//!
//! Score = the sum, over the hours of two days, of the users who first acted on a post in that hour, halved for
//! every six hours since. A person is counted once for a post, however much they do. Once
//! a minute the hundred highest are stored as a [`TrendingSnapshot`]; a scroll names its snapshot, so pages
//! do not overlap while scores change. Visibility is checked for each reader, as everywhere.
//!
//! Absent: a way for one user to raise a score twice, a page that depends on when it is asked for.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::counts::hour_of;
use super::{PostId, Rejected};
use crate::Timestamp;

/// Posts of a snapshot, at most: one batch read.
pub const MAX_TRENDING: usize = 100;

/// A snapshot is kept so long after the next one is there.
pub const SNAPSHOT_SECONDS: i64 = 3_600;

const HALF_LIFE_HOURS: i64 = 6;

/// The trending posts of a minute, the highest score first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrendingSnapshot {
    /// The minute since 1970: its name.
    pub minute: i64,
    pub posts: Vec<PostId>,
}

/// A post's score, in thousandths of a user.
pub fn trending_score(people: &BTreeMap<i64, u64>, now: Timestamp) -> u64 {
    let hour = hour_of(now);
    let sum = people.iter().map(|(at, people)| {
        let age = (hour - at).max(0);
        // Sixth parts of a halving, as whole numbers: the same on every machine.
        let part =
            [1_000, 891, 794, 707, 630, 561][usize::try_from(age % HALF_LIFE_HOURS).unwrap_or(0)];
        let halvings = u32::try_from(age / HALF_LIFE_HOURS).unwrap_or(u32::MAX);
        people.saturating_mul(part).checked_shr(halvings).unwrap_or(0)
    });
    sum.fold(0, u64::saturating_add)
}

/// The sort key of a trending post: greater for a higher score. All scores halve alike, so two posts stay
/// in their order while time goes by, and what is written down stays true. `None` at score 0.
pub fn rank_key(people: &BTreeMap<i64, u64>, now: Timestamp) -> Option<u64> {
    let score = trending_score(people, now);
    if score == 0 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "thousandths of people")]
    let hours = (score as f64).log2() * 6.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "thousandths of at most 384 hours"
    )]
    let thousandths = (hours * 1_000.0).round() as u64;
    Some(thousandths + min_rank_key(now))
}

/// A post with a key below this has no score left.
pub fn min_rank_key(now: Timestamp) -> u64 {
    u64::try_from(hour_of(now)).unwrap_or(0) * 1_000
}

impl TrendingSnapshot {
    /// The minute that a snapshot of this moment is named by.
    pub fn minute_of(now: Timestamp) -> i64 {
        now.as_second().div_euclid(60)
    }

    /// Takes the posts with the highest scores. The same totals give the same snapshot in whichever order they come.
    pub fn new<'t>(
        totals: impl IntoIterator<Item = (PostId, &'t BTreeMap<i64, u64>)>,
        now: Timestamp,
    ) -> Self {
        let scores = totals.into_iter().map(|(post, people)| (trending_score(people, now), post));
        let mut trending: Vec<_> = scores.filter(|(score, _)| *score > 0).collect();
        trending.sort_unstable_by(|a, b| b.cmp(a));
        // A list that lags behind may have a post twice, with its old and its new score.
        let mut known = BTreeSet::new();
        trending.retain(|(_, post)| known.insert(*post));
        trending.truncate(MAX_TRENDING);
        Self {
            minute: Self::minute_of(now),
            posts: trending.into_iter().map(|(_, post)| post).collect(),
        }
    }

    /// The posts of a page that the reader may see, and where the next one begins; `None` if they may
    /// see nothing that follows.
    pub fn page(
        &self,
        from: usize,
        limit: usize,
        may_see: impl Fn(PostId) -> bool,
    ) -> (Vec<PostId>, Option<TrendingCursor>) {
        let mut seen = (0..).zip(&self.posts).skip(from).filter(|(_, post)| may_see(**post));
        let page = seen.by_ref().take(limit).map(|(_, post)| *post).collect();
        (page, seen.next().map(|(next, _)| TrendingCursor { minute: self.minute, next }))
    }
}

/// Where a scroll through a snapshot goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrendingCursor {
    pub minute: i64,
    pub next: usize,
}

impl TrendingCursor {
    pub fn text(self) -> String {
        format!("{}.{}", self.minute, self.next)
    }

    /// The place that such a text names.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let read = || {
            let (minute, next) = text.split_once('.')?;
            let bookmark = Self { minute: minute.parse().ok()?, next: next.parse().ok()? };
            (bookmark.next < MAX_TRENDING && bookmark.text() == text).then_some(bookmark)
        };
        read().ok_or_else(|| {
            Rejected::field("cursor", "a `nextCursor` from an earlier page of what is trending")
        })
    }
}

#[cfg(test)]
mod tests;
