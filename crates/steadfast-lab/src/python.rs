//! CPython's `random.Random`, number for number: so that what is written down with a seed there is
//! found again with the same seed here.

use rand_mt::Mt;

/// A generator that draws exactly as `random.Random(seed)` of CPython 3.2 and later does, in the
/// methods that are here.
///
/// Not for secrets, and not for production: who knows the seed, or 624 numbers, knows them all.
///
/// ```
/// use steadfast_lab::python::PythonRandom;
///
/// // python3 -c 'import random; print(random.Random(42).random())'
/// assert_eq!(PythonRandom::seeded(42).random(), 0.6394267984578837);
/// ```
#[derive(Clone, Debug)]
pub struct PythonRandom(Mt);

impl PythonRandom {
    /// `random.Random(seed)`: the seed's 32-bit words, lowest first, as the key of MT19937.
    pub fn seeded(seed: u64) -> Self {
        let (low, high) = (seed as u32, (seed >> 32) as u32);
        // A leading zero is no word of the number: the key's length counts.
        let words = if high == 0 { 1 } else { 2 };
        Self(Mt::new_with_key([low, high].into_iter().take(words)))
    }

    /// `random()`: 53 bits, in [0, 1).
    pub fn random(&mut self) -> f64 {
        let high = f64::from(self.0.next_u32() >> 5);
        let low = f64::from(self.0.next_u32() >> 6);
        (high * 67_108_864.0 + low) / 9_007_199_254_740_992.0
    }

    /// `uniform(low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.random()
    }

    /// `getrandbits(128)`.
    pub fn bits_128(&mut self) -> u128 {
        // Word for word, lowest first.
        (0..4).fold(0, |bits, word| {
            bits | u128::from(self.0.next_u32()) << (32 * word)
        })
    }

    /// `randrange(n)`; zero, without a draw, where there is nothing to choose from.
    pub fn below(&mut self, n: u32) -> u32 {
        if n == 0 {
            return 0;
        }
        // n.bit_length() bits, until they are below n.
        let spare = n.leading_zeros();
        loop {
            let drawn = self.0.next_u32() >> spare;
            if drawn < n {
                return drawn;
            }
        }
    }

    /// `shuffle(items)`.
    ///
    /// # Panics
    ///
    /// With more items than a `u32` counts.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let n = u32::try_from(i + 1).expect("nothing here holds so many items");
            items.swap(i, self.below(n) as usize);
        }
    }
}
