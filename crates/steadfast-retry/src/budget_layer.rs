//! A budget below somebody else's retry loop.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use steadfast_core::budget::Ask;
use steadfast_core::{
    BoxError, Budget, CallContext, CallState, Classify, DefaultClassify, Event, Observe,
    Preconditions, Reason, Safety, SafetySources, Subject, destination,
};
use tower_layer::Layer;
use tower_service::Service;

use crate::clock;

mod count;
mod future;
mod in_flight;
mod mark;

pub use count::{CountAttempts, CountAttemptsLayer};
pub use future::BudgetFuture;
pub use mark::AttemptMark;

use in_flight::InFlight;
use mark::Place;

/// Caps the retries of a loop that is not ours: tower's, a gateway's, a hand-written one.
///
/// It stands below that loop and sees each attempt. The first of a call passes and feeds the
/// budget; each later one needs a permit, and without one it is refused: the inner service is
/// not called, and the error holds a [`Rejected`](steadfast_core::Rejected) of
/// [`Reason::BudgetExhausted`]. The loop should end there (`Rejected::find`), though another
/// try of its own would only be refused again.
///
/// Which attempt it sees is told by a [mark](AttemptMark): by default by the counter that a
/// [`CountAttemptsLayer`] above the loop puts into the request's extensions, where clones of the
/// request keep it. An attempt without the mark passes, untold to the budget, and an observer
/// sees [`Event::PassedUnmarked`].
///
/// The bound is the budget's own, whatever the loop wants: below a [`RatioBudget`] of 10%, 1,000
/// calls cause at most 1,100 attempts. An attempt that ends, also by being dropped, is told to the
/// budget once, by what its head or its error means: a gRPC status in trailers is not seen, which
/// matters to the budgets that live on successes (`ThrottleBudget`, `RefundBudget`). An attempt
/// that one of our layers refuses further below was none: it costs nothing and is not counted.
///
/// ```
/// use http::{Request, Response};
/// use steadfast_core::{Reason, Rejected};
/// use steadfast_core::budget::RatioBudget;
/// use steadfast_retry::{BudgetLayer, CountAttemptsLayer};
/// use tower::{Layer, Service, ServiceExt, service_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let down = service_fn(|_: Request<()>| async { Response::builder().status(503).body(()) });
/// let guarded = BudgetLayer::new(RatioBudget::default()).layer(down);
///
/// // Somebody's loop: three attempts, come what may.
/// let looped = service_fn(move |request: Request<()>| {
///     let guarded = guarded.clone();
///     async move {
///         let _ = guarded.clone().oneshot(request.clone()).await;
///         let _ = guarded.clone().oneshot(request.clone()).await;
///         guarded.clone().oneshot(request).await
///     }
/// });
/// let mut client = CountAttemptsLayer::default().layer(looped);
///
/// let error = client.ready().await?.call(Request::new(())).await.unwrap_err();
/// let rejected = Rejected::find(&*error).map(Rejected::reason);
/// assert_eq!(rejected, Some(Reason::BudgetExhausted), "one call earns one retry, not two");
/// # Ok(())
/// # }
/// ```
///
/// [`RatioBudget`]: steadfast_core::budget::RatioBudget
#[derive(Clone)]
pub struct BudgetLayer {
    budget: Arc<dyn Budget>,
    mark: AttemptMark,
    classify: Arc<dyn Classify>,
    observer: Option<Arc<dyn Observe>>,
}

impl BudgetLayer {
    /// A layer of this budget. Every service that it makes shares it, and so does whoever has
    /// another handle.
    pub fn new(budget: impl Budget) -> Self {
        Self {
            budget: Arc::new(budget),
            mark: AttemptMark::default(),
            classify: Arc::new(DefaultClassify),
            observer: None,
        }
    }

    /// Sets what tells which attempt a request is. Default: [`AttemptMark::Counter`].
    #[must_use]
    pub fn with_mark(mut self, mark: AttemptMark) -> Self {
        self.mark = mark;
        self
    }

    /// Sets what answers and errors mean to the budget. Default: [`DefaultClassify`].
    #[must_use]
    pub fn with_classify(mut self, classify: impl Classify) -> Self {
        self.classify = Arc::new(classify);
        self
    }

    /// Sets who is told of attempts without a mark. Default: nobody.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Observe) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// What tells which attempt a request is.
    pub const fn mark(&self) -> AttemptMark {
        self.mark
    }
}

impl fmt::Debug for BudgetLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BudgetLayer")
            .field("budget", &self.budget)
            .field("mark", &self.mark)
            .finish_non_exhaustive()
    }
}

impl<S> Layer<S> for BudgetLayer {
    type Service = Budgeted<S>;

    fn layer(&self, inner: S) -> Budgeted<S> {
        Budgeted {
            inner,
            layer: Arc::new(self.clone()),
        }
    }
}

/// A service whose repeated attempts need a permit; see [`BudgetLayer`].
#[derive(Clone, Debug)]
pub struct Budgeted<S> {
    inner: S,
    layer: Arc<BudgetLayer>,
}

impl<S, B, R> Service<Request<B>> for Budgeted<S>
where
    S: Service<Request<B>, Response = Response<R>, Error: Into<BoxError>>,
{
    type Response = Response<R>;
    type Error = BoxError;
    type Future = BudgetFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let layer = &self.layer;
        let in_flight = match layer.mark.place_of(&request) {
            Place::Unmarked => {
                layer.tell_unmarked(&request);
                None
            }
            Place::First(counter) => {
                let now = clock::now();
                layer.budget.on_call(now);
                Some(InFlight::first(layer.clone(), counter, now))
            }
            Place::Later(counter) => {
                let now = clock::now();
                let mut ask = Ask::new(now);
                ask.criticality = CallContext::current_deadline_and_criticality().1;
                ask.throttled = counter.as_ref().is_some_and(|counter| counter.throttled());
                match layer.budget.reserve(ask) {
                    // What the inner service reserved for this call is there for the next one.
                    None => return BudgetFuture::refused(Reason::BudgetExhausted),
                    Some(permit) => Some(InFlight::later(layer.clone(), counter, permit, now)),
                }
            }
        };
        BudgetFuture::calling(self.inner.call(request), in_flight)
    }
}

impl BudgetLayer {
    fn tell_unmarked<B>(&self, request: &Request<B>) {
        let Some(observer) = &self.observer else {
            return;
        };
        let state = CallState::of(request.extensions());
        let sources = SafetySources {
            explicit: state.and_then(CallState::safety),
            keyed: state.is_some_and(|state| state.key().is_some()),
            conditional: Preconditions::new().hold_for(request.uri(), request.headers()),
            ..SafetySources::default()
        };
        let safety = Safety::decide(sources, request.method());
        let destination = destination(request.uri(), request.headers(), request.extensions());
        let subject = Subject::new(destination, request.method(), safety);
        observer.observe(&Event::PassedUnmarked(subject));
    }
}
