//! The bulkhead: at most so many calls at once to one destination, so that one that hangs does
//! not take every connection, task and byte of its callers with it.
//!
//! ```
//! use std::convert::Infallible;
//! use std::num::NonZeroU32;
//!
//! use http::{Request, Response};
//! use http_body_util::Full;
//! use steadfast_admission::BulkheadLayer;
//! use steadfast_admission::bulkhead::BulkheadConfig;
//! use steadfast_core::{Reason, Rejected};
//! use tower::{Layer, ServiceExt, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let one = BulkheadConfig::new().with_limit(NonZeroU32::MIN);
//! let layer = BulkheadLayer::new(one);
//! let service = layer.layer(service_fn(async |_: Request<()>| {
//!     Ok::<_, Infallible>(Response::new(Full::<&[u8]>::from("ok".as_bytes())))
//! }));
//!
//! let request = || Request::get("http://ledger.example/").body(()).unwrap();
//! // In flight up to the end of the answer's body.
//! let first = service.clone().oneshot(request()).await.unwrap();
//! assert_eq!(layer.handle().in_flight("ledger.example"), 1);
//! let refused = service.clone().oneshot(request()).await.unwrap_err();
//! assert_eq!(Rejected::find(&*refused).unwrap().reason(), Reason::BulkheadFull);
//! drop(first);
//! assert!(service.oneshot(request()).await.is_ok());
//! # }
//! ```
//!
//! A call takes its place in `call`. It gives it back when it has failed or was dropped, or once
//! the body of its answer has ended, has failed or was dropped: exactly once. Where all places
//! are taken a call is refused, or waits in a queue if [`BulkheadConfig::with_max_wait`] allows
//! that: critical calls first, then normal ones, then those that may be shed, and by arrival
//! among these. It waits without holding the inner service ready, and gets a fresh clone ready
//! once it has its place. The wait ends early where the call's deadline comes first.
//!
//! What follows an upgrade (101, or a 2xx to CONNECT) is no body: such a call gives its place back
//! as any other does, with the body of its answer, while the tunnel goes on.

use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use steadfast_core::order::enter_telling;
use steadfast_core::{BoxError, CallContext, CallState, Criticality, Deadline, LayerKind, Reason};
use tower_service::Service;

mod body;
mod config;
mod future;
mod gate;
mod gates;
mod handle;
mod layer;
mod machine;
mod shared;
mod shares;
mod waiting;

pub use body::BulkheadBody;
pub use config::{
    BulkheadConfig, DEFAULT_LIMIT, DEFAULT_MAX_QUEUE, DEFAULT_MAX_WAIT, DEFAULT_RESERVE,
};
pub use future::BulkheadFuture;
pub use handle::BulkheadHandle;
pub use layer::BulkheadLayer;

use gate::{Arrived, Gate, Permit};
use shared::Shared;
use waiting::Waiting;

/// A service that has at most so many calls in flight to one destination; see the
/// [module's page](self).
///
/// Clones share the places.
#[derive(Clone, Debug)]
pub struct Bulkhead<S> {
    inner: S,
    shared: Arc<Shared>,
}

impl<S> Bulkhead<S> {
    /// The service inside.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }
}

/// What is known of a call besides its request.
#[derive(Clone, Copy)]
struct Ask {
    deadline: Deadline,
    criticality: Criticality,
}

impl Ask {
    #[inline]
    fn of<B>(request: &Request<B>) -> Self {
        let (served_until, criticality) = CallContext::current_deadline_and_criticality();
        let stated =
            CallState::of(request.extensions()).map_or(Deadline::NONE, CallState::deadline);
        Self {
            deadline: stated.earliest(served_until),
            criticality,
        }
    }
}

impl<S, B, R> Service<Request<B>> for Bulkhead<S>
where
    S: Service<Request<B>, Response = Response<R>, Error: Into<BoxError>> + Clone,
    R: Body,
{
    type Response = Response<BulkheadBody<R>>;
    type Error = BoxError;
    type Future = BulkheadFuture<S, S::Future, B>;

    /// Only the inner service's readiness: which destination a call is for is known in `call`.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    #[inline(never)]
    fn call(&mut self, request: Request<B>) -> Self::Future {
        if self.shared.config().acts.is_off() {
            return send(&mut self.inner, request, &mut None);
        }
        let ask = Ask::of(&request);
        match self.shared.gates.of(&request).enter(ask.criticality) {
            Ok(permit) => self.hand_on(request, Some(permit)),
            Err(gate) => self.find_no_place(request, gate, ask),
        }
    }
}

impl<S> Bulkhead<S> {
    #[inline]
    fn hand_on<B>(
        &mut self,
        request: Request<B>,
        mut permit: Option<Permit>,
    ) -> BulkheadFuture<S, S::Future, B>
    where
        S: Service<Request<B>>,
    {
        let (observer, told) = (self.shared.config().observer(), self.shared.misordered());
        let _passing = enter_telling(LayerKind::Bulkhead, observer, told);
        send(&mut self.inner, request, &mut permit)
    }
}

/// In a function of its own that owns nothing besides, so that the inner future, which may be
/// large, is made where it stays: what has to be dropped on a panic makes the compiler move it.
#[inline(never)]
fn send<S, B>(
    inner: &mut S,
    request: Request<B>,
    permit: &mut Option<Permit>,
) -> BulkheadFuture<S, S::Future, B>
where
    S: Service<Request<B>>,
{
    BulkheadFuture::calling(inner.call(request), permit)
}

impl<S: Clone> Bulkhead<S> {
    #[cold]
    fn find_no_place<B>(
        &mut self,
        request: Request<B>,
        gate: Arc<Gate>,
        ask: Ask,
    ) -> BulkheadFuture<S, S::Future, B>
    where
        S: Service<Request<B>>,
    {
        if !self.shared.config().acts.is_enforced() {
            self.shared.tell(&request, Reason::BulkheadFull);
            return self.hand_on(request, None);
        }
        if let Some(until) = self.shared.may_wait(ask.deadline) {
            match gate.arrive(ask.criticality) {
                Arrived::Entered(permit) => {
                    return self.hand_on(request, Some(permit));
                }
                Arrived::Queued(queued) => {
                    self.let_go();
                    let service = self.inner.clone();
                    let shared = self.shared.clone();
                    let deadline = ask.deadline;
                    let waiting = Waiting::new(service, request, queued, until, deadline, shared);
                    return BulkheadFuture::waiting(waiting);
                }
                Arrived::Full => {}
            }
        }
        self.shared.tell(&request, Reason::BulkheadFull);
        self.let_go();
        BulkheadFuture::refused()
    }

    /// Drops the instance that was readied and will not be called: what it reserved is for others.
    fn let_go(&mut self) {
        let fresh = self.inner.clone();
        drop(std::mem::replace(&mut self.inner, fresh));
    }
}
