//! Calls on a stack, and how they ended.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use steadfast::admission::fallback::FellBackFrom;
use steadfast::{
    BoxError, CallState, Cut, Deadline, Elapsed, Failure, Hint, Reason, Rejected, Report, chain,
    downcast_ref,
};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tower::{Service, ServiceExt};

/// The head of an answer whose body was read to its end, or what went wrong.
pub(crate) type Ended = Result<response::Parts, BoxError>;

/// Any stack of layers.
pub(crate) trait Stack {
    /// Asks, and reads the answer to its end.
    fn ask(&self, request: Request<Full<Bytes>>) -> Pin<Box<dyn Future<Output = Ended> + Send>>;

    /// The same beside the test, begun when this returns.
    async fn begin(&self, request: Request<Full<Bytes>>) -> JoinHandle<Ended> {
        let call = tokio::spawn(self.ask(request));
        tokio::task::yield_now().await;
        call
    }
}

impl<S, R> Stack for S
where
    S: Service<Request<Full<Bytes>>, Response = Response<R>, Future: Send> + Clone + Send + 'static,
    S::Error: Into<BoxError> + Send,
    R: Body<Data: Send, Error: Into<BoxError>> + Send,
{
    fn ask(&self, request: Request<Full<Bytes>>) -> Pin<Box<dyn Future<Output = Ended> + Send>> {
        let stack = self.clone();
        Box::pin(async move {
            let answer = stack.oneshot(request).await.map_err(Into::into)?;
            let (head, body) = answer.into_parts();
            body.collect().await.map_err(Into::into)?;
            Ok(head)
        })
    }
}

pub(crate) fn get() -> Request<Full<Bytes>> {
    marked(1)
}

/// An attempt that its caller says is the n-th.
pub(crate) fn marked(attempt: u32) -> Request<Full<Bytes>> {
    let request = Request::get("http://a.example/").header("x-envoy-attempt-count", attempt);
    request.body(Full::default()).unwrap()
}

pub(crate) fn post() -> Request<Full<Bytes>> {
    let request = Request::post("http://a.example/charges").header("x-envoy-attempt-count", 1);
    request.body(Full::default()).unwrap()
}

/// This request, to be answered in so long.
pub(crate) fn due(time: Duration, mut request: Request<Full<Bytes>>) -> Request<Full<Bytes>> {
    let deadline = Deadline::after(Instant::now().into_std(), time);
    CallState::edit(request.extensions_mut(), |state| {
        state.tighten_deadline(deadline);
    });
    request
}

pub(crate) fn status(ended: Ended) -> u16 {
    ended.unwrap().status.as_u16()
}

/// Why a call ended: as its report says, or the layer that refused it.
pub(crate) fn reason(ended: &Ended) -> Option<Reason> {
    match ended {
        Ok(head) => head.extensions.get::<Report>()?.reason,
        Err(error) => match Failure::find(&**error) {
            Some(failure) => failure.report().reason,
            None => Rejected::find(&**error).map(Rejected::reason),
        },
    }
}

/// What cut a call or a body short.
pub(crate) fn cut(ended: &Ended) -> Option<Cut> {
    let error = ended.as_ref().err()?;
    Elapsed::find(&**error).map(Elapsed::cut)
}

/// What a fallback stood in for.
pub(crate) fn stood_in_for(ended: &Ended) -> Option<Reason> {
    let head = ended.as_ref().ok()?;
    head.extensions.get::<FellBackFrom>().map(|from| from.0)
}

/// The hint that a layer left at the answer.
pub(crate) fn hint(ended: &Ended) -> Option<Duration> {
    let head = ended.as_ref().ok()?;
    head.extensions.get::<Hint>().and_then(|hint| hint.wait())
}

/// When a refusal says that a call may be let through.
pub(crate) fn retry_in(ended: &Ended) -> Option<Duration> {
    let error = ended.as_ref().err()?;
    Rejected::find(&**error).and_then(Rejected::retry_in)
}

/// Whether this error is the cause of a call's end.
pub(crate) fn is_caused_by<E: std::error::Error + 'static>(error: &BoxError) -> bool {
    chain(&**error).any(|cause| downcast_ref::<E>(cause).is_some())
}
