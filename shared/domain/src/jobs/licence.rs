//! Licences: a counting semaphore that limits how many jobs of a type run at once.
//!
//! A type's limit is split over the rows of its shards; each row counts its holders, and `in_use < max`
//! is the whole condition of taking a licence. With one row `max` is the limit. With
//! several, [`split_limit`] divides what is free, so that the maxima add up to the limit and no shard
//! admits while all of them together are at it. Absent: a moment at which two rows' maxima together
//! exceed the limit, and a limit that was lowered and still lets anything in.

/// One row of a type's licences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LicenceShard {
    pub shard: u8,
    pub in_use: u32,
    pub max: u32,
    /// Grows with each change.
    pub version: u64,
}

impl LicenceShard {
    pub const fn available(self) -> u32 {
        self.max.saturating_sub(self.in_use)
    }
}

/// The maximum of each row, given the rows' holders; only the first `shards` get new ones.
pub fn split_limit(limit: u32, shards: u8, in_use: &[u32]) -> Vec<u32> {
    if in_use.len() <= 1 {
        return vec![limit; in_use.len()];
    }
    let held: u32 = in_use.iter().fold(0, |sum, held| sum.saturating_add(*held));
    let free = limit.saturating_sub(held);
    if free == 0 {
        return vec![0; in_use.len()];
    }
    let active = u32::from(shards.max(1)).min(u32::try_from(in_use.len()).unwrap_or(u32::MAX));
    let share = |index: usize| match u32::try_from(index) {
        Ok(index) if index < active => free / active + u32::from(index < free % active),
        _ => 0,
    };
    in_use.iter().enumerate().map(|(index, held)| held + share(index)).collect()
}

/// Whether the limit has to be split anew: some licences are free and no row may give them, or the
/// maxima add up to too much.
pub fn needs_rebalance(limit: u32, shards: u8, rows: &[LicenceShard]) -> bool {
    let held: u32 = rows.iter().map(|row| row.in_use).sum();
    let granted: u32 = rows.iter().map(|row| row.max).sum();
    let short_of_rows = rows.len() < usize::from(shards);
    let available = rows.iter().any(|row| row.available() > 0);
    short_of_rows || (rows.len() > 1 && granted > limit) || (held < limit && !available)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_allotted_never_exceeds_the_limit_and_leaves_nothing_unused(
            limit in 0_u32..200,
            shards in 1_u8..6,
            in_use in proptest::collection::vec(0_u32..60, 1..8),
        ) {
            let max = split_limit(limit, shards, &in_use);
            let held: u32 = in_use.iter().sum();
            let room: u32 = max.iter().zip(&in_use).map(|(max, held)| max.saturating_sub(*held)).sum();
            prop_assert_eq!(max.len(), in_use.len());
            prop_assert_eq!(room, limit.saturating_sub(held));
        }
    }

    #[test]
    fn a_lowered_limit_admits_nothing_until_use_is_below_it() {
        assert_eq!(split_limit(10, 1, &[100]), [10]);
        assert_eq!(split_limit(10, 2, &[3, 20]), [0, 0]);
        assert_eq!(split_limit(10, 2, &[3, 4]), [5, 5]);
        // A shard that is given up keeps its holders and gets no new ones.
        assert_eq!(split_limit(10, 1, &[3, 4]), [6, 4]);
    }
}
