use std::fmt;
use std::hash::{Hash, Hasher};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{Extensions, HeaderMap, Method, Uri};

use super::Budget;
use super::capped::Capped;
use crate::keyed::{Keyed, hash};
use crate::{DestinationKey, destination};

/// What a call is aimed at, for choosing its budget.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Target<'a> {
    /// Authority without userinfo, else Host, else the name an adapter gave.
    pub destination: Option<&'a str>,
    /// The request's method.
    pub method: &'a Method,
    /// The request's URI.
    pub uri: &'a Uri,
    /// The request's header fields.
    pub headers: &'a HeaderMap,
    /// The request's extensions.
    pub extensions: &'a Extensions,
}

impl<'a> Target<'a> {
    /// The target of a request with this head.
    pub fn of(
        method: &'a Method,
        uri: &'a Uri,
        headers: &'a HeaderMap,
        extensions: &'a Extensions,
    ) -> Self {
        Self {
            destination: destination(uri, headers, extensions),
            method,
            uri,
            headers,
            extensions,
        }
    }

    /// The destination as registries know it.
    fn key(&self) -> DestinationKey<'a> {
        DestinationKey::of(self.uri, self.headers, self.extensions)
    }
}

/// Chooses the budget of a call, once and for all its attempts.
///
/// Implement it with a [`Keyed`] registry for keys of your own, such as tenants.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which budget a call counts against",
    label = "not a `BudgetFor`",
    note = "every `Budget` is one, for all calls alike; `KeyedBudget` has one for each destination"
)]
pub trait BudgetFor: fmt::Debug + Send + Sync + 'static {
    /// The budget of a call to this target that begins now.
    fn budget_for(&self, target: Target<'_>, now: Instant) -> Arc<dyn Budget>;
}

/// A choice that is known at run time only.
impl BudgetFor for Arc<dyn BudgetFor> {
    fn budget_for(&self, target: Target<'_>, now: Instant) -> Arc<dyn Budget> {
        (**self).budget_for(target, now)
    }
}

/// The same budget for every call.
impl BudgetFor for Arc<dyn Budget> {
    fn budget_for(&self, _: Target<'_>, _: Instant) -> Arc<dyn Budget> {
        self.clone()
    }
}

/// A budget of its own for each destination or endpoint, so that one that is down does not
/// spend the retries of the others.
///
/// A value is a handle: clones share all budgets. The budgets live in a [`Keyed`] registry:
/// at most [`max_keys`](Self::max_keys) of them, none kept that was unused for
/// [`idle`](Self::idle). A call keeps the budget it began with. A known key costs no allocation.
///
/// Bound: a fresh budget allows retries to a key that was forgotten. With `calls` of one key in
/// a window and `f` times that it was forgotten within it, a
/// [`RatioBudget`](super::RatioBudget) with ratio `r` and floor `m = ⌈minimum × window⌉`
/// allows that key at most `r × calls + (f + 1) × max(1, m)`. An idle key is forgotten only
/// after the window, if `idle` is longer, and then `f = 0`; otherwise `f` counts evictions, and
/// a key is evicted only when its shard has seen as many other keys since its last use as the
/// shard has places (at least 512, or `max_keys` if that is less). Over all keys of a window,
/// `retries ≤ r × calls + fresh × max(1, m)`, where `fresh` counts the budgets in use: whoever
/// chooses a new key for each call gets a retry for each call. So let keys be chosen by your own
/// code, not by a caller, or put one budget above all keys with
/// [`with_total`](Self::with_total).
///
/// ```
/// use std::time::Duration;
/// use steadfast_core::budget::{KeyedBudget, RatioBudget};
///
/// let budget = KeyedBudget::by_destination(RatioBudget::default);
/// assert_eq!(budget.max_keys().get(), 10_000);
/// assert_eq!(budget.idle(), Duration::from_secs(300));
///
/// let by_route = KeyedBudget::by_endpoint(
///     |target| match target.uri.path() {
///         path if path.starts_with("/charges/") => "/charges/{id}",
///         _ => "other",
///     },
///     RatioBudget::default,
/// );
/// # let _ = by_route;
/// ```
#[derive(Clone)]
pub struct KeyedBudget {
    endpoint: Option<NameOf>,
    make: Arc<dyn Fn() -> Arc<dyn Budget> + Send + Sync>,
    total: Option<Arc<dyn Budget>>,
    budgets: Arc<Keyed<Key, Arc<dyn Budget>>>,
}

/// What a target's endpoint is called.
type NameOf = Arc<dyn Fn(&Target<'_>) -> &'static str + Send + Sync>;

/// A destination and the name of an endpoint there; empty where there is none.
#[derive(PartialEq, Eq)]
struct Key(Box<str>, &'static str);

/// As the destination alone where there is no endpoint.
impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
        if !self.1.is_empty() {
            self.1.hash(state);
        }
    }
}

impl KeyedBudget {
    /// One budget, made by `make`, for each destination; one for all calls that name none.
    pub fn by_destination<B: Budget>(make: impl Fn() -> B + Send + Sync + 'static) -> Self {
        Self::new(None, move || Arc::new(make()))
    }

    /// As [`by_destination`](Self::by_destination), for budgets whose kind is known at run time
    /// only.
    pub fn by_destination_dyn(make: impl Fn() -> Arc<dyn Budget> + Send + Sync + 'static) -> Self {
        Self::new(None, make)
    }

    /// One budget, made by `make`, for each destination and endpoint there.
    ///
    /// `name` must give one name to all targets of an endpoint, as a router's template does; it
    /// is `&'static`, since a path's ids would make a key of every call.
    pub fn by_endpoint<B: Budget>(
        name: impl Fn(&Target<'_>) -> &'static str + Send + Sync + 'static,
        make: impl Fn() -> B + Send + Sync + 'static,
    ) -> Self {
        Self::new(Some(Arc::new(name)), move || Arc::new(make()))
    }

    fn new(
        endpoint: Option<NameOf>,
        make: impl Fn() -> Arc<dyn Budget> + Send + Sync + 'static,
    ) -> Self {
        Self {
            endpoint,
            make: Arc::new(make),
            total: None,
            budgets: Arc::default(),
        }
    }

    /// Sets how many budgets are kept at most. Default:
    /// [`DEFAULT_MAX_KEYS`](crate::keyed::DEFAULT_MAX_KEYS). Starts empty.
    #[must_use]
    pub fn with_max_keys(self, max_keys: NonZeroU32) -> Self {
        let budgets = Keyed::new().with_idle(self.idle()).with_max_keys(max_keys);
        Self {
            budgets: Arc::new(budgets),
            ..self
        }
    }

    /// Sets the time without a call after which a budget is dropped; keep it longer than the
    /// budget's window. Default: [`DEFAULT_IDLE`](crate::keyed::DEFAULT_IDLE). Starts empty.
    #[must_use]
    pub fn with_idle(self, idle: Duration) -> Self {
        let budgets = Keyed::new().with_max_keys(self.max_keys()).with_idle(idle);
        Self {
            budgets: Arc::new(budgets),
            ..self
        }
    }

    /// Sets one budget above those of all keys: a retry needs the leave of both, so its bound
    /// holds whoever chooses the keys. Default: none. Starts empty.
    #[must_use]
    pub fn with_total(self, total: impl Budget) -> Self {
        let budgets = Keyed::new()
            .with_max_keys(self.max_keys())
            .with_idle(self.idle());
        Self {
            total: Some(Arc::new(total)),
            budgets: Arc::new(budgets),
            ..self
        }
    }

    /// How many budgets are kept at most.
    pub fn max_keys(&self) -> NonZeroU32 {
        self.budgets.max_keys()
    }

    /// The time without a call after which a budget is dropped.
    pub fn idle(&self) -> Duration {
        self.budgets.idle()
    }
}

impl BudgetFor for KeyedBudget {
    fn budget_for(&self, target: Target<'_>, now: Instant) -> Arc<dyn Budget> {
        let destination = target.key();
        let name = destination.as_str();
        let endpoint = self.endpoint.as_ref().map_or("", |name| name(&target));
        let hash = match endpoint {
            "" => destination.hash(),
            endpoint => hash::of((name, endpoint)),
        };
        self.budgets.get_or_insert_hashed(
            hash,
            |known| *known.0 == *name && known.1 == endpoint,
            || Key(name.into(), endpoint),
            now,
            || {
                let own = (self.make)();
                match self.total.clone() {
                    Some(total) => Arc::new(Capped { own, total }),
                    None => own,
                }
            },
        )
    }
}

impl fmt::Debug for KeyedBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyedBudget")
            .field("by_endpoint", &self.endpoint.is_some())
            .field("budgets", &self.budgets)
            .finish()
    }
}

#[cfg(test)]
mod tests;
