//! What many people care about right now.
//!
//! Heat = the sum, over the hours of two days, of the people who came to a post in that hour, halved for
//! every six hours since. A person is counted once for a post, whatever they do and how often. Once
//! a minute the hottest hundred are written down as a [`Snapshot`]; a scroll names its snapshot, so pages
//! do not overlap while heat changes. Who may see what is asked for each reader, as everywhere.
//!
//! Absent: a way for one person to heat a post twice, a page that depends on when it is asked for.

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

/// What was hot at a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The minute since 1970: its name.
    pub minute: i64,
    /// The hottest first.
    pub posts: Vec<PostId>,
}

/// How hot a post is, in thousandths of a person.
pub fn heat(people: &BTreeMap<i64, u64>, now: Timestamp) -> u64 {
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

/// Where a post stands among what is hot: the more, the hotter. All heat halves alike, so two posts stay
/// in their order while time goes by, and what is written down stays true. `None` if it is cold.
pub fn standing(people: &BTreeMap<i64, u64>, now: Timestamp) -> Option<u64> {
    let heat = heat(people, now);
    if heat == 0 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "thousandths of people")]
    let hours = (heat as f64).log2() * 6.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "thousandths of at most 384 hours"
    )]
    let thousandths = (hours * 1_000.0).round() as u64;
    Some(thousandths + cold_below(now))
}

/// What stands below this has no heat left.
pub fn cold_below(now: Timestamp) -> u64 {
    u64::try_from(hour_of(now)).unwrap_or(0) * 1_000
}

impl Snapshot {
    /// The minute that a snapshot of this moment is named by.
    pub fn minute_of(now: Timestamp) -> i64 {
        now.as_second().div_euclid(60)
    }

    /// Writes down what is hot. The same totals give the same snapshot in whichever order they come.
    pub fn taken<'t>(
        totals: impl IntoIterator<Item = (PostId, &'t BTreeMap<i64, u64>)>,
        now: Timestamp,
    ) -> Self {
        let heats = totals.into_iter().map(|(post, people)| (heat(people, now), post));
        let mut hot: Vec<_> = heats.filter(|(heat, _)| *heat > 0).collect();
        hot.sort_unstable_by(|a, b| b.cmp(a));
        // A list that lags behind may have a post twice, with the heat of then and of now.
        let mut known = BTreeSet::new();
        hot.retain(|(_, post)| known.insert(*post));
        hot.truncate(MAX_TRENDING);
        Self {
            minute: Self::minute_of(now),
            posts: hot.into_iter().map(|(_, post)| post).collect(),
        }
    }

    /// The posts of a page that the reader may see, and where the next one begins; `None` if they may
    /// see nothing that follows.
    pub fn page(
        &self,
        from: usize,
        limit: usize,
        may_see: impl Fn(PostId) -> bool,
    ) -> (Vec<PostId>, Option<Bookmark>) {
        let mut seen = (0..).zip(&self.posts).skip(from).filter(|(_, post)| may_see(**post));
        let page = seen.by_ref().take(limit).map(|(_, post)| *post).collect();
        (page, seen.next().map(|(next, _)| Bookmark { minute: self.minute, next }))
    }
}

/// Where a scroll through a snapshot goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bookmark {
    /// In which snapshot.
    pub minute: i64,
    /// At which of its posts.
    pub next: usize,
}

impl Bookmark {
    /// As text for a cursor.
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
