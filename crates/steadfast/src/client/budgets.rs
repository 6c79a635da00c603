use std::fmt;
use std::sync::Arc;

use steadfast_core::Budget;
use steadfast_core::budget::{BudgetFor, KeyedBudget};
use steadfast_retry::RetryConfig;

use super::BudgetKind;

/// What caps the retries of a client in aggregate.
///
/// ```
/// use std::sync::Arc;
/// use steadfast::Budget;
/// use steadfast::budget::RatioBudget;
/// use steadfast::client::{BudgetKind, Budgets};
///
/// assert_eq!(Budgets::default(), Budgets::PerDestination(BudgetKind::default()));
///
/// // One budget for several stacks.
/// let shared: Arc<dyn Budget> = Arc::new(RatioBudget::default());
/// let (one, other) = (Budgets::handle(shared.clone()), Budgets::handle(shared));
/// # let _ = (one, other);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum Budgets {
    /// One for each destination, so that one that is down does not spend the retries of the
    /// others. The default.
    PerDestination(BudgetKind),
    /// One for all destinations, which spares the lookup.
    Shared(BudgetKind),
    /// A choice of your own: a budget shared with other stacks, or one by another key.
    Handle(Arc<dyn BudgetFor>),
}

/// Budgets with their counts.
#[derive(Clone, Debug)]
pub(super) enum MadeBudgets {
    One(Arc<dyn Budget>),
    Chosen(Arc<dyn BudgetFor>),
}

impl Budgets {
    /// A choice of your own.
    pub fn handle(choice: impl BudgetFor) -> Self {
        Self::Handle(Arc::new(choice))
    }

    /// What kind they are, where that is known.
    pub const fn kind(&self) -> Option<&BudgetKind> {
        match self {
            Self::PerDestination(kind) | Self::Shared(kind) => Some(kind),
            Self::Handle(_) => None,
        }
    }

    /// One for all destinations; a choice of your own stays what it is.
    #[must_use]
    pub fn shared(self) -> Self {
        match self {
            Self::PerDestination(kind) => Self::Shared(kind),
            other => other,
        }
    }

    pub(super) fn make(&self) -> MadeBudgets {
        match self {
            &Self::PerDestination(kind) => {
                let keyed = KeyedBudget::by_destination_dyn(move || kind.make());
                MadeBudgets::Chosen(Arc::new(keyed))
            }
            Self::Shared(kind) => MadeBudgets::One(kind.make()),
            Self::Handle(choice) => MadeBudgets::Chosen(choice.clone()),
        }
    }
}

impl MadeBudgets {
    /// The config with these in the place of its own.
    pub(super) fn cap(self, retry: RetryConfig) -> RetryConfig {
        match self {
            Self::One(one) => retry.with_budget(one),
            Self::Chosen(choice) => retry.with_budget_for(choice),
        }
    }
}

impl Default for Budgets {
    fn default() -> Self {
        Self::PerDestination(BudgetKind::default())
    }
}

/// Two handles are equal if they are the same choice.
impl PartialEq for Budgets {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::PerDestination(one), Self::PerDestination(other))
            | (Self::Shared(one), Self::Shared(other)) => one == other,
            (Self::Handle(one), Self::Handle(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl fmt::Debug for Budgets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerDestination(kind) => f.debug_tuple("PerDestination").field(kind).finish(),
            Self::Shared(kind) => f.debug_tuple("Shared").field(kind).finish(),
            Self::Handle(choice) => f.debug_tuple("Handle").field(choice).finish(),
        }
    }
}
