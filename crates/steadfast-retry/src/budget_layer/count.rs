use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll};

use http::{Extensions, Request};
use tower_layer::Layer;
use tower_service::Service;

/// The outer half of a [`BudgetLayer`](super::BudgetLayer): above a retry loop it gives each call
/// a counter of its own, in the request's extensions.
///
/// The loop needs to know nothing of it, as long as the requests that it sends are clones of the
/// one that it got, extensions included. One more insertion into the extensions and one
/// allocation a call.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountAttemptsLayer(());

impl CountAttemptsLayer {
    /// The layer; there is nothing to set.
    pub const fn new() -> Self {
        Self(())
    }
}

impl<S> Layer<S> for CountAttemptsLayer {
    type Service = CountAttempts<S>;

    fn layer(&self, inner: S) -> CountAttempts<S> {
        CountAttempts { inner }
    }
}

/// A service whose calls carry a counter; see [`CountAttemptsLayer`].
#[derive(Clone, Debug)]
pub struct CountAttempts<S> {
    inner: S,
}

impl<S, B> Service<Request<B>> for CountAttempts<S>
where
    S: Service<Request<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<B>) -> S::Future {
        // A counter that is there already belongs to another call: one that this request was
        // cloned from, or one further out whose loop repeats this call as a whole.
        request
            .extensions_mut()
            .insert(Mark(Arc::new(Counter::default())));
        self.inner.call(request)
    }
}

/// What lies in the extensions.
#[derive(Clone)]
struct Mark(Arc<Counter>);

/// What the attempts of one call have in common.
#[derive(Debug, Default)]
pub(super) struct Counter {
    sent: AtomicU32,
    throttled: AtomicBool,
}

impl Counter {
    pub(super) fn of(extensions: &Extensions) -> Option<Arc<Self>> {
        extensions.get::<Mark>().map(|mark| mark.0.clone())
    }

    /// Counts an attempt; whether it is the first.
    pub(super) fn count_one(&self) -> bool {
        let add = |sent: u32| Some(sent.saturating_add(1));
        let sent = self
            .sent
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        sent == Ok(0)
    }

    /// The attempt was refused further below: it counts for nothing.
    pub(super) fn uncount_one(&self) {
        let sub = |sent: u32| sent.checked_sub(1);
        let _ = self
            .sent
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, sub);
    }

    /// Whether the last answer said that the peer is overloaded.
    pub(super) fn throttled(&self) -> bool {
        self.throttled.load(Ordering::Relaxed)
    }

    pub(super) fn set_throttled(&self, throttled: bool) {
        self.throttled.store(throttled, Ordering::Relaxed);
    }
}
