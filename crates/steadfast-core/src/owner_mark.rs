use std::num::NonZeroU32;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::{Attempt, Ratio, STEADFAST_ATTEMPT};

/// The place that a retry loop further up gave a request, and what that loop leaves to the hops
/// below it.
///
/// ```
/// use std::num::NonZeroU32;
/// use steadfast_core::{Allowance, Attempt, Owner, Ratio};
///
/// let owner = Owner::from(Attempt { number: 3, max: 4 });
/// assert_eq!(owner.allowance(), None, "it repeats the call alone");
///
/// let nine = NonZeroU32::new(9).unwrap();
/// let owner = owner.with_allowance(Allowance::new(nine, Ratio::ONE));
/// let left = owner.allowance().unwrap().attempts();
/// assert_eq!(left.get(), 2, "the third and the fourth");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    attempt: Attempt,
    allowance: Option<Allowance>,
}

impl From<Attempt> for Owner {
    /// An owner that leaves nothing.
    fn from(attempt: Attempt) -> Self {
        Self {
            attempt,
            allowance: None,
        }
    }
}

impl Owner {
    /// Leaves this to the next hop, and at most what of the call's attempts is left with this one.
    /// One attempt is the request itself, so it is nothing to leave, and so is no share.
    #[must_use]
    pub fn with_allowance(mut self, allowance: Allowance) -> Self {
        let Attempt { number, max } = self.attempt;
        let left = max.saturating_sub(number).saturating_add(1);
        let left = NonZeroU32::new(left).unwrap_or(NonZeroU32::MIN);
        let allowance = Allowance {
            attempts: allowance.attempts.min(left),
            ..allowance
        };
        self.allowance = Some(allowance).filter(|allowance| allowance.is_some());
        self
    }

    /// Leaves nothing.
    #[must_use]
    pub const fn without_allowance(mut self) -> Self {
        self.allowance = None;
        self
    }

    /// Which sending of its call the request is, counted over all hops, and how many there are at
    /// most.
    pub const fn attempt(self) -> Attempt {
        self.attempt
    }

    /// What is left to the hops below; `None` where they are to send each call once.
    pub const fn allowance(self) -> Option<Allowance> {
        self.allowance
    }
}

/// What the owner of a call's repeats leaves to the next hop.
///
/// ```
/// use std::num::NonZeroU32;
/// use steadfast_core::{Allowance, Ratio};
///
/// let two = NonZeroU32::new(2).unwrap();
/// let half = Allowance::new(two, Ratio::try_from(0.507)?);
/// assert_eq!((half.attempts(), half.share()), (two, Ratio::percent(50)?));
/// # Ok::<(), steadfast_core::InvalidRatio>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Allowance {
    attempts: NonZeroU32,
    percent: u32,
}

impl Allowance {
    /// So many attempts of each request, the first included, and this share of the budget. The
    /// share is counted in whole percent, rounded down, and at most 100.
    pub const fn new(attempts: NonZeroU32, share: Ratio) -> Self {
        let percent = share.as_millionths() / 10_000;
        Self {
            attempts,
            percent: if percent > 100 { 100 } else { percent },
        }
    }

    /// Attempts of each request, the first included.
    pub const fn attempts(self) -> NonZeroU32 {
        self.attempts
    }

    /// The share of the next hop's own budget.
    pub const fn share(self) -> Ratio {
        Ratio::from_millionths(self.percent * 10_000)
    }

    /// Whether it allows anything beyond the request itself.
    const fn is_some(&self) -> bool {
        self.attempts.get() > 1 && self.percent > 0
    }

    /// `left=L;share=P`, in any order. A parameter of another name is somebody else's.
    fn parse(parameters: &str) -> Option<Self> {
        let (mut left, mut share) = (None, None);
        for parameter in parameters.split(';') {
            let (name, value) = parameter.split_once('=')?;
            let place = match name {
                "left" => &mut left,
                "share" => &mut share,
                _ => continue,
            };
            if place.replace(digits(value)?).is_some() {
                return None;
            }
        }
        Some(Self {
            attempts: NonZeroU32::new(left?)?,
            percent: share.filter(|percent| *percent <= 100)?,
        })
    }
}

/// The header by which the owner of a call's repeats says so to the next hop: `n/max`, and what it
/// leaves to that hop, where it leaves anything: `n/max;left=L;share=P`, attempts and percent.
///
/// It is written only where the call can be repeated, and believed only as configured; who
/// believes it leaves the repeats to its writer, so that loops at several hops do not multiply, or
/// makes no more of them than are left to it. `n` and `max` count the sendings of the call over all
/// hops: 1 is the very first.
///
/// ```
/// use http::{HeaderMap, HeaderValue};
/// use steadfast_core::{Attempt, OwnerMark};
///
/// let mark = OwnerMark::default();
/// assert_eq!(mark.name(), "steadfast-attempt");
/// let mut headers = HeaderMap::new();
/// mark.write(&mut headers, Attempt { number: 1, max: 3 });
/// assert_eq!(headers["steadfast-attempt"], "1/3");
/// assert_eq!(mark.read(&headers), Some(Attempt { number: 1, max: 3 }.into()));
///
/// headers.insert(mark.name(), HeaderValue::from_static("1/4;left=2;share=50"));
/// let allowance = mark.read(&headers).and_then(|owner| owner.allowance()).unwrap();
/// assert_eq!(allowance.attempts().get(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OwnerMark(HeaderName);

impl Default for OwnerMark {
    fn default() -> Self {
        Self(STEADFAST_ATTEMPT)
    }
}

impl OwnerMark {
    /// A mark in this header.
    pub const fn new(name: HeaderName) -> Self {
        Self(name)
    }

    /// The header's name.
    pub const fn name(&self) -> &HeaderName {
        &self.0
    }

    /// What the mark says; `None` where there is none, where there are several, and for anything
    /// but `n/max` with 1 ≤ n ≤ max and what may follow it. Where something follows that cannot be
    /// read, the owner is one that leaves nothing.
    pub fn read(&self, headers: &HeaderMap) -> Option<Owner> {
        let mut lines = headers.get_all(&self.0).iter();
        let (line, None) = (lines.next()?, lines.next()) else {
            return None;
        };
        let text = line.to_str().ok()?;
        let (place, parameters) = match text.split_once(';') {
            Some((place, parameters)) => (place, Some(parameters)),
            None => (text, None),
        };
        let (number, max) = place.split_once('/')?;
        let (number, max) = (digits(number)?, digits(max)?);
        let attempt = (1..=max).contains(&number);
        let owner = Owner::from(attempt.then_some(Attempt { number, max })?);
        Some(match parameters.and_then(Allowance::parse) {
            Some(allowance) => owner.with_allowance(allowance),
            None => owner,
        })
    }

    /// Puts the mark in the place of whatever stood there.
    pub fn write(&self, headers: &mut HeaderMap, owner: impl Into<Owner>) {
        let Owner { attempt, allowance } = owner.into();
        let Attempt { number, max } = attempt;
        let text = match allowance {
            Some(Allowance { attempts, percent }) => {
                format!("{number}/{max};left={attempts};share={percent}")
            }
            None => format!("{number}/{max}"),
        };
        // Such characters are always a header's value.
        if let Ok(value) = HeaderValue::try_from(text) {
            headers.insert(&self.0, value);
        }
    }

    /// Takes every mark away: somebody else's says nothing about this call.
    pub fn remove(&self, headers: &mut HeaderMap) {
        headers.remove(&self.0);
    }
}

/// Unlike `parse`, without a sign.
fn digits(text: &str) -> Option<u32> {
    let all = text.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests;
