/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Second by second, from the first.
    pub seconds: Vec<Second>,
    /// The share of calls that succeeded, of those that began before the trigger.
    pub before: f64,
    /// Of those that began during it.
    pub during: f64,
    /// Of those that began in the last 20 seconds.
    pub after: f64,
    /// Seconds after the trigger's end from which on 95% of the calls of each second succeed.
    pub recovered_after: Option<u32>,
    /// Attempts for each call.
    pub attempts_per_call: f64,
    /// The most attempts for each call in a second after the trigger began.
    pub worst_attempts_per_call: f64,
    /// The share of the server's work that helped nobody.
    pub wasted: f64,
    /// Of calls that succeeded in the last 20 seconds.
    pub latency: Option<Latency>,
}

/// One second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Second {
    /// Calls that began.
    pub calls: u64,
    /// Of these, those that succeeded in the end.
    pub good: u64,
    /// Attempts that were sent.
    pub attempts: u64,
    /// Requests that waited or were worked on at its end.
    pub queue: u64,
    /// Median latency of those that succeeded, by when they began, in milliseconds.
    pub median_ms: Option<u64>,
}

/// How long calls took, waits included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Half of them took no longer.
    pub median_ms: u64,
    /// 99% of them took no longer.
    pub p99_ms: u64,
}

impl Latency {
    pub(super) fn of(millis: &mut [u64]) -> Option<Self> {
        millis.sort_unstable();
        let at = |percent: usize| millis.get((millis.len() * percent).div_ceil(100).max(1) - 1);
        Some(Self {
            median_ms: *at(50)?,
            p99_ms: *at(99)?,
        })
    }
}
