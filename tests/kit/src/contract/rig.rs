//! What the trials share: scripts below the layer, and calls through it.

use std::future::poll_fn;
use std::pin::pin;
use std::time::Duration;

use http::{Request, Response};
use http_body::{Body, Frame};
use tower_layer::Layer;
use tower_service::Service;

use super::{Inner, Subject};
use crate::drive::drive;
use crate::{BodyWatch, BoxError, Chunks, Piece, Probe, Readiness, Step};

pub(super) type InnerStep<B> = Step<Request<B>, Response<Chunks>>;

/// Polls of one call that count as no end: every trial needs far fewer.
pub(super) const POLLS: usize = 2_000;

/// How long an inner call takes, where it is to take time.
pub(super) const WORK: Duration = Duration::from_millis(3);

/// A request body with pauses between its frames.
pub(super) fn upload() -> Chunks {
    Chunks::new([
        Piece::data("up"),
        Piece::Pending,
        Piece::data("load"),
        Piece::Pending,
    ])
}

/// A step that reads the request, works for some time and ends so, and the body of its answer.
pub(super) fn ending<B>(ending: Result<Response<()>, BoxError>) -> (InnerStep<B>, BodyWatch)
where
    B: Body<Error: Into<BoxError>> + Send + 'static,
    B::Data: Send,
{
    let body = Chunks::new([Piece::data("an"), Piece::Pending, Piece::data("swer")]);
    let watch = body.watch();
    let step = Step::call(async move |request: Request<B>| {
        let mut sent = Box::pin(request.into_body());
        while let Some(frame) = poll_fn(|cx| sent.as_mut().poll_frame(cx)).await {
            frame.map_err(Into::into)?;
        }
        tokio::time::sleep(WORK).await;
        ending.map(|head| head.map(|()| body))
    });
    (step, watch)
}

/// The layer's failures and then so many successes, and the watches of all answers' bodies.
pub(super) fn script<S: Subject>(
    subject: &S,
    successes: usize,
) -> (Inner<S::Sent>, Vec<BodyWatch>) {
    let successes = (0..successes).map(|_| Ok(Response::new(())));
    let endings = subject.failures().into_iter().chain(successes);
    let (steps, watches) = endings.map(ending).unzip::<_, _, Vec<_>, Vec<_>>();
    (Probe::script(steps), watches)
}

/// So many reservations that are not to be had at the first poll.
pub(super) fn later(reservations: usize) -> impl Iterator<Item = Readiness> {
    (0..reservations).map(|index| match index % 2 {
        0 => Readiness::Later,
        _ => Readiness::After(WORK),
    })
}

pub(super) fn service<S: Subject>(subject: &S, inner: &Inner<S::Sent>) -> S::Service {
    subject.layer().layer(inner.clone())
}

/// Gets a service ready, whose waker is watched.
pub(super) async fn ready<T>(service: &mut T) -> Result<(), BoxError>
where
    T: Service<Request<Chunks>, Error: Into<BoxError>>,
{
    let ready = poll_fn(|cx| service.poll_ready(cx));
    drive(ready, POLLS, || {}).await.0.map_err(Into::into)
}

/// One call through the layer, readiness included.
pub(super) async fn call<S: Subject>(
    subject: &S,
    service: &mut S::Service,
) -> Result<Response<S::Answer>, BoxError> {
    ready(service).await?;
    let call = service.call(subject.request(upload()));
    drive(call, POLLS, || {}).await.0.map_err(Into::into)
}

/// The frames of a body, whose waker is watched, and the error that ended it.
pub(super) async fn frames<B>(body: B) -> (Vec<Frame<B::Data>>, Option<BoxError>)
where
    B: Body<Error: Into<BoxError>>,
{
    let mut body = pin!(body);
    let mut frames = Vec::new();
    loop {
        let next = poll_fn(|cx| body.as_mut().poll_frame(cx));
        match drive(next, POLLS, || {}).await.0 {
            None => return (frames, None),
            Some(Ok(frame)) => frames.push(frame),
            Some(Err(error)) => return (frames, Some(error.into())),
        }
    }
}
