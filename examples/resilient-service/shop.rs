//! The service: each route needs one of the two other servers.

use std::fmt;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use steadfast::admission::{Mode, Scope};
use steadfast::axum::Problem;
use steadfast::client::{Draft, Profile, Standard, StandardLayer};
use steadfast::reqwest::{Client, Leaf, ReqwestClassify, client_builder};
use steadfast::{Backoff, BoxError, server};
use tower::Layer;

use crate::others::Others;
use crate::serving::Serving;

/// What stands between the two dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walls {
    /// One pool and one bulkhead for both.
    None,
    /// A pool and a bulkhead for each.
    Bulkheads,
    /// And a breaker for each.
    BulkheadsAndBreakers,
}

impl fmt::Display for Walls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "nothing: one pool, one bulkhead",
            Self::Bulkheads => "a pool and a bulkhead for each",
            Self::BulkheadsAndBreakers => "… and a breaker for each",
        })
    }
}

/// The type of a client with all its layers: it has a name, so that axum's state can hold it.
type Calls = Client<Standard<Leaf>>;

#[derive(Clone)]
struct Needs {
    stock: Calls,
    reviews: Calls,
    stock_at: String,
    reviews_at: String,
}

pub(crate) struct Shop {
    serving: Serving,
}

impl Shop {
    pub(crate) async fn start(others: &Others, walls: Walls) -> Result<Self, BoxError> {
        let (stock, reviews) = match walls {
            Walls::None => {
                let both = calls(walls)?;
                (both.clone(), both)
            }
            _ => (calls(walls)?, calls(walls)?),
        };
        let needs = Needs {
            stock,
            reviews,
            stock_at: others.stock.url("/"),
            reviews_at: others.reviews.url("/"),
        };
        let app = Router::new()
            .route("/stock", get(stock_of))
            .route("/reviews", get(reviews_of))
            .with_state(needs)
            .layer(server::StandardLayer::default());
        Ok(Self {
            serving: Serving::start(app).await?,
        })
    }

    pub(crate) fn url(&self, path: &str) -> String {
        self.serving.url(path)
    }
}

/// A client with a pool of connections and a state of its own.
fn calls(walls: Walls) -> Result<Calls, BoxError> {
    let draft = Draft::of(Profile::InteractiveRead);
    let bulkhead = draft.bulkhead().clone();
    let breaker = draft.breaker().clone();
    let breakers = match walls {
        Walls::BulkheadsAndBreakers => Mode::Enforced,
        _ => Mode::Off,
    };
    let open = Backoff::default().with_base(Duration::from_millis(200));
    let policy = draft
        .with_call_limit(Duration::from_secs(1))
        .with_attempt_timeout(Duration::from_millis(300))
        .with_bulkhead(
            bulkhead
                .with_limit(8.try_into()?)
                .with_max_wait(Duration::from_millis(10))
                // Each client has one dependency, or the two that share.
                .with_scope(Scope::Layer),
        )
        .with_breaker(
            breaker
                .with_consecutive_failures(8.try_into()?)
                .with_open(open.with_cap(Duration::from_millis(400)))
                .with_mode(breakers),
        )
        .check()?;
    let layer = StandardLayer::new(policy).with_classify(ReqwestClassify);
    let http = client_builder().no_proxy().build()?;
    Ok(Client::new(layer.layer(Leaf::new(http))))
}

async fn stock_of(State(needs): State<Needs>) -> Result<String, Problem> {
    ask(&needs.stock, &needs.stock_at).await
}

async fn reviews_of(State(needs): State<Needs>) -> Result<String, Problem> {
    ask(&needs.reviews, &needs.reviews_at).await
}

/// What a layer refuses is a 503, what comes too late a 504, whatever else a 502.
async fn ask(calls: &Calls, url: &str) -> Result<String, Problem> {
    let answer = calls.get(url).send().await;
    let answer = answer.and_then(|answer| answer.error_for_status());
    let text = match answer {
        Ok(answer) => answer.text().await,
        Err(error) => Err(error),
    };
    text.map_err(|error| Problem::of_call(&error))
}
