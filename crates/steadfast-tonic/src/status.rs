use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use steadfast_core::{BoxError, Report};
use tonic::Status;
use tower_layer::Layer;
use tower_service::Service;

mod answer;
mod body;
mod error;

pub use body::StatusBody;
pub use error::status_of;

pub(crate) use error::code_of;

/// Makes a [`Status`] of every error, ours included, and of every answer that is no gRPC.
///
/// A generated client makes one by itself, but knows none of our errors (they would be `UNKNOWN`),
/// reads a gateway's page as a broken message, and drops the report. Outermost.
///
/// ```
/// use http::{Request, Response};
/// use steadfast_core::{BoxError, Reason, Rejected};
/// use steadfast_tonic::StatusLayer;
/// use tonic::{Code, body::Body};
/// use tower::{Layer, ServiceExt, service_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let open = service_fn(|_: Request<()>| async {
///     Err::<Response<Body>, BoxError>(Rejected::new(Reason::CircuitOpen).into())
/// });
/// let status = StatusLayer::new().layer(open).oneshot(Request::new(())).await.unwrap_err();
/// assert_eq!(status.code(), Code::Unavailable);
/// let ours = Rejected::find(&status).map(Rejected::reason);
/// assert_eq!(ours, Some(Reason::CircuitOpen), "the cause is there, by type");
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusLayer;

impl StatusLayer {
    /// The layer; it has no knobs.
    pub const fn new() -> Self {
        Self
    }
}

impl<S> Layer<S> for StatusLayer {
    type Service = WithStatus<S>;

    fn layer(&self, inner: S) -> WithStatus<S> {
        WithStatus { inner }
    }
}

/// A service whose every failure is a [`Status`]; see [`StatusLayer`].
#[derive(Clone, Copy, Debug)]
pub struct WithStatus<S> {
    inner: S,
}

impl<S, B, R> Service<Request<B>> for WithStatus<S>
where
    S: Service<Request<B>, Response = Response<R>, Error: Into<BoxError>>,
    R: Body<Error: Into<BoxError>>,
{
    type Response = Response<StatusBody<R>>;
    type Error = Status;
    type Future = StatusFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        self.inner
            .poll_ready(cx)
            .map_err(|error| status_of(error.into()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        StatusFuture {
            inner: self.inner.call(request),
        }
    }
}

pin_project! {
    /// The future of [`WithStatus`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct StatusFuture<F> {
        #[pin]
        inner: F,
    }
}

impl<F, R, E> Future for StatusFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    R: Body<Error: Into<BoxError>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<StatusBody<R>>, Status>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match ready!(self.project().inner.poll(cx)) {
            Err(error) => Err(status_of(error.into())),
            Ok(answer) => {
                let report = answer.extensions().get::<Report>().copied();
                match answer::failure(answer.status(), answer.headers(), report) {
                    Some(status) => Err(status),
                    None => Ok(answer.map(StatusBody::new)),
                }
            }
        })
    }
}
