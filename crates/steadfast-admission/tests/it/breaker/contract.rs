use steadfast_admission::BreakerLayer;
use steadfast_admission::breaker::{Breaker, BreakerBody, BreakerConfig, Window};
use steadfast_admission::{Mode, Scope};
use steadfast_core::{Backoff, Ratio};
use steadfast_kit::Chunks;
use steadfast_kit::contract::{Inner, Subject, assert_contract};

use super::*;

struct Guarded(fn(BreakerConfig) -> BreakerConfig);

impl Subject for Guarded {
    type Sent = Chunks;
    type Answer = BreakerBody<Chunks>;
    type Service = Breaker<Inner<Chunks>>;
    type Layer = BreakerLayer;

    fn layer(&self) -> BreakerLayer {
        BreakerLayer::new(self.0(BreakerConfig::default()))
    }

    fn extremes(&self) -> Vec<BreakerLayer> {
        let one = Window::time(Duration::ZERO)
            .with_minimum(NonZeroU32::MIN)
            .unwrap();
        [Duration::ZERO, Duration::from_nanos(1), Duration::MAX]
            .into_iter()
            .flat_map(|time| {
                let open = Backoff::default().with_base(time).with_cap(time);
                let config = BreakerConfig::default()
                    .with_window(one)
                    .with_open(open)
                    .with_probe_lease(time)
                    .with_slow_calls(time, Ratio::ZERO)
                    .with_idle(time);
                let calls = Window::calls(NonZeroU32::MIN).unwrap();
                [
                    BreakerLayer::new(config.clone()),
                    BreakerLayer::new(config.clone().with_window(Window::time(Duration::MAX))),
                    BreakerLayer::new(config.with_window(calls).with_failure_rate(Ratio::ZERO)),
                ]
            })
            .collect()
    }
}

#[tokio::test(start_paused = true)]
async fn the_breaker_keeps_every_promise_of_a_layer() {
    assert_contract(&Guarded(|config| config)).await;
    assert_contract(&Guarded(|config| config.with_scope(Scope::Layer))).await;
    assert_contract(&Guarded(|config| config.with_mode(Mode::Shadow))).await;
}

#[test]
fn auto_traits_follow_the_inner_service() {
    fn all<T: Clone + Send + Sync + Unpin + std::fmt::Debug>(_: &T) {}
    fn send<T: Send + Sync + Unpin>() {}
    all(&BreakerLayer::default().layer(()));
    all(&BreakerLayer::default());
    all(&BreakerLayer::default().handle());
    send::<BreakerBody<http_body_util::Empty<&'static [u8]>>>();
}
