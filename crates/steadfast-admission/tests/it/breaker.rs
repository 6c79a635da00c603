use std::num::NonZeroU32;
use std::time::Duration;

use http_body_util::BodyExt;
use steadfast_admission::BreakerLayer;
use steadfast_admission::breaker::{Breaker, BreakerConfig, BreakerHandle, Window};
use steadfast_core::backoff::Jitter;
use steadfast_core::{Backoff, CircuitState, Reason, Rejected};
use tower::{Layer, ServiceExt};

use crate::peer::{Does, Peer, to};

mod contract;
mod cost;
mod destinations;
mod events;
mod grpc;
mod hands;
mod patience;
mod probes;
mod reload;
mod results;
mod threads;

const SECOND: Duration = Duration::from_secs(1);
const HOST: &str = "a.example";

fn count(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

/// Opens at half of at least four calls, for exactly 5 s the first time.
fn config() -> BreakerConfig {
    BreakerConfig::default()
        .with_window(Window::default().with_minimum(count(4)).unwrap())
        .with_open(exactly(5 * SECOND))
}

fn exactly(base: Duration) -> Backoff {
    Backoff::default()
        .with_base(base)
        .with_cap(60 * SECOND)
        .with_jitter(Jitter::None)
}

struct Stack {
    layer: BreakerLayer,
    peer: Peer,
}

impl Stack {
    fn new(config: BreakerConfig) -> Self {
        Self {
            layer: BreakerLayer::new(config),
            peer: Peer::default(),
        }
    }

    fn service(&self) -> Breaker<Peer> {
        self.layer.layer(self.peer.clone())
    }

    fn handle(&self) -> BreakerHandle {
        self.layer.handle()
    }

    fn state(&self) -> CircuitState {
        self.handle().state(HOST)
    }

    /// One call, its answer read to the end; whether a refusal of ours came back.
    async fn call(&self, does: Does) -> Called {
        match self.service().oneshot(to(HOST, does)).await {
            Ok(answer) => {
                let status = answer.status().as_u16();
                match answer.into_body().collect().await {
                    Ok(_) => Called::Answered(status),
                    Err(_) => Called::Broke,
                }
            }
            Err(error) => match Rejected::find(&*error) {
                Some(rejected) => {
                    assert_eq!(rejected.reason(), Reason::CircuitOpen);
                    Called::Refused(rejected.retry_in())
                }
                None => Called::Failed,
            },
        }
    }

    /// Four failures in a row.
    async fn open(&self) {
        for _ in 0..4 {
            self.call(Does::Status(500)).await;
        }
        assert_eq!(self.state(), CircuitState::Open);
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Called {
    Answered(u16),
    Broke,
    Failed,
    Refused(Option<Duration>),
}
