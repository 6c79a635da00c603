//! Every default as the code has it.

use std::fmt::Debug;
use std::time::Duration;

use http::{Extensions, HeaderMap};
use steadfast::admission::breaker::BreakerConfig;
use steadfast::budget::RatioBudget;
use steadfast::deadline::server::{InboundConfig, default_headers};
use steadfast::deadline::{BodyTimeoutLayer, PropagateConfig};
use steadfast::decide::Terms;
use steadfast::grpc::RetryableCodes;
use steadfast::idempotency::client::{KeyConfig, Routes};
use steadfast::idempotency::server::{EngineConfig, IdempotencyConfig};
use steadfast::retry::RetryConfig;
use steadfast::sqlx::SqliteStore;
use steadfast::{Hints, Jitter, admission, backoff, budget, deadline, decide, hyper, keyed, retry};

use super::writing::{
    bytes, codes, debug, headers, hints, multiplier, option, plain, ratio, statuses, time,
};

type Row = (&'static str, String);

/// A row for each constant or function, under its path: how it is written, then what.
macro_rules! rows {
    ($($write:ident $path:path;)*) => {
        vec![$((stringify!($path), $write($path))),*]
    };
}

/// What has a constant.
pub(super) fn constants() -> Vec<Row> {
    rows! {
        plain decide::DEFAULT_MAX_ATTEMPTS;
        time backoff::DEFAULT_BASE;
        time backoff::DEFAULT_THROTTLED_BASE;
        multiplier backoff::DEFAULT_MULTIPLIER;
        time backoff::DEFAULT_CAP;
        time retry::DEFAULT_TOTAL_LIMIT;
        bytes retry::DEFAULT_REPLAY_LIMIT;
        bytes retry::DEFAULT_KEEP_LIMIT;
        bytes retry::DEFAULT_DRAIN_LIMIT;
        ratio budget::DEFAULT_RATIO;
        time budget::DEFAULT_WINDOW;
        plain budget::DEFAULT_MAX_TOKENS;
        ratio budget::DEFAULT_TOKEN_RATIO;
        ratio budget::DEFAULT_CONCURRENCY_RATIO;
        plain budget::DEFAULT_CONCURRENCY_MINIMUM;
        plain budget::DEFAULT_CAPACITY;
        plain budget::DEFAULT_TRANSIENT_COST;
        plain budget::DEFAULT_THROTTLED_COST;
        plain budget::DEFAULT_RATE;
        time budget::DEFAULT_RATE_INTERVAL;
        plain keyed::DEFAULT_MAX_KEYS;
        time keyed::DEFAULT_IDLE;
        time deadline::DEFAULT_CALL_LIMIT;
        time deadline::DEFAULT_ATTEMPT_TIMEOUT;
        time deadline::DEFAULT_IDLE_LIMIT;
        time deadline::server::DEFAULT_MAXIMUM;
        time deadline::server::DEFAULT_ANSWER_MARGIN;
        time hyper::DEFAULT_CONNECT_TIMEOUT;
        time admission::breaker::DEFAULT_WINDOW;
        plain admission::breaker::DEFAULT_MINIMUM;
        ratio admission::breaker::DEFAULT_FAILURE_RATE;
        time admission::breaker::DEFAULT_OPEN_BASE;
        time admission::breaker::DEFAULT_OPEN_CAP;
        ratio admission::breaker::DEFAULT_OPEN_SPREAD;
        plain admission::breaker::DEFAULT_PROBES;
        time admission::breaker::DEFAULT_PROBE_LEASE;
        plain admission::bulkhead::DEFAULT_LIMIT;
        time admission::bulkhead::DEFAULT_MAX_WAIT;
        plain admission::bulkhead::DEFAULT_MAX_QUEUE;
        ratio admission::bulkhead::DEFAULT_RESERVE;
        statuses admission::cooldown::DEFAULT_STATUSES;
        time admission::cooldown::DEFAULT_MAX;
        ratio admission::arrivals::DEFAULT_SHARE;
        time admission::arrivals::DEFAULT_WINDOW;
        plain admission::arrivals::DEFAULT_MINIMUM;
    }
}

/// What has a type of its own, and a default of it.
pub(super) fn choices() -> Vec<Row> {
    vec![
        ("Jitter::default", debug(Jitter::default())),
        (
            "decide::HintRule::default",
            debug(decide::HintRule::default()),
        ),
        (
            "decide::Strictness::default",
            debug(decide::Strictness::default()),
        ),
        (
            "decide::Admission::default",
            debug(decide::Admission::default()),
        ),
        ("Hints::default", hints(&Hints::default())),
        (
            "grpc::RetryableCodes::default",
            codes(RetryableCodes::default()),
        ),
        ("retry::Commit::default", debug(retry::Commit::default())),
        (
            "retry::UpstreamOwner::default",
            debug(retry::UpstreamOwner::default()),
        ),
        (
            "admission::Scope::default",
            debug(admission::Scope::default()),
        ),
        (
            "deadline::server::Mode::default",
            debug(deadline::server::Mode::default()),
        ),
        ("deadline::server::InboundTrust::default", debug(trust())),
        (
            "deadline::server::default_headers",
            headers(&default_headers()),
        ),
    ]
}

/// What a config says.
pub(super) fn configs() -> Vec<Row> {
    let retry = RetryConfig::default();
    let budget = RatioBudget::default();
    let propagate = PropagateConfig::default();
    let breaker = BreakerConfig::default();
    let keys = KeyConfig::new(Routes::new());
    let server = IdempotencyConfig::new(|_| Some("anybody"));
    let engine = EngineConfig::default();
    let fields = [
        (
            "decide::Terms",
            "max_hint",
            option(Terms::default().max_hint),
        ),
        (
            "retry::RetryConfig",
            "owner_mark",
            option(retry.owner_mark()),
        ),
        ("retry::RetryConfig", "rules", option(retry.rules().first())),
        (
            "budget::RatioBudget",
            "minimum_per_second",
            ratio(budget.minimum_per_second()),
        ),
        (
            "budget::RatioBudget",
            "reserve_for_critical",
            ratio(budget.reserve_for_critical()),
        ),
        (
            "deadline::BodyTimeoutLayer",
            "total",
            time(BodyTimeoutLayer::default().total()),
        ),
        (
            "deadline::PropagateConfig",
            "margin",
            time(propagate.margin()),
        ),
        (
            "deadline::PropagateConfig",
            "headers",
            headers(propagate.headers()),
        ),
        (
            BREAKER,
            "consecutive_failures",
            option(breaker.consecutive_failures()),
        ),
        (BREAKER, "slow_calls", option(breaker.slow_calls())),
        (KEYS, "header", plain(keys.header())),
        (KEYS, "format", debug(keys.format())),
        (KEYS, "source", debug(keys.source())),
        (KEYS, "lifetime", option(keys.lifetime())),
        (
            "idempotency::client::Routes",
            "is_empty",
            plain(Routes::default().is_empty()),
        ),
        (SERVER, "syntax", debug(server.syntax())),
        (SERVER, "key_policy", debug(server.key_policy())),
        (SERVER, "anonymous_keys", debug(server.anonymous_keys())),
        (SERVER, "request_limit", bytes(server.request_limit())),
        (SERVER, "request_timeout", time(server.request_timeout())),
        (SERVER, "response_limit", bytes(server.response_limit())),
        (SERVER, "replay_marker", plain(server.replay_marker())),
        (ENGINE, "work_limit", time(engine.work_limit())),
        (ENGINE, "store_timeout", time(engine.store_timeout())),
        (ENGINE, "retention", time(engine.retention())),
        (ENGINE, "transaction_use", debug(engine.transaction_use())),
    ];
    let row = |(of, field, value)| (&*format!("{of}::{field}").leak(), value);
    fields.map(row).into()
}

const BREAKER: &str = "admission::breaker::BreakerConfig";
const KEYS: &str = "idempotency::client::KeyConfig";
const SERVER: &str = "idempotency::server::IdempotencyConfig";
const ENGINE: &str = "idempotency::server::EngineConfig";

/// What a store says of itself.
pub(super) async fn sqlite() -> Vec<Row> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.sqlite");
    let store = SqliteStore::open(path).await.unwrap();
    let of = async |pragma| {
        let row = sqlx::query_scalar::<_, i64>(pragma);
        row.fetch_one(store.writer()).await.unwrap()
    };
    let journal = sqlx::query_scalar::<_, String>("PRAGMA journal_mode");
    let busy = of("PRAGMA busy_timeout").await.try_into().unwrap();
    let full = of("PRAGMA synchronous").await == 2;
    let most = |pool: &sqlx::SqlitePool| plain(pool.options().get_max_connections());
    vec![
        (
            "PRAGMA journal_mode",
            journal.fetch_one(store.writer()).await.unwrap(),
        ),
        (
            "PRAGMA synchronous",
            plain(if full { "FULL" } else { "less" }),
        ),
        ("PRAGMA busy_timeout", time(Duration::from_millis(busy))),
        ("SqliteStore::writer", most(store.writer())),
        ("SqliteStore::reader", most(store.reader())),
    ]
}

fn trust() -> impl Debug {
    InboundConfig::default().trust_of(&HeaderMap::new(), &Extensions::new())
}
