use super::conflict::conflicts;
use super::{Draft, InvalidPolicy, Profile};

/// What a client's stack does: a [`Draft`] whose parts fit together.
///
/// To change it, take the draft out again:
///
/// ```
/// use std::time::Duration;
/// use steadfast::client::Policy;
///
/// let policy = Policy::default();
/// assert_eq!(policy.as_draft().call_limit(), Duration::from_secs(30));
/// let longer = policy.into_draft().with_call_limit(Duration::from_secs(60)).check()?;
/// assert_eq!(longer.as_draft().call_limit(), Duration::from_secs(60));
/// # Ok::<(), steadfast::client::InvalidPolicy>(())
/// ```
#[derive(Clone, Debug)]
pub struct Policy(Draft);

impl Policy {
    /// What it says.
    pub const fn as_draft(&self) -> &Draft {
        &self.0
    }

    /// The draft it was made of, to change it.
    pub fn into_draft(self) -> Draft {
        self.0
    }
}

impl Default for Policy {
    /// What [`Profile::Default`] says.
    fn default() -> Self {
        Self(Draft::of(Profile::Default))
    }
}

impl TryFrom<Draft> for Policy {
    type Error = InvalidPolicy;

    fn try_from(draft: Draft) -> Result<Self, InvalidPolicy> {
        match InvalidPolicy::of(conflicts(&draft)) {
            Some(invalid) => Err(invalid),
            None => Ok(Self(draft)),
        }
    }
}

impl TryFrom<Profile> for Policy {
    type Error = InvalidPolicy;

    /// A profile that needs nothing more; the payment profile needs a route.
    fn try_from(profile: Profile) -> Result<Self, InvalidPolicy> {
        Draft::of(profile).check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_but_payment_is_a_policy_as_it_stands() {
        for profile in Profile::ALL {
            let policy = Policy::try_from(profile);
            match profile {
                Profile::Payment => {
                    let error = policy.unwrap_err().to_string();
                    assert!(error.contains("no route"), "{error}");
                }
                _ => assert_eq!(policy.unwrap().as_draft().profile(), profile),
            }
        }
    }
}
