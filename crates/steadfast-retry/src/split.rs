//! How the attempts of a call and its budget are divided between the hops that could repeat it.

use std::num::NonZeroU32;

use steadfast_core::{Allowance, Attempt, Owner, Ratio};

/// What of a call's repeats is this layer's, and what is told to the next hop.
///
/// An owner of `max` attempts that leaves `left` of them makes at most `⌊max / left⌋` itself, each
/// of which may become `left` further on; what it leaves of its budget it does not use. A hop that
/// is left a part does the same with that part, so the product over all hops is at most `max`, and
/// the shares of all hops are one whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// Attempts of this layer's own.
    pub(crate) attempts: NonZeroU32,
    /// What it may use of its budget.
    pub(crate) share: Ratio,
    /// Of the first attempt, in the count over all hops.
    place: Attempt,
    leaves: Option<Allowance>,
    upstream: Option<Owner>,
}

impl Split {
    /// Of a call with `max` attempts of its own, of which `upstream` leaves so much to this hop and
    /// this hop `next` to the next one.
    pub(crate) fn of(max: NonZeroU32, upstream: Option<Owner>, next: Option<Allowance>) -> Self {
        let all = Attempt {
            number: 1,
            max: max.get(),
        };
        let left = upstream.and_then(Owner::allowance);
        let (attempts, share) = match left {
            Some(left) => (max.min(left.attempts()), left.share()),
            None => (max, Ratio::ONE),
        };
        let place = upstream.map_or(all, Owner::attempt);
        let leaves = next.and_then(|next| {
            let attempts = next.attempts().min(attempts);
            let next = Allowance::new(attempts, product(share, next.share()));
            // That this is nothing is for an owner to say.
            Owner::from(place).with_allowance(next).allowance()
        });
        let kept = leaves.map_or(share, |next| difference(share, next.share()));
        let own = match leaves {
            _ if kept == Ratio::ZERO => 1,
            Some(next) => attempts.get() / next.attempts(),
            None => attempts.get(),
        };
        Self {
            attempts: NonZeroU32::new(own).unwrap_or(NonZeroU32::MIN),
            share: kept,
            place,
            leaves,
            upstream,
        }
    }

    /// What the mark of this attempt of this layer says.
    pub(crate) fn owner(&self, number: u32) -> Owner {
        let step = self.leaves.map_or(1, |next| next.attempts().get());
        let before = number.saturating_sub(1).saturating_mul(step);
        let Attempt { number, max } = self.place;
        let number = number.saturating_add(before).min(max);
        let owner = Owner::from(Attempt { number, max });
        self.leaves
            .map_or(owner, |leaves| owner.with_allowance(leaves))
    }

    /// Whether the next hop may repeat what this one sends.
    pub(crate) const fn leaves_something(&self) -> bool {
        self.leaves.is_some()
    }

    /// Whose part this is.
    pub(crate) const fn upstream(&self) -> Option<Owner> {
        self.upstream
    }

    /// Whether the call is a repeat already: to a budget it is none that earns another.
    pub(crate) const fn is_repeat(&self) -> bool {
        self.place.number > 1
    }
}

fn product(a: Ratio, b: Ratio) -> Ratio {
    let millionths = u64::from(a.as_millionths()) * u64::from(b.as_millionths()) / 1_000_000;
    Ratio::from_millionths(u32::try_from(millionths).unwrap_or(u32::MAX))
}

fn difference(a: Ratio, b: Ratio) -> Ratio {
    Ratio::from_millionths(a.as_millionths().saturating_sub(b.as_millionths()))
}

#[cfg(test)]
mod tests;
