use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use steadfast_core::{CallContext, Deadline};
use tokio::time::Instant;
use tower_service::Service;

use super::body::ResponseBody;
use super::config::{InboundConfig, Mode};
use super::dialect::Dialect;
use super::future::ResponseFuture;
use super::inbound::{attempt, given, operation, told};
use super::trust::InboundTrust;
use super::watch::{Moment, Watch, tell_ignored};

/// Ends requests with their callers; see the crate's page.
///
/// Its own refusals are answers; the inner service's errors pass unchanged. The inner service is one
/// that can be cloned: an instance that was readied for a request which is refused is dropped, so
/// that what it has reserved is for others.
#[derive(Clone, Debug)]
pub struct InboundDeadline<S> {
    inner: S,
    config: Arc<InboundConfig>,
}

impl<S> InboundDeadline<S> {
    pub(crate) const fn new(inner: S, config: Arc<InboundConfig>) -> Self {
        Self { inner, config }
    }
}

impl<S> InboundDeadline<S> {
    /// The inner service.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }
}

impl<S, B, R> Service<Request<B>> for InboundDeadline<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone,
{
    type Response = Response<ResponseBody<R>>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    /// Ready when the inner service is: a request's time begins when it is here.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let config = &*self.config;
        let dialect = Dialect::of(request.headers());
        let trust = config.trust_of(request.headers(), request.extensions());
        let context = context(config, trust, dialect, &request);
        let arrival = arrival(config, trust, dialect, &request);
        let (context, watch) = match (context, arrival) {
            (None, None) => return ResponseFuture::free(self.inner.call(request)),
            (context, None) => (context.unwrap_or_else(CallContext::current), None),
            (context, Some((now, watch))) => {
                watch.tell(now, Moment::Received);
                let expired = watch.deadline.is_expired(now.into_std());
                if expired {
                    watch.tell(now, Moment::Refused);
                }
                if expired && config.mode() == Mode::Enforce {
                    self.let_go();
                    return ResponseFuture::refused(dialect);
                }
                let mut context = context.unwrap_or_else(CallContext::current);
                if config.mode() == Mode::Enforce {
                    context = context.with_deadline(watch.deadline);
                }
                // What had expired on arrival was told of; it does not expire again.
                (context, Some(watch).filter(|_| !expired))
            }
        };
        // For whoever is polled elsewhere, behind a queue with a task of its own for example.
        request.extensions_mut().insert(context.clone());
        let inner = context.run(|| self.inner.call(request));
        ResponseFuture::watched(inner, context, watch, dialect)
    }
}

impl<S: Clone> InboundDeadline<S> {
    /// Drops the instance that was readied and will not be called: what it reserved is for others.
    #[cold]
    fn let_go(&mut self) {
        let fresh = self.inner.clone();
        drop(std::mem::replace(&mut self.inner, fresh));
    }
}

/// The context that the request asks for beside its deadline, on top of the one in force.
fn context<B>(
    config: &InboundConfig,
    trust: InboundTrust,
    dialect: Dialect,
    request: &Request<B>,
) -> Option<CallContext> {
    if !trust.in_attempt() {
        return None;
    }
    let headers = request.headers();
    let attempt = attempt(headers, dialect);
    let operation = operation(headers, config.operation_header());
    let owner = config.owner_mark().read(headers);
    if attempt.is_none() && operation.is_none() && owner.is_none() {
        return None;
    }
    let mut context = CallContext::current();
    if let Some(attempt) = attempt {
        context = context.with_attempt(attempt);
    }
    if let Some(owner) = owner {
        context = context.with_owner(owner);
    }
    if let Some(operation) = operation {
        context = context.with_operation(operation);
    }
    Some(context)
}

/// The clock at the arrival of a request that has an end, and that end.
fn arrival<B>(
    config: &InboundConfig,
    trust: InboundTrust,
    dialect: Dialect,
    request: &Request<B>,
) -> Option<(Instant, Watch)> {
    let (headers, method) = (request.headers(), request.method());
    let observer = config.observer();
    let told = if trust.in_deadline() {
        told(headers, config.headers(), dialect, |name| {
            if let Some(observer) = observer {
                tell_ignored(&**observer, method, name);
            }
        })
    } else {
        None
    };
    let time = given(told, config.maximum(), config.answer_margin())?;
    let arrived = Instant::now();
    let outer = CallContext::current_deadline();
    let watch = Watch {
        arrived,
        deadline: Deadline::after(arrived.into_std(), time).earliest(outer),
        told,
        mode: config.mode(),
        observed: observer.map(|observer| (Arc::clone(observer), method.clone())),
    };
    Some((arrived, watch))
}
