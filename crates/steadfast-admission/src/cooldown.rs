//! The cooldown: when a host says when to come back, every caller of this process keeps to it,
//! not only the one that was told.
//!
//! ```
//! use std::convert::Infallible;
//! use std::time::Duration;
//!
//! use http::{Request, Response};
//! use steadfast_admission::CooldownLayer;
//! use steadfast_core::{Reason, Rejected};
//! use tower::{Layer, ServiceExt, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() {
//! let layer = CooldownLayer::default();
//! let service = layer.layer(service_fn(async |_: Request<()>| {
//!     let busy = Response::builder().status(429).header("retry-after", "2");
//!     Ok::<_, Infallible>(busy.body(()).unwrap())
//! }));
//!
//! let request = |host| Request::get(format!("http://{host}/")).body(()).unwrap();
//! // The answer that says so passes unchanged.
//! let told = service.clone().oneshot(request("a.example")).await.unwrap();
//! assert_eq!(told.headers()["retry-after"], "2");
//!
//! let refused = service.clone().oneshot(request("a.example")).await.unwrap_err();
//! let rejected = Rejected::find(&*refused).unwrap();
//! assert_eq!(rejected.reason(), Reason::Cooldown);
//! assert_eq!(rejected.retry_in(), Some(Duration::from_secs(2)));
//!
//! assert!(service.oneshot(request("b.example")).await.is_ok(), "it was not meant");
//! layer.handle().clear("a.example");
//! assert_eq!(layer.handle().remaining("a.example"), None);
//! # }
//! ```
//!
//! # What is heard
//!
//! The head of an answer with one of the [declared statuses](CooldownConfig::with_statuses), 429
//! and 503 by default. If a layer below has left a [`Hint`](steadfast_core::Hint) in the answer's
//! extensions, that is the host's word; else `Retry-After` (RFC 9110 §10.2.3) and what
//! [`Hints`](steadfast_core::Hints) reads besides. The pause begins when the head arrives. It lasts
//! as long as the host asked, and never longer; beyond [`CooldownConfig::max`] it is cut. A later
//! hint that ends later extends it, and one that ends earlier does not shorten it. Zero, a date
//! that has passed and what cannot be read change nothing.
//!
//! gRPC's pushback ([`Hint::Exactly`](steadfast_core::Hint::Exactly)) and "do not come back"
//! ([`Hint::Stop`](steadfast_core::Hint::Stop)) are about one call and not about the host: no other
//! call is stopped by them. Errors say nothing, refusals of the layers below included.
//!
//! # What is refused
//!
//! Every call that begins before the end, with an error that holds
//! [`Rejected`](steadfast_core::Rejected) of [`Reason::Cooldown`](steadfast_core::Reason::Cooldown)
//! and of the time that is left. The inner service is not called; calls that are under way go on.
//! After the end calls pass, all of them at once: there is no probing. Whoever waits for the end
//! should spread, as the retry layer's backoff does.
//!
//! While no pause is on, a call costs the lookup of its destination; with
//! [`Scope::Layer`](crate::Scope::Layer) it reads one atomic, and no clock.
//!
//! # Cancellation
//!
//! A call holds nothing that must be given back. Dropped before the head of its answer it leaves
//! everything as it was; a pause stays once it has begun.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use steadfast_core::order::enter_telling;
use steadfast_core::{BoxError, LayerKind};
use tower_service::Service;

mod config;
mod future;
mod handle;
mod layer;
mod pause;
mod shared;

pub use config::{CooldownConfig, DEFAULT_MAX, DEFAULT_STATUSES};
pub use future::CooldownFuture;
pub use handle::CooldownHandle;
pub use layer::CooldownLayer;

use future::Heard;
use shared::Shared;

/// A service whose hosts are left alone while they want to be; see the [module's page](self).
///
/// Clones share the pauses.
#[derive(Clone, Debug)]
pub struct Cooldown<S> {
    inner: S,
    shared: Arc<Shared>,
}

impl<S> Cooldown<S> {
    /// The service inside.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }
}

impl<S, B, R> Service<Request<B>> for Cooldown<S>
where
    S: Service<Request<B>, Response = Response<R>, Error: Into<BoxError>> + Clone,
{
    type Response = Response<R>;
    type Error = BoxError;
    type Future = CooldownFuture<S::Future>;

    /// Only the inner service's readiness: which destination a call is for is known in `call`.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    #[inline(never)]
    fn call(&mut self, request: Request<B>) -> Self::Future {
        if self.shared.config().acts.is_off() {
            return send(&mut self.inner, request, &mut None);
        }
        let (pause, rest) = self.shared.of(&request);
        if let Some(rest) = rest {
            self.shared.tell_refused(&request, rest);
            if self.shared.config().acts.is_enforced() {
                return self.refuse(rest);
            }
        }
        let mut heard = Some(Heard {
            shared: self.shared.clone(),
            pause,
            told: self.shared.told(&request),
        });
        let (observer, told) = (self.shared.config().observer(), self.shared.misordered());
        let _passing = enter_telling(LayerKind::Cooldown, observer, told);
        send(&mut self.inner, request, &mut heard)
    }
}

/// In a function of its own that owns nothing besides, so that the inner future, which may be
/// large, is made where it stays: what has to be dropped on a panic makes the compiler move it.
#[inline(never)]
fn send<S, B>(
    inner: &mut S,
    request: Request<B>,
    heard: &mut Option<Heard>,
) -> CooldownFuture<S::Future>
where
    S: Service<Request<B>>,
{
    CooldownFuture::calling(inner.call(request), heard)
}

impl<S: Clone> Cooldown<S> {
    #[cold]
    fn refuse<F>(&mut self, rest: Duration) -> CooldownFuture<F> {
        // The instance that was readied will not be called: what it reserved is for others.
        let fresh = self.inner.clone();
        drop(std::mem::replace(&mut self.inner, fresh));
        CooldownFuture::refused(rest)
    }
}
