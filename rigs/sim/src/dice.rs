//! Chance that can be repeated: everything follows from a seed.

/// A stream of random numbers, for making plans and scripts.
#[derive(Clone, Debug)]
pub struct SeededDice(u64);

impl SeededDice {
    /// The stream of a seed; `what` keeps streams of one seed apart.
    pub fn new(seed: u64, what: &str) -> Self {
        Self(hash(seed, &[what.as_bytes()]))
    }

    /// Another stream that follows from this one.
    pub fn branch(&self, what: &str) -> Self {
        Self(hash(self.0, &[what.as_bytes()]))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    /// A number from `low` to `high`, both included.
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True in so many of a hundred cases.
    pub fn percent(&mut self, n: u64) -> bool {
        self.below(100) < n
    }

    /// Milliseconds over many magnitudes, from a fraction of a second to an hour: what lingers in memory, and what
    /// does not.
    pub fn duration(&mut self) -> u64 {
        spread(self.next())
    }

    /// Milliseconds that most calls do not need.
    pub fn timeout(&mut self) -> u64 {
        let factor = if self.percent(85) { 4_000 } else { 1 };
        self.duration() * factor
    }
}

/// A number that depends only on the seed and the words.
pub fn hash(seed: u64, words: &[&[u8]]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325 ^ mix(seed.wrapping_add(1));
    for word in words {
        for byte in *word {
            sum = (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        // So that "ab", "c" is not "a", "bc".
        sum = mix(sum ^ 0x5e);
    }
    mix(sum)
}

/// A duration out of a random number.
pub fn spread(random: u64) -> u64 {
    let bits = 9 + (random >> 48) % 13;
    1 + (random & 0xffff_ffff) % (1 << bits)
}

fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
