use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::Response;
use pin_project_lite::pin_project;
use steadfast_core::BoxError;

use super::fell::reason_of;
use super::{FallbackBody, FallbackLayer, Fell};
use crate::told::Told;

pin_project! {
    /// The future of a call through a [`Fallback`](super::Fallback).
    ///
    /// Dropped at any point it leaves nothing behind; the function has not run then.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct FallbackFuture<C, F> {
        #[pin]
        call: C,
        layer: Arc<FallbackLayer<F>>,
        told: Told,
    }
}

impl<C, F> FallbackFuture<C, F> {
    pub(super) const fn new(call: C, layer: Arc<FallbackLayer<F>>, told: Told) -> Self {
        Self { call, layer, told }
    }
}

impl<C, F, R, E> Future for FallbackFuture<C, F>
where
    C: Future<Output = Result<Response<R>, E>>,
    E: Into<BoxError>,
    F: Fn(&Fell<'_>) -> Response<Bytes>,
{
    type Output = Result<Response<FallbackBody<R>>, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (layer, told) = (&**this.layer, &*this.told);
        Poll::Ready(match ready!(this.call.poll(cx)) {
            Ok(answer) => Ok(or_answer(answer, layer, told)),
            Err(error) => answer_to(error.into(), layer, told),
        })
    }
}

fn or_answer<R, F>(
    answer: Response<R>,
    layer: &FallbackLayer<F>,
    told: &Told,
) -> Response<FallbackBody<R>>
where
    F: Fn(&Fell<'_>) -> Response<Bytes>,
{
    let Some(reason) = layer.chosen(&answer) else {
        return answer.map(FallbackBody::peer);
    };
    // Its connection is for others, however long the function takes.
    let (head, _) = answer.into_parts();
    let fell = Fell {
        reason,
        method: told.method(),
        error: None,
        head: Some(&head),
    };
    layer.answer(&fell, told)
}

fn answer_to<R, F>(
    error: BoxError,
    layer: &FallbackLayer<F>,
    told: &Told,
) -> Result<Response<FallbackBody<R>>, BoxError>
where
    F: Fn(&Fell<'_>) -> Response<Bytes>,
{
    let Some(reason) = reason_of(&*error).filter(|reason| layer.is_for(*reason)) else {
        return Err(error);
    };
    let fell = Fell {
        reason,
        method: told.method(),
        error: Some(&*error),
        head: None,
    };
    Ok(layer.answer(&fell, told))
}
