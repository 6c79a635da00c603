//! The server stack, whole and in its right order: retries that are too many are told to stop,
//! and nobody works for a caller whose time is over.
//!
//! ```
//! use std::time::Duration;
//!
//! use axum::{Router, routing::get};
//! use steadfast::server::{Draft, StandardLayer};
//!
//! let policy = Draft::new().with_maximum(Duration::from_secs(20)).check()?;
//! let app: Router = Router::new()
//!     .route("/reports", get(async || "done"))
//!     .layer(StandardLayer::new(policy));
//! # let _ = app;
//! # Ok::<(), steadfast::server::InvalidPolicy>(())
//! ```
//!
//! # What stands where
//!
//! Outer to inner: context and deadline → arrivals → the service. What is refused is answered, with
//! 503 and 504, or as the caller's protocol says it; errors of the service pass unchanged.
//!
//! The idempotency layer is not among them: it needs to know who calls, so it stands inside
//! authentication, as a route layer where effects are. Limits of your own, such as a bulkhead,
//! stand inside the stack, so that who is told to stop takes no place.
//!
//! # State
//!
//! The count of arrivals belongs to the [`StandardLayer`]'s value: its clones, and every service
//! that it makes, share it. An [`StandardHandle`] replaces the policy while services go on.

mod body;
mod draft;
#[cfg(feature = "toml")]
mod file;
mod future;
mod handle;
mod invalid;
mod layer;
mod service;
mod shared;

pub use body::ResponseBody;
pub use draft::{Draft, Policy};
pub use future::StandardFuture;
pub use handle::StandardHandle;
pub use invalid::{Conflict, InvalidPolicy};
pub use layer::StandardLayer;
pub use service::Standard;
