use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum_core::response::{IntoResponse, Response};
use http::Request;
use pin_project_lite::pin_project;
use steadfast_core::BoxError;
use tower_layer::Layer;
use tower_service::Service;

use crate::Problem;

/// Answers the errors of the layers inside it as problem details, so that a bulkhead, a breaker or
/// a time limit stands around axum's routes without a `HandleError`.
///
/// See [`Problem::of_server`] for what it answers.
///
/// ```
/// use axum::{Router, routing::get};
/// use steadfast_admission::BulkheadLayer;
/// use steadfast_admission::bulkhead::BulkheadConfig;
/// use steadfast_axum::AnsweredLayer;
/// use tower::ServiceBuilder;
///
/// let ten = BulkheadLayer::new(BulkheadConfig::default().with_limit(10.try_into()?));
/// // The layer's value owns the places: both routes share the ten.
/// let limited = ServiceBuilder::new().layer(AnsweredLayer::new()).layer(ten);
/// let app: Router = Router::new()
///     .route("/report", get(async || "report").route_layer(limited.clone()))
///     .route("/export", get(async || "export").route_layer(limited))
///     .route("/health", get(async || "ok"));
/// # let _ = app;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnsweredLayer;

impl AnsweredLayer {
    /// The layer; it has no knobs.
    pub const fn new() -> Self {
        Self
    }
}

impl<S> Layer<S> for AnsweredLayer {
    type Service = Answered<S>;

    fn layer(&self, inner: S) -> Answered<S> {
        Answered {
            inner,
            unready: None,
        }
    }
}

/// A service that never fails: see [`AnsweredLayer`].
#[derive(Debug)]
pub struct Answered<S> {
    inner: S,
    // Why the inner service is not to be called: the answer of the next call.
    unready: Option<Problem>,
}

impl<S: Clone> Clone for Answered<S> {
    fn clone(&self) -> Self {
        // Readiness, and its failure, are not shared among clones.
        Self {
            inner: self.inner.clone(),
            unready: None,
        }
    }
}

impl<S, B> Service<Request<B>> for Answered<S>
where
    S: Service<Request<B>, Response: IntoResponse, Error: Into<BoxError>>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = AnsweredFuture<S::Future>;

    /// Ready when the inner service is. Where that fails, the next call is answered so.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        if self.unready.is_none() {
            if let Err(error) = ready!(self.inner.poll_ready(cx)) {
                self.unready = Some(Problem::of_server(&*error.into()));
            }
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        match self.unready.take() {
            Some(problem) => AnsweredFuture::refused(problem),
            None => AnsweredFuture::called(self.inner.call(request)),
        }
    }
}

pin_project! {
    /// The answer to come: the future of [`Answered`]. Dropping it drops the inner one.
    ///
    /// # Panics
    ///
    /// When it is polled again after its end and the inner future does.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct AnsweredFuture<F> {
        #[pin]
        state: State<F>,
    }
}

pin_project! {
    #[project = Projected]
    #[derive(Debug)]
    enum State<F> {
        Called { #[pin] call: F },
        Refused { problem: Problem },
    }
}

impl<F> AnsweredFuture<F> {
    const fn called(call: F) -> Self {
        Self {
            state: State::Called { call },
        }
    }

    const fn refused(problem: Problem) -> Self {
        Self {
            state: State::Refused { problem },
        }
    }
}

impl<F, R, E> Future for AnsweredFuture<F>
where
    F: Future<Output = Result<R, E>>,
    R: IntoResponse,
    E: Into<BoxError>,
{
    type Output = Result<Response, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = match self.project().state.project() {
            Projected::Called { call } => ready!(call.poll(cx)),
            Projected::Refused { problem } => return Poll::Ready(Ok(problem.into_response())),
        };
        Poll::Ready(Ok(match answer {
            Ok(answer) => answer.into_response(),
            Err(error) => Problem::of_server(&*error.into()).into_response(),
        }))
    }
}
