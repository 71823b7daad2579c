//! Slots, the lanes they are divided into, and which lane a node tries next.
//!
//! What a node leases is a lane. There are two tiers, on different slots, so that a lane of one can
//! never overlap a lane of the other:
//!
//! | tier  | slots     | lanes per slot | sequence numbers | lanes | ids per millisecond |
//! |-------|-----------|----------------|------------------|-------|---------------------|
//! | whole | 0..=767   | 1              | 0..=4095         | 768   | 4,096               |
//! | split | 768..=1023| 16             | 256 each         | 4,096 | 256                 |
//!
//! Together 4,864 nodes can hold a lease at the same time, where one per slot would stop at 1,024.
//! The division is fixed: moving the border would let an old node and a new one share numbers.

use std::ops::RangeInclusive;

use crate::splitmix64;

/// How many (datacenter, machine) pairs the layout has.
pub const SLOTS: u16 = 1_024;

/// How many of them, from 0 up, are leased as a whole.
pub const WHOLE_SLOTS: u16 = 768;

/// How many lanes there are, and so how many nodes can hold a lease at one time.
pub const LANES: u16 = WHOLE_SLOTS + (SLOTS - WHOLE_SLOTS) * LANES_PER_SPLIT_SLOT;

const LANES_PER_SPLIT_SLOT: u16 = 16;
const SEQUENCES: u16 = 4_096;
const SEQUENCES_PER_SPLIT_LANE: u16 = SEQUENCES / LANES_PER_SPLIT_SLOT;

/// Whole lanes are worth a few tries, being sixteen times as fast; then it is likely that they are all
/// taken.
const WHOLE_ATTEMPTS: u32 = 4;

/// After this many random tries the search walks, so that it finds the last free lane too.
const RANDOM_ATTEMPTS: u32 = 16;

/// A (datacenter, machine) pair as one number, 0 to 1,023.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(u16);

impl Slot {
    /// The slot in the lowest ten bits.
    pub(super) const fn masked(bits: u16) -> Self {
        Self(bits & (SLOTS - 1))
    }

    /// Datacenter and machine in one number.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// The upper five bits.
    pub const fn datacenter(self) -> u8 {
        ((self.0 >> 5) & 31) as u8
    }

    /// The lower five bits.
    pub const fn machine(self) -> u8 {
        (self.0 & 31) as u8
    }
}

/// The sequence numbers a lane may use in each millisecond, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SequenceRange {
    /// The number each millisecond starts with.
    pub first: u16,
    /// The number after which the millisecond is spent.
    pub last: u16,
}

impl SequenceRange {
    /// The same, as a range to iterate over or to look into.
    pub const fn numbers(self) -> RangeInclusive<u16> {
        self.first..=self.last
    }
}

/// The unit that is leased: a slot, or a sixteenth of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane(u16);

impl Lane {
    /// The lane with this number, if there is one. The number is its key in the store.
    pub const fn new(number: u16) -> Option<Self> {
        if number < LANES { Some(Self(number)) } else { None }
    }

    /// Its number, 0 to 4,863.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// Whether it has a slot to itself.
    pub const fn is_whole(self) -> bool {
        self.0 < WHOLE_SLOTS
    }

    /// The slot that its ids carry.
    pub const fn slot(self) -> Slot {
        if self.is_whole() {
            Slot(self.0)
        } else {
            Slot(WHOLE_SLOTS + (self.0 - WHOLE_SLOTS) / LANES_PER_SPLIT_SLOT)
        }
    }

    /// The sequence numbers that its ids carry.
    pub const fn range(self) -> SequenceRange {
        if self.is_whole() {
            return SequenceRange { first: 0, last: SEQUENCES - 1 };
        }
        let first = (self.0 - WHOLE_SLOTS) % LANES_PER_SPLIT_SLOT * SEQUENCES_PER_SPLIT_LANE;
        SequenceRange { first, last: first + SEQUENCES_PER_SPLIT_LANE - 1 }
    }
}

/// The lane to claim on this attempt, counted from 0, of a search that drew `random` once.
///
/// The first attempts are spread over the whole lanes, the next over the split ones, because nodes
/// that start together should not queue for the same row. What follows is a walk over all lanes.
pub const fn lane_to_try(random: u64, attempt: u32) -> Lane {
    if attempt >= RANDOM_ATTEMPTS {
        let start = below(random, LANES) as u64;
        return Lane(below(start + (attempt - RANDOM_ATTEMPTS) as u64, LANES));
    }
    let draw = splitmix64(random.wrapping_add(attempt as u64));
    if attempt < WHOLE_ATTEMPTS {
        Lane(below(draw, WHOLE_SLOTS))
    } else {
        Lane(WHOLE_SLOTS + below(draw, LANES - WHOLE_SLOTS))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a remainder of a u16 is less than a u16")]
const fn below(number: u64, bound: u16) -> u16 {
    (number % bound as u64) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_slot_and_sequence_belongs_to_exactly_one_lane() {
        let mut owners = vec![0_u8; usize::from(SLOTS) * usize::from(SEQUENCES)];
        for lane in (0..LANES).filter_map(Lane::new) {
            for sequence in lane.range().numbers() {
                let slot = usize::from(lane.slot().number());
                owners[slot * usize::from(SEQUENCES) + usize::from(sequence)] += 1;
            }
        }
        assert!(owners.iter().all(|&owners| owners == 1));
    }

    #[test]
    fn there_are_more_lanes_than_slots() {
        assert_eq!(LANES, 4_864);
        assert_eq!(Lane::new(LANES), None);
        assert_eq!(Lane::new(LANES - 1).map(|lane| lane.slot().number()), Some(1_023));
    }

    #[test]
    fn a_slot_is_read_as_datacenter_and_machine() {
        let slot = Slot::masked(11 * 32 + 26);
        assert_eq!((slot.datacenter(), slot.machine()), (11, 26));
    }

    #[test]
    fn a_search_tries_whole_lanes_first_and_split_ones_next() {
        for random in [0, 1, 42, u64::MAX] {
            assert!((0..WHOLE_ATTEMPTS).all(|attempt| lane_to_try(random, attempt).is_whole()));
            assert!(
                (WHOLE_ATTEMPTS..RANDOM_ATTEMPTS)
                    .all(|attempt| !lane_to_try(random, attempt).is_whole())
            );
        }
    }

    #[test]
    fn a_long_search_visits_every_lane() {
        let visited: HashSet<_> = (RANDOM_ATTEMPTS..RANDOM_ATTEMPTS + u32::from(LANES))
            .map(|attempt| lane_to_try(u64::MAX, attempt))
            .collect();
        assert_eq!(visited.len(), usize::from(LANES));
    }

    #[test]
    fn first_attempts_of_different_nodes_spread_over_the_lanes() {
        let lanes: HashSet<_> = (0..10_000).map(|random| lane_to_try(random, 0)).collect();
        assert_eq!(lanes.len(), usize::from(WHOLE_SLOTS));
    }
}
