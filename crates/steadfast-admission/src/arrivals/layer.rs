use std::sync::Arc;
use std::task::{Context, Poll};

use http::{HeaderMap, Request, Response};
use steadfast_core::Reason;
use tower_layer::Layer;
use tower_service::Service;

use super::share::Share;
use super::words::Dialect;
use super::{ArrivalsBody, ArrivalsConfig, ArrivalsFuture};
use crate::clock;

/// Counts arriving retries and refuses those that are too many; see the [module's page](super).
///
/// The count belongs to the layer's value: its clones, and every service that it makes, share it.
#[derive(Clone, Debug)]
pub struct ArrivalsLayer {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    config: ArrivalsConfig,
    share: Share,
}

impl ArrivalsLayer {
    /// A layer with a count of its own.
    pub fn new(config: ArrivalsConfig) -> Self {
        let share = Share::new(config.share(), config.minimum(), config.window());
        Self {
            shared: Arc::new(Shared { config, share }),
        }
    }

    /// A layer of another config that goes on with the count of this one, for a policy that is read
    /// anew while services go on.
    ///
    /// A service made by this layer adds to the same count, and refuses by its own config. A
    /// config of another [window](ArrivalsConfig::window) starts anew, with a count of its own.
    #[must_use]
    pub fn reconfigured(&self, config: ArrivalsConfig) -> Self {
        let Shared {
            config: before,
            share,
        } = &*self.shared;
        if config.window() != before.window() {
            return Self::new(config);
        }
        let share = share.with(config.share(), config.minimum());
        Self {
            shared: Arc::new(Shared { config, share }),
        }
    }

    /// The config.
    pub fn config(&self) -> &ArrivalsConfig {
        &self.shared.config
    }
}

impl Default for ArrivalsLayer {
    fn default() -> Self {
        Self::new(ArrivalsConfig::default())
    }
}

impl<S> Layer<S> for ArrivalsLayer {
    type Service = Arrivals<S>;

    fn layer(&self, inner: S) -> Arrivals<S> {
        Arrivals {
            inner,
            shared: self.shared.clone(),
        }
    }
}

/// A server's service that refuses retries where they are too many; see the
/// [module's page](super).
///
/// The inner service is one that can be cloned: an instance that was readied for a request which is
/// refused is dropped, so that what it has reserved is for others.
#[derive(Clone, Debug)]
pub struct Arrivals<S> {
    inner: S,
    shared: Arc<Shared>,
}

impl<S> Arrivals<S> {
    /// The service inside.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }
}

impl<S, B, R> Service<Request<B>> for Arrivals<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone,
{
    type Response = Response<ArrivalsBody<R>>;
    type Error = S::Error;
    type Future = ArrivalsFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let Shared { config, share } = &*self.shared;
        if config.acts.is_off() {
            return ArrivalsFuture::serving(self.inner.call(request));
        }
        let retry = is_retry(config, request.headers());
        if share.is_too_much(retry, clock::now()) {
            let reason = Reason::BudgetExhausted;
            config.acts.tell_refused(&request, reason, None);
            if config.acts.is_enforced() {
                self.let_go();
                return ArrivalsFuture::refused(Dialect::of(request.headers()));
            }
        }
        ArrivalsFuture::serving(self.inner.call(request))
    }
}

impl<S: Clone> Arrivals<S> {
    /// Drops the instance that was readied and will not be called: what it reserved is for others.
    #[cold]
    fn let_go(&mut self) {
        let fresh = self.inner.clone();
        drop(std::mem::replace(&mut self.inner, fresh));
    }
}

/// Whether any mark says that the request is a later attempt.
fn is_retry(config: &ArrivalsConfig, headers: &HeaderMap) -> bool {
    let mut numbers = config.marks().iter().filter_map(|mark| mark.read(headers));
    numbers.any(|number| number > 1)
}
