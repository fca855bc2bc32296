//! Dice that fall the same way for the same seed (`SplitMix64`).

/// The dice.
#[derive(Clone, Debug)]
pub(super) struct Random {
    state: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.state;
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (bits ^ bits >> 31) % end
    }

    /// Whether one in so many came up.
    pub(super) fn one_in(&mut self, sides: u64) -> bool {
        self.below(sides) == 0
    }

    /// One of these.
    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_throws() {
        let throws = |seed| {
            let mut random = Random::new(seed);
            (0..100).map(|_| random.below(6)).collect::<Vec<_>>()
        };
        assert_eq!(throws(7), throws(7));
        assert_ne!(throws(7), throws(8));
        assert!((0..6).all(|side| throws(7).contains(&side)));
    }
}
