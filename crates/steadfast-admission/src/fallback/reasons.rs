use std::fmt;

use steadfast_core::Reason;

/// A set of reasons, as one bit for each.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Reasons(u32);

impl Reasons {
    pub(super) const fn contains(self, reason: Reason) -> bool {
        self.0 & bit(reason) != 0
    }
}

impl FromIterator<Reason> for Reasons {
    fn from_iter<I: IntoIterator<Item = Reason>>(reasons: I) -> Self {
        Self(
            reasons
                .into_iter()
                .fold(0, |bits, reason| bits | bit(reason)),
        )
    }
}

const fn bit(reason: Reason) -> u32 {
    1 << reason as u32
}

impl fmt::Debug for Reasons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut set = f.debug_set();
        for reason in Reason::ALL.iter().filter(|reason| self.contains(**reason)) {
            set.entry(&reason.as_str());
        }
        set.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_the_reasons_that_were_put_into_it_and_no_others() {
        for one in Reason::ALL {
            let set = Reasons::from_iter([one, one]);
            for other in Reason::ALL {
                assert_eq!(set.contains(other), other == one, "{one} {other}");
            }
            assert_eq!(format!("{set:?}"), format!("{{\"{one}\"}}"));
        }
        assert!(
            Reason::ALL
                .iter()
                .all(|one| !Reasons::default().contains(*one))
        );
        let all: Reasons = Reason::ALL.into_iter().collect();
        assert!(Reason::ALL.iter().all(|one| all.contains(*one)));
    }
}
