//! The kit's contract suite.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{Response, StatusCode};
use http_body_util::BodyExt;
use steadfast_core::budget::{Ask, Budget, RatioBudget};
use steadfast_core::decide::{HintRule, Strictness};
use steadfast_core::{Backoff, BoxError, Jitter, Ratio};
use steadfast_kit::contract::{Inner, Subject, assert_contract};
use steadfast_kit::{Chunks, Schedule, Step};
use steadfast_retry::{ReplayBody, ResponseBody, Retry, RetryConfig, RetryLayer};

use crate::stack::{Sent, attempts, config, post, run, stack};

mod alone;

/// Calls of four attempts: an answer, an error, and an answer that asks for a wait come first.
#[derive(Default)]
struct Retries {
    latest: Mutex<Option<RatioBudget>>,
}

/// Ten retries a window, whatever the calls.
fn budget() -> RatioBudget {
    RatioBudget::new(Ratio::ZERO).with_minimum_per_second(Ratio::ONE)
}

impl Subject for Retries {
    type Sent = ReplayBody<Chunks>;
    type Answer = ResponseBody<Chunks>;
    type Service = Retry<Inner<ReplayBody<Chunks>>>;
    type Layer = RetryLayer;

    fn layer(&self) -> RetryLayer {
        let budget = budget();
        *self.latest.lock().unwrap() = Some(budget.clone());
        RetryLayer::new(config().with_max_attempts(attempts(4)).with_budget(budget))
    }

    fn failures(&self) -> Vec<Result<Response<()>, BoxError>> {
        let reset = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
        let status = |status| {
            let mut answer = Response::new(());
            *answer.status_mut() = status;
            answer
        };
        let mut throttled = status(StatusCode::TOO_MANY_REQUESTS);
        throttled
            .headers_mut()
            .insert("retry-after", http::HeaderValue::from_static("1"));
        vec![
            Ok(status(StatusCode::SERVICE_UNAVAILABLE)),
            Err(reset.into()),
            Ok(throttled),
        ]
    }

    /// O-08: what was not sent is in the budget again, and nothing else is.
    fn released(&self, inner: &Inner<ReplayBody<Chunks>>) {
        let latest = self.latest.lock().unwrap();
        let budget = latest.as_ref().unwrap();
        let ask = Ask::new(tokio::time::Instant::now().into_std());
        // Unsent, they go back when they are dropped.
        let left = std::iter::from_fn(|| budget.reserve(ask)).collect::<Vec<_>>();
        let sent = inner.calls().saturating_sub(1);
        assert_eq!(left.len() + sent, 10, "after {} calls", inner.calls());
    }

    fn extremes(&self) -> Vec<RetryLayer> {
        let none = Backoff::default()
            .with_base(Duration::ZERO)
            .with_throttled_base(Duration::ZERO)
            .with_cap(Duration::ZERO);
        let endless = none
            .with_base(Duration::MAX)
            .with_throttled_base(Duration::MAX)
            .with_cap(Duration::MAX)
            .with_jitter(Jitter::None);
        let all = |bytes: usize, time: Duration, backoff: Backoff, most: u32| -> RetryConfig {
            config()
                .with_max_attempts(attempts(most))
                .with_backoff(backoff)
                .with_total_limit(time)
                .with_max_hint(time)
                .with_replay_limit(bytes)
                .with_keep_limit(bytes)
                .with_drain_limit(bytes)
        };
        let mut configs = Vec::new();
        for bytes in [0, usize::MAX] {
            for time in [Duration::ZERO, Duration::MAX] {
                for backoff in [none, endless] {
                    // Endless waits for an endless time are what was asked for.
                    let most = if backoff == endless && !time.is_zero() {
                        1
                    } else {
                        u32::MAX
                    };
                    configs.push(all(bytes, time, backoff, most));
                }
            }
        }
        configs.push(
            config()
                .with_hint_rule(HintRule::Max)
                .with_strictness(Strictness::Strict),
        );
        configs.into_iter().map(RetryLayer::new).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn the_retry_layer_keeps_every_promise_of_a_layer() {
    assert_contract(&Retries::default()).await;
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config {
        cases: 256,
        rng_seed: proptest::test_runner::RngSeed::Fixed(19),
        ..Default::default()
    })]

    /// O-19: whatever frames a request has, and however they come.
    #[test]
    fn every_attempt_sends_the_frames_of_the_first(seed in proptest::num::u64::ANY) {
        let schedule = Schedule { errors: false, ..Schedule::default() };
        let body = || Chunks::new(schedule.pieces(seed));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let bodies = Arc::<Mutex<Vec<_>>>::default();
            let keep = |status: u16| {
                let bodies = bodies.clone();
                Step::call(move |request: Sent| async move {
                    let body = request.into_body().collect().await?;
                    bodies.lock().unwrap().push(body);
                    let mut answer = Response::new(Chunks::of(["answer"]));
                    *answer.status_mut() = StatusCode::from_u16(status)?;
                    Ok(answer)
                })
            };
            let (retry, _) = stack(config(), vec![keep(503), keep(503), keep(200)]);
            let mut request = post(body());
            *request.method_mut() = http::Method::PUT;
            run(&retry, request).await.unwrap();
            let want = body().collect().await.unwrap();
            let (trailers, bytes) = (want.trailers().cloned(), want.to_bytes());
            let bodies = std::mem::take(&mut *bodies.lock().unwrap());
            assert_eq!(bodies.len(), 3);
            for sent in bodies {
                assert_eq!(sent.trailers(), trailers.as_ref());
                assert_eq!(sent.to_bytes(), bytes);
            }
        });
    }
}
