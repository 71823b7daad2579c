//! Machine ids, the shards they are divided into, and which shard a node tries next.
//!
//! What a node leases is a shard. There are two tiers, on different machines, so that a shard of
//! one can never overlap a shard of the other:
//!
//! | tier  | machine ids | shards per id | sequence numbers | shards | ids per millisecond |
//! |-------|-----------|----------------|------------------|-------|---------------------|
//! | whole | 0..=767   | 1              | 0..=4095         | 768   | 4,096               |
//! | split | 768..=1023| 16             | 256 each         | 4,096 | 256                 |
//!
//! Together 4,864 nodes can hold a lease at the same time, where one per machine id would stop at
//! 1,024. The division is fixed: moving the border would let an old node and a new one share
//! numbers.

use std::ops::RangeInclusive;

use crate::splitmix64;

/// How many (datacenter, machine) pairs the layout has.
pub const MACHINES: u16 = 1_024;

/// How many of them, from 0 up, are leased as a whole.
pub const WHOLE_MACHINES: u16 = 768;

/// How many shards there are, and so how many nodes can hold a lease at one time.
pub const MACHINE_SHARDS: u16 =
    WHOLE_MACHINES + (MACHINES - WHOLE_MACHINES) * SHARDS_PER_SPLIT_MACHINE;

const SHARDS_PER_SPLIT_MACHINE: u16 = 16;
const SEQUENCES: u16 = 4_096;
const SEQUENCES_PER_SHARD: u16 = SEQUENCES / SHARDS_PER_SPLIT_MACHINE;

/// Whole shards are worth a few tries, being sixteen times as fast; then it is likely that they are all
/// taken.
const WHOLE_ATTEMPTS: u32 = 4;

/// After this many random tries the search walks, so that it finds the last free shard too.
const RANDOM_ATTEMPTS: u32 = 16;

/// A (datacenter, machine) pair as one number, 0 to 1,023.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MachineId(u16);

impl MachineId {
    /// The machine id in the lowest ten bits.
    pub(super) const fn masked(bits: u16) -> Self {
        Self(bits & (MACHINES - 1))
    }

    pub const fn number(self) -> u16 {
        self.0
    }

    pub const fn datacenter(self) -> u8 {
        ((self.0 >> 5) & 31) as u8
    }

    pub const fn machine(self) -> u8 {
        (self.0 & 31) as u8
    }
}

/// The sequence numbers a shard may use in each millisecond, both ends included.
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

/// The unit that is leased: a machine id, or a sixteenth of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MachineShard(u16);

impl MachineShard {
    /// The shard with this number, if there is one. The number is its key in the store.
    pub const fn new(number: u16) -> Option<Self> {
        if number < MACHINE_SHARDS { Some(Self(number)) } else { None }
    }

    /// Its number, 0 to 4,863.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// Whether it has a machine id to itself.
    pub const fn is_whole(self) -> bool {
        self.0 < WHOLE_MACHINES
    }

    /// The machine id that its ids carry.
    pub const fn machine_id(self) -> MachineId {
        if self.is_whole() {
            MachineId(self.0)
        } else {
            MachineId(WHOLE_MACHINES + (self.0 - WHOLE_MACHINES) / SHARDS_PER_SPLIT_MACHINE)
        }
    }

    /// The sequence numbers that its ids carry.
    pub const fn range(self) -> SequenceRange {
        if self.is_whole() {
            return SequenceRange { first: 0, last: SEQUENCES - 1 };
        }
        let first = (self.0 - WHOLE_MACHINES) % SHARDS_PER_SPLIT_MACHINE * SEQUENCES_PER_SHARD;
        SequenceRange { first, last: first + SEQUENCES_PER_SHARD - 1 }
    }
}

/// The shard to claim on this attempt, counted from 0, of a search that drew `random` once.
///
/// The first attempts are spread over the whole shards, the next over the split ones, because nodes
/// that start together should not queue for the same row. What follows is a walk over all shards.
pub const fn shard_to_try(random: u64, attempt: u32) -> MachineShard {
    if attempt >= RANDOM_ATTEMPTS {
        let start = modulo(random, MACHINE_SHARDS) as u64;
        return MachineShard(modulo(start + (attempt - RANDOM_ATTEMPTS) as u64, MACHINE_SHARDS));
    }
    let draw = splitmix64(random.wrapping_add(attempt as u64));
    if attempt < WHOLE_ATTEMPTS {
        MachineShard(modulo(draw, WHOLE_MACHINES))
    } else {
        MachineShard(WHOLE_MACHINES + modulo(draw, MACHINE_SHARDS - WHOLE_MACHINES))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a remainder of a u16 is less than a u16")]
const fn modulo(number: u64, bound: u16) -> u16 {
    (number % bound as u64) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_slot_and_sequence_belongs_to_exactly_one_lane() {
        let mut owners = vec![0_u8; usize::from(MACHINES) * usize::from(SEQUENCES)];
        for shard in (0..MACHINE_SHARDS).filter_map(MachineShard::new) {
            for sequence in shard.range().numbers() {
                let machine_id = usize::from(shard.machine_id().number());
                owners[machine_id * usize::from(SEQUENCES) + usize::from(sequence)] += 1;
            }
        }
        assert!(owners.iter().all(|&owners| owners == 1));
    }

    #[test]
    fn there_are_more_lanes_than_slots() {
        assert_eq!(MACHINE_SHARDS, 4_864);
        assert_eq!(MachineShard::new(MACHINE_SHARDS), None);
        assert_eq!(
            MachineShard::new(MACHINE_SHARDS - 1).map(|shard| shard.machine_id().number()),
            Some(1_023)
        );
    }

    #[test]
    fn a_slot_is_read_as_datacenter_and_machine() {
        let machine_id = MachineId::masked(11 * 32 + 26);
        assert_eq!((machine_id.datacenter(), machine_id.machine()), (11, 26));
    }

    #[test]
    fn a_search_tries_whole_lanes_first_and_split_ones_next() {
        for random in [0, 1, 42, u64::MAX] {
            assert!((0..WHOLE_ATTEMPTS).all(|attempt| shard_to_try(random, attempt).is_whole()));
            assert!(
                (WHOLE_ATTEMPTS..RANDOM_ATTEMPTS)
                    .all(|attempt| !shard_to_try(random, attempt).is_whole())
            );
        }
    }

    #[test]
    fn a_long_search_visits_every_lane() {
        let visited: HashSet<_> = (RANDOM_ATTEMPTS..RANDOM_ATTEMPTS + u32::from(MACHINE_SHARDS))
            .map(|attempt| shard_to_try(u64::MAX, attempt))
            .collect();
        assert_eq!(visited.len(), usize::from(MACHINE_SHARDS));
    }

    #[test]
    fn first_attempts_of_different_nodes_spread_over_the_lanes() {
        let shards: HashSet<_> = (0..10_000).map(|random| shard_to_try(random, 0)).collect();
        assert_eq!(shards.len(), usize::from(WHOLE_MACHINES));
    }
}
