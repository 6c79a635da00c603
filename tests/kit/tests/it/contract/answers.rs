//! A layer that tells less than it was told.

use std::task::{Context, Poll};

use http::{Request, Response};
use steadfast_kit::contract::{Promise, Subject};
use steadfast_kit::{BoxError, Chunks};
use tower::{Layer, Service};

use super::{Below, Boxed, broken};

/// Tells its caller less than it was told.
#[derive(Clone)]
struct Summing(Below);

impl Summing {
    const fn new(inner: Below) -> Self {
        Self(inner)
    }
}

impl Service<Request<Chunks>> for Summing {
    type Response = Response<Chunks>;
    type Error = BoxError;
    type Future = Boxed;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0
            .poll_ready(cx)
            .map_err(|error| error.to_string().into())
    }

    fn call(&mut self, request: Request<Chunks>) -> Boxed {
        let call = self.0.call(request);
        Box::pin(async move {
            let (head, body) = call.await.map_err(|error| error.to_string())?.into_parts();
            let bytes = http_body_util::BodyExt::collect(body).await;
            let bytes = bytes.map_err(|error| error.to_string())?.to_bytes();
            let mut answer = Response::new(Chunks::of([bytes]));
            *answer.status_mut() = head.status;
            for (name, value) in &head.headers {
                answer.headers_mut().insert(name, value.clone());
            }
            Ok(answer)
        })
    }
}

layer!(SummingLayer, Summing);
subject!(Sums, SummingLayer, SummingLayer);

#[tokio::test(start_paused = true)]
async fn a_layer_that_swallows_errors_and_parts_of_answers_is_found() {
    let found = broken(&Sums).await;
    let want = [
        Promise::AnswerHead,
        Promise::AnswerExtensions,
        Promise::AnswerFrames,
        Promise::Errors,
        Promise::BodyErrors,
    ];
    assert_eq!(found, want);
}
