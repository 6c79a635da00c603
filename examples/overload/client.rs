//! One of the callers: three attempts of a second each, and the next hop is told what is left.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Empty;
use steadfast::Random;
use steadfast::budget::{Ask, Budget, Ending, Permit, Sending};
use steadfast::deadline::{AttemptTimeoutLayer, CallLimitLayer, PropagateLayer};
use steadfast::retry::{ReplayBody, RetryConfig, RetryLayer};
use tokio::task::JoinError;
use tower::{ServiceBuilder, ServiceExt, service_fn};

use crate::server::Server;

/// How long one attempt waits.
const PATIENCE: Duration = Duration::from_secs(1);

/// What caps the retries of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retries {
    /// Nothing.
    Naive,
    /// The default budget: a tenth of the calls.
    Budgeted,
}

impl fmt::Display for Retries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Naive => "no budget",
            Self::Budgeted => "default budget",
        })
    }
}

/// A budget that is never spent: what most retry loops have.
#[derive(Debug)]
struct Unlimited;

impl Budget for Unlimited {
    fn on_call(&self, _: Instant) {}

    fn on_outcome(&self, _: Sending, _: Ending, _: Instant) {}

    fn reserve(&self, _: Ask) -> Option<Permit> {
        Some(Permit::free())
    }
}

/// A stack with state of its own; each call says whether it succeeded.
pub(crate) fn client(
    retries: Retries,
    random: Random,
    server: Server,
    sent: Arc<AtomicU64>,
) -> impl Fn() -> std::pin::Pin<Box<dyn Future<Output = bool> + Send>> + Clone {
    let config = RetryConfig::new().with_random(random);
    let config = match retries {
        Retries::Naive => config.with_budget(Unlimited),
        Retries::Budgeted => config,
    };
    let network = service_fn(move |request: Request<ReplayBody<Empty<Bytes>>>| {
        sent.fetch_add(1, Ordering::Relaxed);
        send(server.clone(), request.map(drop))
    });
    let stack = ServiceBuilder::new()
        .layer(CallLimitLayer::default())
        .layer(RetryLayer::new(config))
        .layer(AttemptTimeoutLayer::new(PATIENCE))
        .layer(PropagateLayer::default())
        .service(network);
    move || {
        let request = Request::get("http://queue.example/").body(Empty::new());
        let answer = stack
            .clone()
            .oneshot(request.expect("a constant request is valid"));
        Box::pin(async {
            answer
                .await
                .is_ok_and(|answer| answer.status().is_success())
        })
    }
}

/// The request arrives, and stays when its sender leaves: a server learns of that late, if ever.
async fn send(server: Server, request: Request<()>) -> Result<Response<Empty<Bytes>>, JoinError> {
    tokio::spawn(server.serve(request)).await
}
