//! Our backoff and budgets behind tower's own traits, for users of `tower::retry`; and what
//! tower's own refusal means, for our layers above it.
//!
//! Whoever has a `tower::retry::Policy` of their own keeps it and changes the line that makes its
//! parts:
//!
//! ```
//! use tower::retry::Policy;
//! use tower::retry::backoff::{Backoff as _, MakeBackoff as _};
//! use tower::retry::budget::Budget as _;
//! # use std::time::Duration;
//! use steadfast_core::budget::RatioBudget;
//! use steadfast_core::{Backoff, Ratio};
//! use steadfast_retry::tower_compat::{BackoffSession, MakeSession, TowerBudget};
//!
//! #[derive(Clone)]
//! struct Unavailable {
//!     backoff: BackoffSession, // was: ExponentialBackoff
//!     budget: TowerBudget,     // was: Arc<TpsBudget>
//! }
//!
//! impl<Req: Clone, E> Policy<Req, u16, E> for Unavailable {
//!     type Future = tokio::time::Sleep;
//!
//!     fn retry(&mut self, _: &mut Req, result: &mut Result<u16, E>) -> Option<Self::Future> {
//!         match result {
//!             Ok(503) => self.budget.withdraw().then(|| self.backoff.next_backoff()),
//!             _ => {
//!                 self.budget.deposit();
//!                 None
//!             }
//!         }
//!     }
//!
//!     fn clone_request(&mut self, request: &Req) -> Option<Req> {
//!         Some(request.clone())
//!     }
//! }
//!
//! # fn main() -> Result<(), steadfast_core::InvalidRatio> {
//! let backoff = Backoff::default().with_base(Duration::from_millis(100));
//! let policy = Unavailable {
//!     backoff: MakeSession::new(backoff).make_backoff(),
//!     budget: RatioBudget::new(Ratio::percent(15)?).into(),
//! };
//! # let _ = policy;
//! # Ok(())
//! # }
//! ```

mod backoff;
mod budget;
mod classify;

pub use backoff::{BackoffSession, MakeSession};
pub use budget::TowerBudget;
pub use classify::TowerClassify;
