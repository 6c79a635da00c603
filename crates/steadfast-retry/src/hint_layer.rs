//! A peer's hint, read once and left for anybody.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{Response, StatusCode};
use pin_project_lite::pin_project;
use steadfast_core::grpc::Code;
use steadfast_core::{Hint, Hints};
use tower_layer::Layer;
use tower_service::Service;

use crate::clock;

/// Reads what a failed answer says about when to come back, and leaves the [`Hint`] in the
/// answer's extensions.
///
/// For a layer of one's own, a poller, somebody else's retry loop: they need no parser then. An
/// answer is a failure by its HTTP status (400 and above) or by a gRPC status in its headers. A
/// success is not touched, and a failure without a hint is not either; both allocate nothing.
///
/// ```
/// use std::time::Duration;
/// use http::{Request, Response};
/// use steadfast_core::Hint;
/// use steadfast_retry::HintLayer;
/// use tower::{Layer, ServiceExt, service_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let busy = service_fn(|_: Request<()>| async {
///     Response::builder().status(503).header("retry-after", "2").body(())
/// });
/// let answer = HintLayer::default().layer(busy).oneshot(Request::new(())).await?;
/// let hint = answer.extensions().get::<Hint>();
/// assert_eq!(hint, Some(&Hint::Wait(Duration::from_secs(2))));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct HintLayer {
    hints: Hints,
}

impl HintLayer {
    /// Reads these headers. The default reads those of [`Hints::default`].
    pub const fn new(hints: Hints) -> Self {
        Self { hints }
    }
}

impl<S> Layer<S> for HintLayer {
    type Service = ReadHint<S>;

    fn layer(&self, inner: S) -> ReadHint<S> {
        ReadHint {
            inner,
            hints: self.hints.clone(),
        }
    }
}

/// A service whose failed answers carry their [`Hint`]; see [`HintLayer`].
#[derive(Clone, Debug)]
pub struct ReadHint<S> {
    inner: S,
    hints: Hints,
}

impl<S, Req, R> Service<Req> for ReadHint<S>
where
    S: Service<Req, Response = Response<R>>,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = HintFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Req) -> HintFuture<S::Future> {
        HintFuture {
            inner: self.inner.call(request),
            hints: self.hints.clone(),
        }
    }
}

pin_project! {
    /// The future of [`ReadHint`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct HintFuture<F> {
        #[pin]
        inner: F,
        hints: Hints,
    }
}

impl<F, R, E> Future for HintFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let mut result = ready!(this.inner.poll(cx));
        if let Some(answer) = result.as_mut().ok().filter(|answer| is_failure(answer)) {
            let hint = this.hints.read(answer.headers(), clock::wall);
            if hint != Hint::None {
                answer.extensions_mut().insert(hint);
            }
        }
        Poll::Ready(result)
    }
}

/// A gRPC answer is a 200 whatever it says.
fn is_failure<R>(answer: &Response<R>) -> bool {
    let by_code = || Code::of(answer.headers()).is_some_and(|code| code != Code::Ok);
    answer.status().as_u16() >= 400 || (answer.status() == StatusCode::OK && by_code())
}
