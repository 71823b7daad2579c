//! How close a reader is to an author: 0 to 1, from what they did, fading with time.
//!
//! It is a number and the moment it was true. It halves in 30 days, and each like, comment or share
//! takes it some of the remaining way to 1. So it is kept with one small write, needs no history, and
//! can't leave its bounds. Absent: anything that the author does, and anything that time makes grow.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::accounts::UserId;

const HALF_LIFE_MS: f64 = 30.0 * 86_400_000.0;

/// Authors that are remembered for a reader, at most.
const MOST_AUTHORS: usize = 500;

/// What a reader does about a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interaction {
    /// They like it.
    Like,
    /// They say something to it.
    Comment,
    /// They pass it on.
    Share,
}

impl Interaction {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Like, Self::Comment, Self::Share];

    /// How much it weighs beside a like.
    pub const fn weight(self) -> u64 {
        match self {
            Self::Like => 1,
            Self::Comment => 2,
            Self::Share => 3,
        }
    }

    /// The part of the remaining way to 1.
    const fn step(self) -> f64 {
        match self {
            Self::Like => 0.06,
            Self::Comment => 0.12,
            Self::Share => 0.18,
        }
    }
}

/// How close, and when that was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Affinity {
    /// 0 to 1.
    pub value: f64,
    /// When it was that.
    pub at: Timestamp,
}

impl Affinity {
    /// Nothing yet.
    pub const fn none(now: Timestamp) -> Self {
        Self { value: 0.0, at: now }
    }

    /// How close they are at a moment. Before the last interaction it is what it was then.
    pub fn value_at(&self, now: Timestamp) -> f64 {
        let ms = now.as_millisecond().saturating_sub(self.at.as_millisecond()).max(0);
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of some years")]
        let halvings = ms as f64 / HALF_LIFE_MS;
        (self.value * (-halvings).exp2()).clamp(0.0, 1.0)
    }

    /// After an interaction.
    #[must_use]
    pub fn after(&self, interaction: Interaction, now: Timestamp) -> Self {
        let value = self.value_at(now);
        Self { value: value + interaction.step() * (1.0 - value), at: self.at.max(now) }
    }
}

/// The authors that a reader is close to: one row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Affinities(BTreeMap<UserId, Affinity>);

impl Affinities {
    /// How close the reader is to an author.
    pub fn to(&self, author: &UserId, now: Timestamp) -> f64 {
        self.0.get(author).map_or(0.0, |affinity| affinity.value_at(now))
    }

    /// Notes what the reader did. Beyond 500 authors the most distant one is forgotten.
    pub fn note(&mut self, author: &UserId, interaction: Interaction, now: Timestamp) {
        let known = self.0.get(author).copied().unwrap_or_else(|| Affinity::none(now));
        self.0.insert(author.clone(), known.after(interaction, now));
        if self.0.len() > MOST_AUTHORS {
            let others = self.0.iter().filter(|(other, _)| *other != author);
            let distant = others.min_by(|a, b| a.1.value_at(now).total_cmp(&b.1.value_at(now)));
            if let Some(distant) = distant.map(|(other, _)| other.clone()) {
                self.0.remove(&distant);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::feed::samples::{at, person};

    #[test]
    fn it_halves_in_a_month_and_a_like_takes_it_on() {
        let one = Affinity { value: 0.8, at: at(0) };
        assert!((one.value_at(at(30 * 86_400)) - 0.4).abs() < 1e-9);
        assert!((one.value_at(at(-99)) - 0.8).abs() < 1e-9);
        let first = Affinity::none(at(0)).after(Interaction::Like, at(0));
        assert!((first.value - 0.06).abs() < 1e-9);
    }

    #[test]
    fn the_most_distant_author_is_forgotten() {
        let mut row = Affinities::default();
        for n in 0..=500 {
            row.note(&person(n), Interaction::Comment, at(i64::try_from(n).unwrap()));
        }
        assert_eq!(row.0.len(), MOST_AUTHORS);
        assert!(row.to(&person(0), at(500)) == 0.0 && row.to(&person(500), at(500)) > 0.1);
        let json = serde_json::to_string(&row).unwrap();
        assert_eq!(serde_json::from_str::<Affinities>(&json).unwrap().0.len(), MOST_AUTHORS);
    }

    proptest! {
        #[test]
        fn it_stays_within_its_bounds_and_only_interactions_make_it_grow(
            acts in prop::collection::vec((0_usize..3, -50_000_i64..5_000_000), 0..60),
        ) {
            let mut affinity = Affinity::none(at(0));
            let mut now = 0;
            for (act, gap) in acts {
                let before = affinity.value_at(at(now));
                now += gap;
                prop_assert!(affinity.value_at(at(now)) <= affinity.value + 1e-12);
                if gap >= 0 {
                    prop_assert!(affinity.value_at(at(now)) <= before + 1e-12);
                }
                let faded = affinity.value_at(at(now));
                affinity = affinity.after(Interaction::ALL[act], at(now));
                prop_assert!(affinity.value >= faded);
                prop_assert!((0.0..=1.0).contains(&affinity.value));
            }
        }
    }
}
