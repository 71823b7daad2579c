//! A sketch as bytes. There is one way to write each sketch, and nothing else is read.
//!
//! ```text
//! sparse: 1, then for each entry in order: its index less the least it could be (LEB128), and, only
//!         if the index does not tell it, the rank (one byte)
//! dense:  2, k, how many different ranks there are, these ranks with the most frequent first, then
//!         for each register its rank's place in that list (Rice code, first bit highest), zeros
//! ```
//!
//! A Rice code writes a number's upper bits as that many zeros and a one, then its `k` lowest bits;
//! `k` is whichever makes all of it smallest. Ranks gather around one value, so this takes 2.9 bits a
//! register for many visitors, hardly more than there is to say, and half of the usual six. Bits that are
//! spread badly can't make it more than seven.

mod rice;

use super::{MAX_RANK, REGISTERS, Representation, SPARSE_LIMIT, SPARSE_PRECISION, SparseEntry};
use rice::{RiceReader, RiceWriter};

const SPARSE: u8 = 1;
const DENSE: u8 = 2;

/// With five low bits no place in the list of ranks takes more than seven bits.
const MAX_LOW_BITS: u8 = 5;

pub(super) fn write(form: &Representation) -> Vec<u8> {
    match form {
        Representation::Sparse(entries) => write_sparse(entries),
        Representation::Dense(registers) => write_dense(registers),
    }
}

/// Writing again what was read proves that the bytes are the one way to write it.
pub(super) fn read(bytes: &[u8]) -> Option<Representation> {
    let (&tag, body) = bytes.split_first()?;
    let form = match tag {
        SPARSE => Representation::Sparse(read_sparse(body)?),
        DENSE => Representation::Dense(read_dense(body)?),
        _ => return None,
    };
    (write(&form) == bytes).then_some(form)
}

fn write_sparse(entries: &[SparseEntry]) -> Vec<u8> {
    let mut bytes = vec![SPARSE];
    let mut least = 0;
    for entry in entries {
        write_leb128(&mut bytes, entry.index - least);
        if SparseEntry::rank_of(entry.index).is_none() {
            bytes.push(entry.rank);
        }
        least = entry.index + 1;
    }
    bytes
}

fn read_sparse(mut bytes: &[u8]) -> Option<Vec<SparseEntry>> {
    let mut entries = Vec::new();
    let mut least = 0_u32;
    while !bytes.is_empty() {
        let index = least.checked_add(read_leb128(&mut bytes)?)?;
        let rank = SparseEntry::rank_of(index).or_else(|| {
            let (&rank, rest) = bytes.split_first()?;
            bytes = rest;
            Some(rank).filter(|rank| (13..=MAX_RANK).contains(rank))
        })?;
        if index >> SPARSE_PRECISION != 0 || entries.len() == SPARSE_LIMIT {
            return None;
        }
        entries.push(SparseEntry { index, rank });
        least = index + 1;
    }
    Some(entries)
}

fn write_leb128(bytes: &mut Vec<u8>, mut number: u32) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            return bytes.push(low & 0x7f);
        }
        bytes.push(low | 0x80);
    }
}

/// Four bytes hold every index.
fn read_leb128(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0;
    for shift in [0, 7, 14, 21] {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn write_dense(registers: &[u8]) -> Vec<u8> {
    let ranks = by_frequency(registers);
    let mut places = [0; MAX_RANK as usize + 1];
    for (place, (rank, _)) in (0..).zip(&ranks) {
        places[usize::from(*rank)] = place;
    }
    let low_bits = best_low_bits(&ranks);
    let count = u8::try_from(ranks.len()).unwrap_or(u8::MAX);
    let mut bytes = vec![DENSE, low_bits, count];
    bytes.extend(ranks.iter().map(|(rank, _)| rank));
    let mut bits = RiceWriter::append_to(bytes);
    for &rank in registers {
        bits.push_rice(places[usize::from(rank)], low_bits);
    }
    bits.into_bytes()
}

fn read_dense(bytes: &[u8]) -> Option<Vec<u8>> {
    let (&[low_bits, count], bytes) = bytes.split_first_chunk()?;
    let (ranks, bytes) = bytes.split_at_checked(usize::from(count))?;
    if low_bits > MAX_LOW_BITS || ranks.iter().any(|&rank| rank > MAX_RANK) {
        return None;
    }
    let mut bits = RiceReader::new(bytes);
    (0..REGISTERS).map(|_| ranks.get(bits.next_rice(low_bits)?).copied()).collect()
}

/// The ranks that occur and how often, the most frequent first and the lower first among equals.
fn by_frequency(registers: &[u8]) -> Vec<(u8, u32)> {
    let mut counts = [0; MAX_RANK as usize + 1];
    for &rank in registers {
        counts[usize::from(rank)] += 1;
    }
    let mut ranks: Vec<_> = (0..).zip(counts).filter(|&(_, count)| count > 0).collect();
    ranks.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    ranks
}

fn best_low_bits(ranks: &[(u8, u32)]) -> u8 {
    let cost = |low_bits: &u8| -> u32 {
        let bits = |place: u32| (place >> low_bits) + 1 + u32::from(*low_bits);
        (0..).zip(ranks).map(|(place, (_, count))| bits(place) * count).sum()
    };
    (0..=MAX_LOW_BITS).min_by_key(cost).unwrap_or_default()
}
