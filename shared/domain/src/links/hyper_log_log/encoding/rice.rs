//! Rice codes in a row of bits, the highest bit of each byte first.

pub(super) struct RiceWriter {
    bytes: Vec<u8>,
    /// How many bits of the last byte are still free.
    free: u32,
}

impl RiceWriter {
    /// Begins with a new byte after those that are there.
    pub(super) const fn append_to(bytes: Vec<u8>) -> Self {
        Self { bytes, free: 0 }
    }

    pub(super) fn push_rice(&mut self, number: u8, low_bits: u8) {
        (0..number >> low_bits).for_each(|_| self.push(0));
        self.push(1);
        (0..low_bits).rev().for_each(|bit| self.push((number >> bit) & 1));
    }

    /// The bits that are left free are zero.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn push(&mut self, bit: u8) {
        if self.free == 0 {
            self.bytes.push(0);
            self.free = u8::BITS;
        }
        self.free -= 1;
        if let Some(last) = self.bytes.last_mut() {
            *last |= bit << self.free;
        }
    }
}

pub(super) struct RiceReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> RiceReader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// `None` once the bits run out.
    pub(super) fn next_rice(&mut self, low_bits: u8) -> Option<usize> {
        let mut number = 0;
        while self.next()? == 0 {
            number += 1;
        }
        for _ in 0..low_bits {
            number = number << 1 | usize::from(self.next()?);
        }
        Some(number)
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at / 8)?;
        let bit = (byte >> (7 - self.at % 8)) & 1;
        self.at += 1;
        Some(bit)
    }
}
