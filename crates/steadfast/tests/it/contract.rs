//! Both stacks keep every promise of a layer.

use std::time::Duration;

use http::{Response, StatusCode};
use steadfast::client::{self, BudgetKind, Budgets, Draft, Profile};
use steadfast::retry::ReplayBody;
use steadfast::{BoxError, Ratio, server};
use steadfast_kit::Chunks;
use steadfast_kit::contract::{Inner, Subject, assert_contract};

struct Client;

fn draft() -> Draft {
    let plenty = BudgetKind::Ratio {
        ratio: Ratio::ONE,
        minimum_per_second: Ratio::try_from(100.0).unwrap(),
        window: Duration::from_secs(10),
        reserve: Ratio::ZERO,
    };
    let draft = Draft::of(Profile::Default).with_budgets(Budgets::Shared(plenty));
    // The suite's failures come one after the other, to one destination.
    let breaker = draft
        .breaker()
        .clone()
        .with_mode(steadfast::admission::Mode::Shadow);
    draft.with_breaker(breaker)
}

impl Subject for Client {
    type Sent = ReplayBody<Chunks>;
    type Answer = client::ResponseBody<Chunks>;
    type Service = client::Standard<Inner<ReplayBody<Chunks>>>;
    type Layer = client::StandardLayer;

    fn layer(&self) -> client::StandardLayer {
        client::StandardLayer::new(draft().check().unwrap())
    }

    fn failures(&self) -> Vec<Result<Response<()>, BoxError>> {
        let reset = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
        let mut unavailable = Response::new(());
        *unavailable.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        vec![Ok(unavailable), Err(reset.into())]
    }

    fn extremes(&self) -> Vec<client::StandardLayer> {
        let endless = draft()
            .with_call_limit(Duration::MAX)
            .with_attempt_timeout(Duration::MAX);
        let instant = draft()
            .with_call_limit(Duration::from_nanos(1))
            .with_attempt_timeout(Duration::from_nanos(1))
            .with_backoff(steadfast::Backoff::default().with_base(Duration::ZERO));
        [endless, instant]
            .map(|draft| client::StandardLayer::new(draft.check().unwrap()))
            .into()
    }
}

struct Server;

impl Subject for Server {
    type Sent = Chunks;
    type Answer = server::ResponseBody<Chunks>;
    type Service = server::Standard<Inner<Chunks>>;
    type Layer = server::StandardLayer;

    fn layer(&self) -> server::StandardLayer {
        let policy = server::Draft::new()
            .with_maximum(Duration::from_secs(30))
            .check();
        server::StandardLayer::new(policy.unwrap())
    }
}

#[tokio::test(start_paused = true)]
async fn the_client_stack_keeps_every_promise_of_a_layer() {
    assert_contract(&Client).await;
}

#[tokio::test(start_paused = true)]
async fn the_server_stack_keeps_every_promise_of_a_layer() {
    assert_contract(&Server).await;
}
