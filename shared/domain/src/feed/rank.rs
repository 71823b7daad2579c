//! Ranking: the order of the feed, and its explanation.
//!
//! score = 0.4 × e^(−age in hours ÷ 24) + 0.3 × ln(engagement + 1) ÷ 10 + 0.3 × affinity, where
//! engagement = likes + 2 × comments + 3 × shares. A post that the reader was shown before counts half
//! when it comes to its place. Of ten posts in a row at most three are by one author, unless no
//! others are left. Equal scores go by time.
//!
//! A feed is ranked in windows: the 80 newest posts that the reader may see, then the next 80. What is
//! ranked has to be read first, so a window is what one batch read brings, with some to spare for
//! what the reader may not see. Scores are compared in whole millionths, so that the last digit of a
//! logarithm does not decide.
//!
//! Absent: a post that is left out by ranking; a change of weights that moves a scroll that has begun.

use super::{Counts, Post, PostId, Relationship};
use crate::Timestamp;

/// What goes into a rank. Those of a version never change; new ones get a new version.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankWeights {
    pub version: u8,
    pub recency: f64,
    pub engagement: f64,
    pub affinity: f64,
    /// In so many hours newness falls to 1/e.
    pub decay_hours: f64,
    /// What is left of the score of a post that was shown before.
    pub seen_factor: f64,
    /// Of `author_span` posts in a row, at most so many by one author.
    pub author_cap: usize,
    pub author_span: usize,
    /// Posts that are ranked together. Cursors carry them.
    pub window: usize,
}

impl RankWeights {
    pub const PLAIN: Self = Self {
        version: 1,
        recency: 0.4,
        engagement: 0.3,
        affinity: 0.3,
        decay_hours: 24.0,
        seen_factor: 1.0,
        author_cap: usize::MAX,
        author_span: 1,
        window: 80,
    };

    /// The score, with a cap on authors and without what was shown before at the top.
    pub const CURRENT: Self =
        Self { version: 2, seen_factor: 0.5, author_cap: 3, author_span: 10, ..Self::PLAIN };

    /// The weights of a version; `None` if no scroll can have begun with it.
    pub fn by_version(version: u8) -> Option<Self> {
        [Self::PLAIN, Self::CURRENT].into_iter().find(|weights| weights.version == version)
    }
}

/// A score, in millionths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(pub u32);

impl Score {
    pub fn value(self) -> f64 {
        f64::from(self.0) / 1e6
    }

    fn of(value: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast of a float saturates, and a score is a small positive number"
        )]
        Self((value * 1e6).round() as u32)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankReason {
    Recent,
    Popular,
    /// The reader is close to its author.
    Close,
}

/// Why a post is where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankExplanation {
    pub reason: RankReason,
    /// What being new adds to its score.
    pub recency: Score,
    pub engagement: Score,
    pub affinity: Score,
    /// Whether it was shown before, and so comes later.
    pub seen: bool,
}

/// A post with what is known of it for a reader.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub post: Post,
    pub counts: Counts,
    /// Between the reader and its author, seen by the reader.
    pub relationship: Relationship,
    /// How close the reader is to its author at the ranking time, 0 to 1.
    pub affinity: f64,
    /// Whether the reader was shown it before the scroll began.
    pub seen: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RankedItem {
    pub candidate: Candidate,
    /// Its score at the ranking time.
    pub score: Score,
    pub why: RankExplanation,
}

impl RankedItem {
    pub const fn id(&self) -> PostId {
        self.candidate.post.id
    }
}

/// The score of a post at a time, and what it is made of.
pub fn score(candidate: Candidate, weights: &RankWeights, at: Timestamp) -> RankedItem {
    let age_ms = at.as_millisecond().saturating_sub(candidate.post.id.at().as_millisecond());
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of some years, and likes")]
    let (age_ms, engaged) = (age_ms.max(0) as f64, candidate.counts.engagement() as f64);
    let recency = weights.recency * (-age_ms / 3_600_000.0 / weights.decay_hours).exp();
    let engagement = weights.engagement * engaged.ln_1p() / 10.0;
    let affinity = weights.affinity * candidate.affinity.clamp(0.0, 1.0);
    let reason = if recency >= engagement.max(affinity) {
        RankReason::Recent
    } else if engagement >= affinity {
        RankReason::Popular
    } else {
        RankReason::Close
    };
    let why = RankExplanation {
        reason,
        recency: Score::of(recency),
        engagement: Score::of(engagement),
        affinity: Score::of(affinity),
        seen: candidate.seen,
    };
    RankedItem { candidate, score: Score::of(recency + engagement + affinity), why }
}

pub fn rank(window: Vec<Candidate>, weights: &RankWeights, at: Timestamp) -> Vec<RankedItem> {
    let scored = window.into_iter().map(|candidate| score(candidate, weights, at));
    let mut waiting: Vec<_> = scored.map(|item| (sort_score(&item, weights), item)).collect();
    waiting.sort_by(|(a, one), (b, other)| b.cmp(a).then(other.id().cmp(&one.id())));
    let mut waiting: Vec<RankedItem> = waiting.into_iter().map(|(_, item)| item).collect();
    let mut placed: Vec<RankedItem> = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let before = &placed[placed.len().saturating_sub(weights.author_span.saturating_sub(1))..];
        let is_due = |item: &RankedItem| {
            let author = &item.candidate.post.author;
            before.iter().filter(|other| other.candidate.post.author == *author).count()
                < weights.author_cap
        };
        let next = waiting.iter().position(is_due).unwrap_or(0);
        placed.push(waiting.remove(next));
    }
    placed
}

fn sort_score(item: &RankedItem, weights: &RankWeights) -> Score {
    if item.why.seen { Score::of(item.score.value() * weights.seen_factor) } else { item.score }
}

#[cfg(test)]
mod tests;
