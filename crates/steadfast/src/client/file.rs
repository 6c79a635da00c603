//! What a policy looks like in a file, for serde.

use serde::Deserialize;
use steadfast_admission::Scope;

use super::{Draft, Policy, Profile};
use crate::PolicyFileError;
use crate::human::{Text, Time};

mod admission;
mod breaker;
mod budget;
mod deadline;
mod keys;
mod retry;

use admission::{Bulkhead, Cooldown};
use breaker::Breaker;
use budget::Budget;
use deadline::{BodyTimes, Propagation};
use keys::Keys;
use retry::Retry;

/// All that a file may say; what it does not say is the profile's.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    profile: Text<Profile>,
    call_limit: Option<Time>,
    attempt_timeout: Option<Time>,
    destinations: Option<Destinations>,
    keys: Keys,
    retry: Retry,
    budget: Option<Budget>,
    cooldown: Cooldown,
    bulkhead: Bulkhead,
    breaker: Breaker,
    body: BodyTimes,
    propagation: Propagation,
}

/// Whether destinations are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Destinations {
    Each,
    Together,
}

impl Destinations {
    const fn scope(self) -> Scope {
        match self {
            Self::Each => Scope::Destination,
            Self::Together => Scope::Layer,
        }
    }
}

impl File {
    fn draft(self) -> Result<Draft, String> {
        let mut draft = Draft::of(self.profile.0);
        if let Some(Time(limit)) = self.call_limit {
            draft.call_limit = limit;
        }
        if let Some(Time(timeout)) = self.attempt_timeout {
            draft.attempt_timeout = timeout;
        }
        draft.keys = self.keys.said(draft.keys)?;
        draft.retry = self.retry.said(draft.retry)?;
        draft.cooldown = self.cooldown.said(draft.cooldown)?;
        draft.bulkhead = self.bulkhead.said(draft.bulkhead);
        draft.breaker = self.breaker.said(draft.breaker)?;
        draft.body = self.body.said(draft.body);
        draft.propagation = self.propagation.said(draft.propagation);
        if let Some(budget) = self.budget {
            draft.budgets = budget.said()?;
        }
        if let Some(destinations) = self.destinations {
            let scope = destinations.scope();
            draft.cooldown = draft.cooldown.with_scope(scope);
            draft.bulkhead = draft.bulkhead.with_scope(scope);
            draft.breaker = draft.breaker.with_scope(scope);
            draft.budgets = match destinations {
                Destinations::Each => draft.budgets,
                Destinations::Together => draft.budgets.shared(),
            };
        }
        Ok(draft)
    }
}

/// From any format that serde reads; [`Policy::from_toml`] has an example. Times are written for
/// people (`"250ms"`, `"5min"`), shares as `"10%"`. An unknown field, a value that cannot be one,
/// and parts that do not fit together are errors that name them.
impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let draft = File::deserialize(deserializer)?
            .draft()
            .map_err(D::Error::custom)?;
        draft.check().map_err(D::Error::custom)
    }
}

impl Policy {
    /// The policy that a TOML file says.
    ///
    /// # Errors
    ///
    /// Names the line of an unknown field or of a value that cannot be one, or the parts that do
    /// not fit together.
    ///
    /// ```
    /// use std::time::Duration;
    /// use steadfast::client::Policy;
    ///
    /// let policy = Policy::from_toml(
    ///     r#"
    ///     profile = "interactive_write"
    ///     attempt_timeout = "1500ms"
    ///
    ///     [retry]
    ///     backoff_base = "200ms"
    ///
    ///     [budget]
    ///     kind = "ratio"
    ///     ratio = "20%"
    ///
    ///     [breaker]
    ///     failure_rate = "40%"
    ///
    ///     [[keys.routes]]
    ///     destination = "payments.example"
    ///     path = "/charges"
    ///     method = "POST"
    ///     "#,
    /// )?;
    /// assert_eq!(policy.as_draft().attempt_timeout(), Duration::from_millis(1_500));
    ///
    /// let error = Policy::from_toml("attempt_timeout = \"40s\"").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "attempt_timeout is 40s, longer than call_limit, 30s: no attempt ever has its time",
    /// );
    /// # Ok::<(), steadfast::PolicyFileError>(())
    /// ```
    pub fn from_toml(text: &str) -> Result<Self, PolicyFileError> {
        let file: File =
            toml::from_str(text).map_err(|error| PolicyFileError::syntax(text, error))?;
        let draft = file.draft().map_err(PolicyFileError::value)?;
        draft.check().map_err(PolicyFileError::conflict)
    }
}

#[cfg(test)]
mod tests;
