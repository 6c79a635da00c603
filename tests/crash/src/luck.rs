//! What chance there is inside a server.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tower_http::timeout::TimeoutLayer;

use crate::order::{Fate, Order};

/// All of it comes from the server's seed.
#[derive(Clone, Debug)]
pub(crate) struct Luck(Arc<Mutex<StdRng>>);

impl Luck {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(StdRng::seed_from_u64(seed))))
    }

    /// A number of this execution alone: 64 random bits.
    pub(crate) fn run(&self) -> String {
        format!("{:016x}", self.draw(RngExt::random::<u64>))
    }

    pub(crate) fn fate(&self, order: &Order) -> Fate {
        match self.draw(|rng| rng.random_range(0..100)) {
            0..4 => Fate::Failed,
            4..8 => Fate::Panicked,
            _ if order.declined => Fate::Declined,
            _ => Fate::Kept,
        }
    }

    /// Most handlers go straight on, some are slow.
    pub(crate) fn pause(&self) -> Duration {
        let slow = self.draw(|rng| rng.random_range(0..100_u32));
        Duration::from_millis(u64::from(slow.saturating_sub(85)))
    }

    /// Some servers have little patience with themselves. The work goes on behind their answer.
    pub(crate) fn outer_timeout(&self) -> TimeoutLayer {
        let limit = match self.draw(|rng| rng.random_range(0..3)) {
            0 => Duration::from_millis(self.draw(|rng| rng.random_range(4..40))),
            _ => Duration::from_secs(60),
        };
        TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, limit)
    }

    fn draw<T>(&self, draw: impl FnOnce(&mut StdRng) -> T) -> T {
        draw(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
