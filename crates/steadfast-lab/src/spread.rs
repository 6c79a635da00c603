//! Mean and spread over many seeds, so that one lucky seed claims nothing.

/// What many runs of the same thing say together.
///
/// ```
/// use steadfast_lab::spread::Spread;
///
/// let spread = Spread::of([2.0, 4.0, 9.0]).unwrap();
/// assert_eq!((spread.mean, spread.least, spread.most), (5.0, 2.0, 9.0));
/// assert!(Spread::of([]).is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The arithmetic mean.
    pub mean: f64,
    /// The sample's standard deviation; zero for one value.
    pub deviation: f64,
    /// The least value.
    pub least: f64,
    /// The largest.
    pub most: f64,
}

impl Spread {
    /// Of no values there is none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        // Welford's way: one pass, and no difference of large sums.
        let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            count += 1.0;
            let off = value - mean;
            mean += off / count;
            squares += off * (value - mean);
            least = value.min(least);
            most = value.max(most);
        }
        (count > 0.0).then(|| Self {
            mean,
            deviation: if count > 1.0 {
                f64::sqrt(squares / (count - 1.0))
            } else {
                0.0
            },
            least,
            most,
        })
    }
}
