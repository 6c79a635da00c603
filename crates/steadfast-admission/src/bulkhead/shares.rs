//! How much of a limit is there for a call that matters so much?

use steadfast_core::{Criticality, Ratio};

/// The part of a limit up to which calls of each criticality find room. A less critical call
/// never has more than a more critical one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shares {
    critical: u32,
    normal: u32,
    sheddable: u32,
}

impl Shares {
    /// Nothing for anybody.
    pub(super) const NONE: Self = Self {
        critical: 0,
        normal: 0,
        sheddable: 0,
    };

    /// More than there can be for everybody.
    pub(super) const ALL: Self = Self {
        critical: u32::MAX,
        normal: u32::MAX,
        sheddable: u32::MAX,
    };

    /// All of the limit for critical calls, all but the reserve for normal ones, half of that for
    /// those that may be shed.
    pub(super) fn of(limit: u32, reserve: Ratio) -> Self {
        // Rounded down: a reserve takes nothing from a limit that is too small to share.
        let reserved =
            u64::from(limit) * u64::from(reserve.min(Ratio::ONE).as_millionths()) / 1_000_000;
        let normal = limit - reserved as u32;
        Self {
            critical: limit,
            normal,
            // Rounded up: where one call at a time is let through, it may be any.
            sheddable: normal.div_ceil(2),
        }
    }

    /// Both together.
    pub(super) const fn plus(self, other: Self) -> Self {
        Self {
            critical: self.critical.saturating_add(other.critical),
            normal: self.normal.saturating_add(other.normal),
            sheddable: self.sheddable.saturating_add(other.sheddable),
        }
    }

    #[inline]
    pub(super) const fn open_to(self, criticality: Criticality) -> u32 {
        match criticality {
            Criticality::Critical => self.critical,
            Criticality::Normal => self.normal,
            Criticality::Sheddable => self.sheddable,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_reserve_is_for_critical_calls_and_half_of_the_rest_for_sheddable_ones() {
        for (limit, percent, normal, sheddable) in [
            (100, 0, 100, 50),
            (100, 20, 80, 40),
            (100, 100, 0, 0),
            (100, 300, 0, 0),
            (10, 15, 9, 5),
            (1, 0, 1, 1),
            (1, 99, 1, 1),
            (0, 0, 0, 0),
            (u32::MAX, 0, u32::MAX, 1 << 31),
        ] {
            let shares = Shares::of(limit, Ratio::percent(percent).unwrap());
            let want = Shares {
                critical: limit,
                normal,
                sheddable,
            };
            assert_eq!(shares, want, "{limit} with {percent}% in reserve");
        }
    }

    proptest! {
        #[test]
        fn who_matters_less_never_has_more(limit: u32, reserve: u32) {
            let shares = Shares::of(limit, Ratio::from_millionths(reserve));
            prop_assert_eq!(shares.critical, limit);
            prop_assert!(shares.normal <= shares.critical);
            prop_assert!(shares.sheddable <= shares.normal);
        }
    }
}
