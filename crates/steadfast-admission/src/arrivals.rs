//! The server's side of one retry owner: counts the retries that arrive, and tells their senders to
//! stop where they are too many.
//!
//! A server that is asked again for what it could not do is kept from ever catching up. It cannot
//! know what its callers' budgets are, but it sees what arrives: above a share of retries it
//! refuses the next one with "do not retry", which clients of ours and of others honour. First
//! attempts always pass.
//!
//! ```
//! use std::convert::Infallible;
//!
//! use http::{Request, Response};
//! use http_body_util::Full;
//! use steadfast_admission::arrivals::{ArrivalsConfig, ArrivalsLayer};
//! use tower::{Layer, ServiceExt, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() {
//! let layer = ArrivalsLayer::new(ArrivalsConfig::default());
//! let server = layer.layer(service_fn(async |_: Request<()>| {
//!     Ok::<_, Infallible>(Response::new(Full::<&[u8]>::default()))
//! }));
//! let request = |attempt: &str| {
//!     Request::get("/").header("steadfast-attempt", attempt).body(()).unwrap()
//! };
//! for _ in 0..15 {
//!     server.clone().oneshot(request("1/3")).await.unwrap();
//! }
//! let mut last = 200;
//! for _ in 0..5 {
//!     last = server.clone().oneshot(request("2/3")).await.unwrap().status().as_u16();
//! }
//! assert_eq!(last, 503, "5 of 20 are more than a fifth");
//! let first = server.oneshot(request("1/3")).await.unwrap();
//! assert_eq!(first.status(), 200);
//! # }
//! ```
//!
//! A mark is believed as far as it can harm: it can make its own request be refused, and a caller
//! who marks many first attempts as later ones can have everybody's retries refused. Where callers
//! are strangers, count only the marks that your own gateway writes
//! ([`ArrivalsConfig::with_marks`]), or stand inside authentication.

mod body;
mod config;
mod future;
mod layer;
mod share;
mod words;

pub use body::ArrivalsBody;
pub use config::{ArrivalsConfig, DEFAULT_MINIMUM, DEFAULT_SHARE, DEFAULT_WINDOW};
pub use future::ArrivalsFuture;
pub use layer::{Arrivals, ArrivalsLayer};
