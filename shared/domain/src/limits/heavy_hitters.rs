//! The keys that ask for most, in memory that never grows: a space-saving counter.
//!
//! There is room for a fixed number of keys. When it is full, a new key takes the place of the one
//! with the least, and starts at that one's count: so a count may be over, by as much as its `error`
//! says, and a key that has more than total ÷ capacity is always there.
//!
//! Guarantee, since the last drain: for a key that is there, `units − error` ≤ true units ≤ `units`
//! and `denied` ≤ true denied ≤ `denied + error`; until it is full once, all is exact. Absent:
//! an allocation for a key that is already there, and an order that depends on the hash.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{BuildHasher, Hash};
use std::mem;

use hashbrown::{DefaultHashBuilder, Equivalent, HashTable};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct KeyCount {
    /// Units asked for, or more: at most `error` of them were another key's.
    pub units: u64,
    /// Units denied, or fewer: at most `error` of them were forgotten.
    pub denied: u64,
    /// What the key's place had counted when the key took it.
    pub error: u64,
}

/// The heaviest keys and their counts.
#[derive(Debug, Clone)]
pub struct SpaceSaving<K> {
    capacity: usize,
    hasher: DefaultHashBuilder,
    /// Where in `slots` a key is.
    table: HashTable<usize>,
    slots: Vec<Slot<K>>,
    /// Units and positions in `slots`, the fewest first. The units are as they were when last
    /// looked at, which is never more than there are: a key that is already there costs the heap
    /// nothing.
    min_heap: BinaryHeap<Reverse<(u64, usize)>>,
}

#[derive(Debug, Clone)]
struct Slot<K> {
    key: K,
    hash: u64,
    count: KeyCount,
}

impl<K> SpaceSaving<K> {
    /// Room for so many keys; at least one.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            hasher: DefaultHashBuilder::default(),
            table: HashTable::new(),
            slots: Vec::new(),
            min_heap: BinaryHeap::new(),
        }
    }

    /// Counts units that a key asked for, and whether they were denied.
    pub fn record<'q, Q>(&mut self, key: &'q Q, units: u32, denied: bool)
    where
        Q: Hash + Equivalent<K> + ?Sized,
        K: From<&'q Q>,
    {
        if units == 0 {
            return;
        }
        let hash = self.hasher.hash_one(key);
        let slots = &self.slots;
        let found = self.table.find(hash, |&at| key.equivalent(&slots[at].key)).copied();
        let at = found.unwrap_or_else(|| self.insert(hash, K::from(key)));
        let slot = &mut self.slots[at];
        let units = u64::from(units);
        slot.count.units = slot.count.units.saturating_add(units);
        if denied {
            slot.count.denied = slot.count.denied.saturating_add(units);
        }
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Takes the `n` keys with the most units, those first, and starts over. Of equals, the one whose
    /// place was taken first comes first.
    pub fn drain_top(&mut self, n: usize) -> Vec<(K, KeyCount)> {
        self.table.clear();
        self.min_heap.clear();
        let mut slots = mem::take(&mut self.slots);
        slots.sort_by_key(|slot| Reverse(slot.count.units));
        slots.into_iter().take(n).map(|slot| (slot.key, slot.count)).collect()
    }

    /// Gives a new key a place: a free one, or that of the key with the fewest units.
    fn insert(&mut self, hash: u64, key: K) -> usize {
        let full = self.slots.len() >= self.capacity;
        let at = if let Some(at) = full.then(|| self.min_slot()).flatten() {
            let slot = &mut self.slots[at];
            if let Ok(entry) = self.table.find_entry(slot.hash, |&other| other == at) {
                entry.remove();
            }
            let error = slot.count.units;
            *slot = Slot { key, hash, count: KeyCount { units: error, denied: 0, error } };
            at
        } else {
            let at = self.slots.len();
            self.slots.push(Slot { key, hash, count: KeyCount::default() });
            self.min_heap.push(Reverse((0, at)));
            at
        };
        let slots = &self.slots;
        self.table.insert_unique(hash, at, |&other| slots[other].hash);
        at
    }

    /// Where the key with the fewest units is. What the heap has out of date is put right on the way,
    /// at most once for each time that a key was noted.
    fn min_slot(&mut self) -> Option<usize> {
        loop {
            let mut first = self.min_heap.peek_mut()?;
            let Reverse((units, at)) = *first;
            let now = self.slots[at].count.units;
            if units == now {
                return Some(at);
            }
            *first = Reverse((now, at));
        }
    }
}

#[cfg(test)]
mod tests;
