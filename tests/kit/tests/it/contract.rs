//! The suite lets layers pass that keep their promises, and names the one that is broken.

use std::future::Future;
use std::pin::Pin;

use http::Response;
use steadfast_kit::contract::{Inner, Promise, Subject, assert_contract, broken_promises};
use steadfast_kit::{BoxError, Chunks};
use tower::Layer;
use tower::limit::ConcurrencyLimitLayer;

type Below = Inner<Chunks>;
type Answer = Result<Response<Chunks>, BoxError>;
type Boxed = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// Any layer that hands everything on.
macro_rules! subject {
    ($name:ident, $layer:ty, $make:expr $(, $item:item)*) => {
        struct $name;

        impl Subject for $name {
            type Sent = Chunks;
            type Answer = Chunks;
            type Service = <$layer as Layer<Below>>::Service;
            type Layer = $layer;

            fn layer(&self) -> $layer {
                $make
            }

            $($item)*
        }
    };
}

/// A layer that makes services of one kind.
macro_rules! layer {
    ($layer:ident, $service:ident) => {
        #[derive(Clone)]
        struct $layer;

        impl Layer<Below> for $layer {
            type Service = $service;

            fn layer(&self, inner: Below) -> $service {
                $service::new(inner)
            }
        }
    };
}

mod answers;
mod leaks;
mod readiness;
mod wakers;

subject!(
    Nothing,
    tower::layer::util::Identity,
    tower::layer::util::Identity::new()
);

#[tokio::test(start_paused = true)]
async fn a_layer_that_does_nothing_keeps_every_promise() {
    assert_contract(&Nothing).await;
}

subject!(Limit, ConcurrencyLimitLayer, ConcurrencyLimitLayer::new(2));

#[tokio::test(start_paused = true)]
async fn towers_concurrency_limit_keeps_every_promise() {
    assert_contract(&Limit).await;
}

subject!(
    LimitOfOne,
    ConcurrencyLimitLayer,
    ConcurrencyLimitLayer::new(1)
);

/// Clones of it are meant to wait for each other.
#[tokio::test(start_paused = true)]
async fn a_limit_of_one_is_found_not_to_let_clones_call_at_once() {
    assert_eq!(broken(&LimitOfOne).await, [Promise::IndependentClones]);
}

subject!(
    ExceptedForNothing,
    tower::layer::util::Identity,
    tower::layer::util::Identity::new(),
    fn excepted(&self) -> Vec<(Promise, &'static str)> {
        vec![(Promise::AnswerFrames, "it reads answers whole")]
    }
);

#[tokio::test(start_paused = true)]
#[should_panic(expected = "kept, although excepted: it reads answers whole")]
async fn an_exception_that_is_not_needed_is_found() {
    assert_contract(&ExceptedForNothing).await;
}

async fn broken<S: Subject>(subject: &S) -> Vec<Promise> {
    broken_promises(subject)
        .await
        .into_iter()
        .map(|it| it.promise)
        .collect()
}
