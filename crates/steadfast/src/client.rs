//! The client stack, whole and in its right order: one key per call, repeats within a budget, hosts
//! left alone that want to be or that fail, a time for each call, attempt and silence, and the next
//! hop told of it.
//!
//! ```
//! use bytes::Bytes;
//! use http::Request;
//! use http_body_util::Full;
//! use hyper_util::{client::legacy::Client, rt::TokioExecutor};
//! use steadfast::client::{Draft, Profile, StandardLayer};
//! use steadfast::idempotency::client::Routes;
//! use tower::{Layer, ServiceExt};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! let policy = Draft::of(Profile::InteractiveWrite)
//!     // Where keys are honoured: a repeated POST is safe there, and nowhere else.
//!     .with_key_routes(Routes::new().post("payments.example", "/charges")?)
//!     .check()?;
//! let layer = StandardLayer::new(policy);
//! let client = layer.layer(Client::builder(TokioExecutor::new()).build_http());
//!
//! let charge = Request::post("http://payments.example/charges")
//!     .body(Full::<Bytes>::from(r#"{"cents": 2000}"#))?;
//! # if false {
//! let answer = client.oneshot(charge).await?;
//! # let _ = answer;
//! # }
//! # Ok(())
//! # }
//! ```
//!
//! # What stands where
//!
//! Outer to inner: call limit → key → retry with its budget → cooldown → bulkhead → breaker →
//! attempt timeout → body timeout → propagation → the service. Each is the layer of its own crate;
//! a part of the policy that is off does nothing, and the type stays the same. The inner service
//! is given requests whose body is a [`ReplayBody`](crate::retry::ReplayBody).
//!
//! # State
//!
//! Budgets, pauses, places and circuits are kept for each destination: the URI's authority, else
//! `Host`, else the name that an adapter gave. At most 10,000 of them are remembered. They belong
//! to the [`StandardLayer`]'s value, whose clones and services share them; its [`StandardHandle`]
//! shows them, sets them by hand, and replaces the policy while services go on.

mod body;
mod budget_kind;
mod budgets;
mod conflict;
mod draft;
#[cfg(feature = "toml")]
mod file;
mod future;
mod handle;
mod layer;
mod policy;
mod profile;
mod service;
mod shared;
mod stack;
mod tools;

pub use body::ResponseBody;
pub use budget_kind::BudgetKind;
pub use budgets::Budgets;
pub use conflict::{Conflict, InvalidPolicy};
pub use draft::Draft;
pub use future::StandardFuture;
pub use handle::StandardHandle;
pub use layer::StandardLayer;
pub use policy::Policy;
pub use profile::{Profile, UnknownProfile};
pub use service::Standard;
