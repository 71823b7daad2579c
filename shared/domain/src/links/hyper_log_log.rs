//! How many different visitors, in a few kilobytes: a `HyperLogLog` sketch with 2^14 registers.
//!
//! A sketch is exact, but for collisions, up to 1,024 visitors, and has a standard error of 0.81 %
//! from there on. Its bytes are a function of the set of visitors alone: no order of adding, no
//! repetition and no tree of merges shows in them. It is not anonymous: while visitors are few, 26
//! bits of each hash are kept, enough to test for a given visitor. Where that matters, key the hash.
//!
//! ```text
//!            more than 1,024 entries
//!   Sparse ──────────────────────────▶ Dense          (never back)
//! ```
//!
//! Written here because the crates for it have no byte form that could be stored and compared:
//! `cardinality-estimator` writes a pointer and a rounded sum along with its registers,
//! `hyperloglockless` and `hyperloglogplus` write their hasher and a buffer of unsorted additions.

mod encoding;
mod estimate;
#[cfg(test)]
mod tests;

/// Bits of the hash that choose a register.
const PRECISION: u32 = 14;
const REGISTERS: usize = 1 << PRECISION;

/// The most a register can hold: one more than the bits that are left of the hash.
const MAX_RANK: u8 = 51;

/// Bits of the hash that tell visitors apart while there are few, and how many more that is.
const SPARSE_PRECISION: u32 = 26;
const EXTRA: u32 = SPARSE_PRECISION - PRECISION;

/// The most entries of a sparse sketch: about 3 KB, where the dense form has become smaller. By then
/// 0.008 visitors are expected to have been taken for another.
const SPARSE_LIMIT: usize = 1_024;

/// The different visitors seen, as far as they can be counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HyperLogLog(Representation);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Representation {
    /// Sorted by index; no index twice.
    Sparse(Vec<SparseEntry>),
    /// The highest rank seen by each register; 0 for none.
    Dense(Vec<u8>),
}

impl Default for Representation {
    fn default() -> Self {
        Self::Sparse(Vec::new())
    }
}

impl HyperLogLog {
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts the visitor with this hash; returns whether that changed anything.
    ///
    /// All 64 bits count, and have to be spread evenly: a hash, not an id.
    pub fn add(&mut self, hash: u64) -> bool {
        self.insert_entry(SparseEntry::from_hash(hash))
    }

    /// Becomes the union of both; returns whether that changed anything.
    pub fn merge(&mut self, other: &Self) -> bool {
        match (&mut self.0, &other.0) {
            (_, Representation::Sparse(entries)) => {
                entries.iter().fold(false, |changed, &entry| self.insert_entry(entry) | changed)
            }
            (Representation::Sparse(entries), Representation::Dense(registers)) => {
                self.0 = Representation::Dense(with_entries(registers.clone(), entries));
                true
            }
            (Representation::Dense(ours), Representation::Dense(theirs)) => {
                ours.iter_mut().zip(theirs).fold(false, |changed, (our, &their)| {
                    let higher = their > *our;
                    *our = their.max(*our);
                    higher | changed
                })
            }
        }
    }

    /// The estimated number of different visitors.
    pub fn estimate(&self) -> u64 {
        match &self.0 {
            Representation::Sparse(entries) => entries.len() as u64,
            Representation::Dense(registers) => estimate::estimate(registers),
        }
    }

    /// The sketch as stored: at most 4 bytes a visitor up to 1,024 visitors (and a rare fifth), about
    /// 6 KB for many.
    pub fn to_bytes(&self) -> Vec<u8> {
        encoding::write(&self.0)
    }

    /// Reads what [`Self::to_bytes`] wrote; `None` for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        encoding::read(bytes).map(Self)
    }

    fn insert_entry(&mut self, entry: SparseEntry) -> bool {
        let entries = match &mut self.0 {
            Representation::Dense(registers) => return raise_register(registers, entry),
            Representation::Sparse(entries) => entries,
        };
        match entries.binary_search_by_key(&entry.index, |known| known.index) {
            Ok(at) if entries[at].rank >= entry.rank => return false,
            Ok(at) => entries[at] = entry,
            Err(at) => entries.insert(at, entry),
        }
        if entries.len() > SPARSE_LIMIT {
            self.0 = Representation::Dense(with_entries(vec![0; REGISTERS], entries));
        }
        true
    }
}

fn with_entries(mut registers: Vec<u8>, entries: &[SparseEntry]) -> Vec<u8> {
    for &entry in entries {
        raise_register(&mut registers, entry);
    }
    registers
}

/// Returns whether the register was lower before.
fn raise_register(registers: &mut [u8], entry: SparseEntry) -> bool {
    let register = &mut registers[entry.register()];
    let lower = *register < entry.rank;
    *register = entry.rank.max(*register);
    lower
}

/// What a sparse sketch keeps of a hash: enough to raise the same register to the same rank as the
/// hash itself would have, and to tell it from others until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SparseEntry {
    /// The first 26 bits of the hash.
    index: u32,
    /// The position of the first one among the bits that do not choose the register, counted from 1.
    rank: u8,
}

impl SparseEntry {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "26 bits of index, and a rank of 51 at most"
    )]
    const fn from_hash(hash: u64) -> Self {
        // A one behind the last bit ends the count where there is none before.
        let rest = hash << PRECISION | 1 << (PRECISION - 1);
        let index = (hash >> (u64::BITS - SPARSE_PRECISION)) as u32;
        Self { index, rank: rest.leading_zeros() as u8 + 1 }
    }

    const fn register(self) -> usize {
        (self.index >> EXTRA) as usize
    }

    /// The rank, if it follows from the index alone.
    #[expect(clippy::cast_possible_truncation, reason = "a rank of 12 at most")]
    const fn rank_of(index: u32) -> Option<u8> {
        let rest = index << (u32::BITS - EXTRA);
        if rest == 0 { None } else { Some(rest.leading_zeros() as u8 + 1) }
    }
}
