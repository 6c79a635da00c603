//! Seed A's second table, and its variations.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Empty;
use steadfast::budget::{Ask, Ending, Permit, RatioBudget, Sending, ThrottleBudget};
use steadfast::retry::{ReplayBody, RetryConfig, RetryLayer};
use steadfast::{Backoff, BoxError, Budget, Ratio};
use steadfast_lab::amplify::{Amplify, Cap};
use tower::util::BoxCloneSyncService;
use tower::{Layer, ServiceExt, service_fn};

fn bottom(layers: u32, cap: Cap) -> u64 {
    let amplify = Amplify {
        layers,
        ..Amplify::default()
    };
    *amplify.run(cap).last().unwrap()
}

#[test]
fn the_table_is_the_seeds_to_the_digit() {
    assert_eq!(bottom(3, Cap::Nothing), 64_000);
    assert_eq!(bottom(3, Cap::Ratio(Ratio::percent(10).unwrap())), 1_331);
}

#[test]
fn a_ratio_multiplies_by_one_and_itself_for_each_layer() {
    let cap = Cap::Ratio(Ratio::percent(10).unwrap());
    let calls = [1, 2, 3, 4, 5].map(|layers| bottom(layers, cap));
    assert_eq!(calls, [1100, 1210, 1331, 1465, 1612]);
    for percent in [5, 10, 20, 50] {
        let ratio = Ratio::percent(percent).unwrap();
        for layers in 1..=5 {
            let exact = 1000.0 * (1.0 + ratio.as_f64()).powi(layers as i32);
            let calls = bottom(layers, Cap::Ratio(ratio)) as f64;
            // Each layer rounds up once, and what is above multiplies it.
            let rounding = 2.0 * f64::from(layers) * 1.5_f64.powi(layers as i32);
            assert!(
                (exact - 1e-6..exact + rounding).contains(&calls),
                "{percent}% {layers}: {calls}"
            );
        }
    }
}

/// The seed's program with tokens in the place of the ratio.
#[test]
fn the_throttle_stops_after_three_retries_of_each_layer() {
    let calls = [1, 2, 3, 4, 5].map(|layers| bottom(layers, Cap::Throttle));
    assert_eq!(calls, [1003, 1006, 1009, 1012, 1015]);
}

#[test]
fn one_request_is_multiplied_by_each_layer() {
    let one = Amplify {
        requests: 1,
        ..Amplify::default()
    };
    assert_eq!(one.run(Cap::Nothing), [4, 16, 64]);
}

#[test]
fn a_thousand_requests_with_two_retries_each_are_three_thousand() {
    let amplify = Amplify {
        layers: 1,
        attempts: NonZeroU32::new(3).unwrap(),
        requests: 1_000,
    };
    assert_eq!(amplify.run(Cap::Nothing), [3_000]);
    assert_eq!(amplify.most(), Some(3_000));
}

/// The calls that reach the bottom of so many real layers, which know nothing of each other: each
/// makes a request of its own.
async fn through_layers(layers: u32, cap: Cap) -> u64 {
    let reached = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&reached);
    let mut stack = BoxCloneSyncService::new(service_fn(move |_: Request<Empty<Bytes>>| {
        counted.fetch_add(1, Ordering::Relaxed);
        let mut answer = Response::new(Empty::<Bytes>::new());
        *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        std::future::ready(Ok::<_, BoxError>(answer))
    }));
    for _ in 0..layers {
        let config = RetryConfig::new()
            .with_max_attempts(Amplify::default().attempts)
            .with_backoff(Backoff::default().with_base(Duration::ZERO));
        let config = match cap {
            Cap::Nothing => config.with_budget(Unlimited),
            Cap::Ratio(ratio) => config.with_budget(RatioBudget::new(ratio)),
            Cap::Throttle => config.with_budget(ThrottleBudget::default()),
        };
        let inner = service_fn(move |_: Request<ReplayBody<Empty<Bytes>>>| {
            // A task of its own, as behind a network: in one task only the outermost repeats.
            let hop = tokio::spawn(stack.clone().oneshot(Request::new(Empty::new())));
            async { hop.await.unwrap() }
        });
        let layer = RetryLayer::new(config).layer(inner);
        stack = BoxCloneSyncService::new(layer.map_response(|answer| answer.map(|_| Empty::new())));
    }
    for _ in 0..Amplify::default().requests {
        stack
            .clone()
            .oneshot(Request::new(Empty::new()))
            .await
            .unwrap();
    }
    reached.load(Ordering::Relaxed)
}

#[test]
fn the_real_layers_and_the_bare_machines_count_the_same() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let ratio = Cap::Ratio(Ratio::percent(10).unwrap());
    for cap in [Cap::Nothing, ratio, Cap::Throttle] {
        for layers in 1..=3 {
            let through = runtime.block_on(through_layers(layers, cap));
            assert_eq!(through, bottom(layers, cap), "{cap:?}, {layers} layers");
        }
    }
}

#[derive(Debug)]
struct Unlimited;

impl Budget for Unlimited {
    fn on_call(&self, _: Instant) {}

    fn on_outcome(&self, _: Sending, _: Ending, _: Instant) {}

    fn reserve(&self, _: Ask) -> Option<Permit> {
        Some(Permit::free())
    }
}
