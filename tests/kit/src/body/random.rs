use http::{HeaderMap, HeaderValue};

use super::Piece;

/// What a random body may do beside giving data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Most data frames; some of them are empty. Default: 8.
    pub frames: usize,
    /// Most bytes of a data frame. Default: 64.
    pub bytes: usize,
    /// Whether it may be pending, up to three times in a row. Default: yes.
    pub pauses: bool,
    /// Whether it may end with trailers. Default: yes.
    pub trailers: bool,
    /// Whether it may end with an error. Default: yes.
    pub errors: bool,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            frames: 8,
            bytes: 64,
            pauses: true,
            trailers: true,
            errors: true,
        }
    }
}

impl Schedule {
    /// The pieces of one body: the same for the same seed, wherever and whenever.
    ///
    /// The seed is the whole choice, so a property test needs no strategy but `any::<u64>()`, and
    /// a failure is repeated by its number.
    ///
    /// ```
    /// use steadfast_kit::{Chunks, Schedule};
    ///
    /// let pieces = |seed| format!("{:?}", Schedule::default().pieces(seed));
    /// assert_eq!(pieces(7), pieces(7));
    /// assert!((0..20).any(|seed| pieces(seed) != pieces(7)));
    /// let body = Chunks::new(Schedule::default().pieces(7));
    /// # drop(body);
    /// ```
    pub fn pieces(&self, seed: u64) -> Vec<Piece> {
        let mut draws = Draws(seed);
        let mut pieces = Vec::new();
        for _ in 0..draws.below(self.frames + 1) {
            self.pause(&mut draws, &mut pieces);
            let length = draws.below(self.bytes + 1);
            let bytes = (0..length).map(|_| draws.byte());
            pieces.push(Piece::data(bytes.collect::<Vec<_>>()));
        }
        self.pause(&mut draws, &mut pieces);
        match draws.below(3) {
            1 if self.errors => pieces.push(Piece::fail("the random body failed")),
            2 if self.trailers => {
                let mut trailers = HeaderMap::new();
                trailers.insert("x-random", HeaderValue::from(draws.below(1_000)));
                pieces.push(Piece::Trailers(trailers));
            }
            _ => {}
        }
        pieces
    }

    fn pause(&self, draws: &mut Draws, pieces: &mut Vec<Piece>) {
        if self.pauses {
            pieces.extend((0..draws.below(4)).map(|_| Piece::Pending));
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, and even enough for choices.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is at least 1.
    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }
}
