use std::task::{Context, Poll};
use std::time::Duration;

use steadfast_core::BoxError;
use tower_layer::Layer;
use tower_service::Service;

mod future;

pub use future::ConnectFuture;

/// Time to get a connection unless said otherwise: 5 s.
///
/// Half of the default time of an attempt, so that the other half is left for the answer. A lost
/// SYN is repeated after 1 s and after 3 s (RFC 6298 §2, and doubled), so two of them may be lost.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Ends attempts to connect in time, around any connector.
///
/// Around the outermost connector it covers all of it: resolving, connecting to each address in
/// turn and the TLS handshake. (`HttpConnector::set_connect_timeout` of hyper-util covers the
/// second alone.) What it ends was never sent: the error is a
/// [`Failure`](steadfast_core::Failure) whose outcome is `NotApplied` and whose source is an
/// [`Elapsed`](steadfast_core::Elapsed) with [`Cut::Connect`](steadfast_core::Cut::Connect);
/// hyper-util's client wraps it as a connect error. Both read as
/// [`Delivery::Unsent`](steadfast_core::Delivery::Unsent), so that every request may be repeated.
///
/// It does not know the deadline of the call for which the client connects: a connection that
/// comes too late for one call serves the next.
///
/// ```
/// use std::time::Duration;
/// use hyper_util::client::legacy::{Client, connect::HttpConnector};
/// use hyper_util::rt::TokioExecutor;
/// use steadfast_hyper::{ConnectTimeout, LeafBody};
///
/// let connector = ConnectTimeout::new(HttpConnector::new(), Duration::from_secs(2));
/// let client: Client<_, LeafBody> = Client::builder(TokioExecutor::new()).build(connector);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ConnectTimeout<C> {
    inner: C,
    limit: Duration,
}

impl<C> ConnectTimeout<C> {
    /// Gives each connection of `inner` this much time.
    ///
    /// `Duration::MAX` is no limit; zero ends each that is not there at once.
    pub const fn new(inner: C, limit: Duration) -> Self {
        Self { inner, limit }
    }

    /// The configured time.
    pub const fn limit(&self) -> Duration {
        self.limit
    }
}

impl<C, T> Service<T> for ConnectTimeout<C>
where
    C: Service<T, Error: Into<BoxError>>,
{
    type Response = C::Response;
    type Error = BoxError;
    type Future = ConnectFuture<C::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, target: T) -> Self::Future {
        ConnectFuture::new(self.inner.call(target), self.limit)
    }
}

/// Puts a [`ConnectTimeout`] around a connector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectTimeoutLayer {
    limit: Duration,
}

impl ConnectTimeoutLayer {
    /// Gives each connection this much time; see [`ConnectTimeout::new`].
    pub const fn new(limit: Duration) -> Self {
        Self { limit }
    }

    /// The configured time.
    pub const fn limit(&self) -> Duration {
        self.limit
    }
}

impl Default for ConnectTimeoutLayer {
    /// [`DEFAULT_CONNECT_TIMEOUT`].
    fn default() -> Self {
        Self::new(DEFAULT_CONNECT_TIMEOUT)
    }
}

impl<C> Layer<C> for ConnectTimeoutLayer {
    type Service = ConnectTimeout<C>;

    fn layer(&self, inner: C) -> ConnectTimeout<C> {
        ConnectTimeout::new(inner, self.limit)
    }
}

#[cfg(test)]
mod tests;
