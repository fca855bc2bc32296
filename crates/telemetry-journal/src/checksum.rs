//! The checksum of a frame: folded multiplications, two words each, which do not wait for each other.
//!
//! It tells a whole frame from a torn, stale or flipped one. It costs a few nanoseconds on any
//! processor, without a special instruction to look for; it is no defence against somebody who means
//! harm, from whom the reader is safe by its bounds checks.

const FIRST: u64 = 0xA076_1D64_78BD_642F;
const SECOND: u64 = 0xE703_7ED1_A0B4_28DB;
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

#[inline]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    (product >> 64) as u64 ^ product as u64
}

/// A checksum in the making, two words at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checksum {
    sum: u64,
    salt: u64,
}

impl Checksum {
    #[inline]
    pub(crate) fn new(seed: u64) -> Self {
        Self { sum: seed, salt: FIRST }
    }

    /// Adds the next two words; a last single one is added with a zero behind it.
    #[inline]
    pub(crate) fn with(self, first: u64, second: u64) -> Self {
        let sum = self.sum.wrapping_add(fold(first ^ self.salt, second ^ SECOND));
        Self { sum, salt: self.salt.wrapping_add(STEP) }
    }

    /// The checksum of so many words.
    #[inline]
    pub(crate) fn finish(self, length: usize) -> u32 {
        let mixed = fold(self.sum ^ FIRST, length as u64 ^ STEP);
        (mixed >> 32) as u32 ^ mixed as u32
    }
}

/// The checksum of these words under this seed. Words are taken by index, so that they may be atomics.
#[inline]
pub(crate) fn checksum(seed: u64, length: usize, word: impl Fn(usize) -> u64) -> u32 {
    let mut checksum = Checksum::new(seed);
    let mut index = 0;
    while index + 1 < length {
        checksum = checksum.with(word(index), word(index + 1));
        index += 2;
    }
    if index < length {
        checksum = checksum.with(word(index), 0);
    }
    checksum.finish(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_and_every_swap_shows() {
        let words: Vec<u64> = (0..25).map(|index| index * 0x0123_4567_89AB_CDEF).collect();
        let whole = checksum(7, words.len(), |index| words[index]);
        for bit in 0..words.len() * 64 {
            let mut flipped = words.clone();
            flipped[bit / 64] ^= 1 << (bit % 64);
            assert_ne!(whole, checksum(7, flipped.len(), |index| flipped[index]), "bit {bit}");
        }
        for first in 1..words.len() {
            let mut swapped = words.clone();
            swapped.swap(first - 1, first);
            assert_ne!(whole, checksum(7, swapped.len(), |index| swapped[index]), "words {first}");
        }
        assert_ne!(whole, checksum(8, words.len(), |index| words[index]));
        assert_ne!(whole, checksum(7, words.len() - 1, |index| words[index]));
    }
}
