//! Random keys that are the same in every run, so that a failure can be looked at again.

/// Marsaglia's generator of 64 bits, with the shifts 13, 7 and 17.
pub(crate) struct Xorshift(u64);

impl Xorshift {
    pub(crate) fn new() -> Self {
        Self(0x2545_f491_4f6c_dd1d)
    }

    /// Another sequence for each seed.
    pub(crate) fn seeded(seed: u64) -> Self {
        // Odd factors keep distinct seeds distinct; zero would stay zero.
        Self((seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d).max(1))
    }

    /// A number below `bound`, from the upper bits, which are the better ones.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let upper = usize::try_from(self.0 >> 40).expect("24 bits");
        upper % bound
    }

    pub(crate) fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}
