use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use steadfast_core::order::enter_telling;
use steadfast_core::{BoxError, LayerKind, Reason, Rejected};
use tower_service::Service;

use super::circuit::Refused;
use super::circuits::Circuits;
use super::ticket::Ticket;
use super::{BreakerBody, BreakerFuture};

/// A service whose calls a circuit lets through or refuses; see the [crate's page](crate).
#[derive(Clone, Debug)]
pub struct Breaker<S> {
    inner: S,
    circuits: Arc<Circuits>,
}

impl<S> Breaker<S> {
    pub(super) const fn new(inner: S, circuits: Arc<Circuits>) -> Self {
        Self { inner, circuits }
    }

    /// The service inside.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }
}

impl<S, B, R> Service<Request<B>> for Breaker<S>
where
    S: Service<Request<B>, Response = Response<R>, Error: Into<BoxError>> + Clone,
    R: Body<Error: Into<BoxError>>,
{
    type Response = Response<BreakerBody<R>>;
    type Error = BoxError;
    type Future = BreakerFuture<S::Future>;

    /// Ready when the inner service is: whose circuit it is shows only in the request.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    #[inline(never)]
    fn call(&mut self, request: Request<B>) -> Self::Future {
        if self.circuits.config.acts.is_off() {
            return send(&mut self.inner, request, &mut Ticket::free());
        }
        let door = self.circuits.of(&request);
        let mut ticket = match door.circuit.admit(crate::clock::now) {
            Ok(admitted) => Ticket::new(door, admitted),
            Err(refused) => {
                let acts = &self.circuits.config.acts;
                acts.tell_refused(&request, Reason::CircuitOpen, refused.retry_in);
                if self.circuits.config.acts.is_enforced() {
                    return self.refuse(refused);
                }
                Ticket::free()
            }
        };
        let (observer, told) = (self.circuits.config.observer(), &self.circuits.misordered);
        let _passing = enter_telling(LayerKind::Breaker, observer, told);
        send(&mut self.inner, request, &mut ticket)
    }
}

/// In a function of its own that owns nothing besides, so that the inner future, which may be
/// large, is made where it stays: what has to be dropped on a panic makes the compiler move it.
#[inline(never)]
fn send<S, B>(inner: &mut S, request: Request<B>, ticket: &mut Ticket) -> BreakerFuture<S::Future>
where
    S: Service<Request<B>>,
{
    BreakerFuture::calling(inner.call(request), ticket)
}

impl<S: Clone> Breaker<S> {
    #[cold]
    fn refuse<F>(&mut self, refused: Refused) -> BreakerFuture<F> {
        // The instance that was readied will not be called: what it reserved is for others.
        let fresh = self.inner.clone();
        drop(std::mem::replace(&mut self.inner, fresh));
        BreakerFuture::refused(rejected(refused))
    }
}

fn rejected(refused: Refused) -> Rejected {
    let rejected = Rejected::new(Reason::CircuitOpen);
    match refused.retry_in {
        Some(retry_in) => rejected.with_retry_in(retry_in),
        None => rejected,
    }
}
