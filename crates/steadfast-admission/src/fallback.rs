//! The fallback: an answer of one's own where a call ended for a chosen reason.
//!
//! ```
//! use std::convert::Infallible;
//!
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_body_util::{BodyExt, Full};
//! use steadfast_admission::FallbackLayer;
//! use steadfast_admission::fallback::FellBackFrom;
//! use steadfast_core::{BoxError, Reason, Rejected};
//! use tower::{Layer, ServiceExt, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let none_to_show = |_: &steadfast_admission::fallback::Fell<'_>| {
//!     Response::new(Bytes::from_static(b"{\"recommended\":[]}"))
//! };
//! let layer = FallbackLayer::new([Reason::CircuitOpen, Reason::BulkheadFull], none_to_show);
//! let service = layer.layer(service_fn(async |_: Request<()>| {
//!     Err::<Response<Full<Bytes>>, BoxError>(Rejected::new(Reason::CircuitOpen).into())
//! }));
//!
//! let answer = service.oneshot(Request::new(())).await.unwrap();
//! assert_eq!(answer.extensions().get(), Some(&FellBackFrom(Reason::CircuitOpen)));
//! let body = answer.into_body().collect().await.unwrap().to_bytes();
//! assert_eq!(body, "{\"recommended\":[]}");
//! # }
//! ```
//!
//! It stands outermost, where a call has come to its end. The reason of an error is the one of the
//! report in its [`Failure`](steadfast_core::Failure), else of the first
//! [`Rejected`](steadfast_core::Rejected) in its source chain. An error with neither, one of
//! another reason, and an inner service that fails to get ready pass unchanged, and so does every
//! answer of the peer unless [`FallbackLayer::with_answers`] says otherwise.
//!
//! It never hides the reason: the extensions of its answer hold [`FellBackFrom`], and the
//! [`Report`](steadfast_core::Report) of the call where there was one. Whether a call that was
//! answered so took effect is in there, and nowhere else.
//!
//! # Cancellation
//!
//! A call holds nothing that must be given back. The function runs only when the call has ended.
//!
//! # Anti-patterns
//!
//! - *A fallback for writes that pretends success.* The write may have happened or not; whoever
//!   reads a 200 believes it did. Choose reasons and routes where nothing is claimed, or look at
//!   [`Fell::method`] and say 503.
//! - *A fallback that calls another service.* The function cannot wait, on purpose: a second
//!   dependency needs a stack of its own, with its own deadline, budget and breaker, and the
//!   caller chooses between the two by the error.
//! - *Caching fallbacks.* A cache outside of this layer keeps the stand-in after the dependency has
//!   come back: give the answer `cache-control: no-store`, or look for [`FellBackFrom`] first.
//! - *A fallback for everything.* With every reason chosen nobody sees a bug: leave
//!   [`Reason::NotRetryable`] and [`Reason::Unprotected`] alone.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use steadfast_core::order::enter;
use steadfast_core::{BoxError, LayerKind, Reason};
use tower_service::Service;

use crate::told::Told;

mod body;
mod fell;
mod future;
mod layer;
mod reasons;

pub use body::FallbackBody;
pub use fell::Fell;
pub use future::FallbackFuture;
pub use layer::FallbackLayer;

/// In the extensions of an answer: it is a fallback's, and this is why the call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FellBackFrom(pub Reason);

/// A service whose failures for chosen reasons are answered; see the [module's page](self).
#[derive(Debug)]
pub struct Fallback<S, F> {
    inner: S,
    layer: Arc<FallbackLayer<F>>,
}

impl<S: Clone, F> Clone for Fallback<S, F> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            layer: self.layer.clone(),
        }
    }
}

impl<S, F> Fallback<S, F> {
    /// The service inside.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }
}

impl<S, F, B, R> Service<Request<B>> for Fallback<S, F>
where
    S: Service<Request<B>, Response = Response<R>, Error: Into<BoxError>>,
    F: Fn(&Fell<'_>) -> Response<Bytes>,
{
    type Response = Response<FallbackBody<R>>;
    type Error = BoxError;
    type Future = FallbackFuture<S::Future, F>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    #[inline]
    fn call(&mut self, request: Request<B>) -> Self::Future {
        let told = match self.layer.is_observed() {
            true => Told::of(&request),
            false => Told::method_of(&request),
        };
        let entered = enter(LayerKind::Fallback);
        let call = self.inner.call(request);
        self.layer.tell_order(entered);
        FallbackFuture::new(call, self.layer.clone(), told)
    }
}
