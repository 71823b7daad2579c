//! Affinity of a reader with an author: 0 to 1, from likes, comments and shares, decaying with time.
//!
//! It is a number and the moment it was true. It halves in 30 days, and each like, comment or share
//! takes it some of the remaining way to 1. So it is kept with one small write, needs no history, and
//! can't leave its bounds. It lies on the row of the two people, which is read for every post anyway.
//! Absent: anything that the author does, and anything that time makes grow.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

const HALF_LIFE_MS: f64 = 30.0 * 86_400_000.0;

/// What a reader does about a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interaction {
    Like,
    Comment,
    Share,
}

impl Interaction {
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

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Affinity {
    pub value: f64,
    pub at: Timestamp,
}

impl Affinity {
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

    #[must_use]
    pub fn after(&self, interaction: Interaction, now: Timestamp) -> Self {
        let value = self.value_at(now);
        Self { value: value + interaction.step() * (1.0 - value), at: self.at.max(now) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::feed::samples::at;

    #[test]
    fn it_halves_in_a_month_and_a_like_takes_it_on() {
        let one = Affinity { value: 0.8, at: at(0) };
        assert!((one.value_at(at(30 * 86_400)) - 0.4).abs() < 1e-9);
        assert!((one.value_at(at(-99)) - 0.8).abs() < 1e-9);
        let first = Affinity::none(at(0)).after(Interaction::Like, at(0));
        assert!((first.value - 0.06).abs() < 1e-9);
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
