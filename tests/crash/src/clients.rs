//! Clients that race for one key, each repeating until it has an answer or gives up.

use std::io;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::books::ACCOUNTS;
use crate::history::{Event, History, Phase};
use crate::order::Order;
use crate::wire::{PATIENCE, Protocol, send};

/// Sendings after which a client gives up, drawn for each: its outcome is unknown then.
const TRIES: RangeInclusive<u32> = 2..=12;
/// How long the calm may take to answer a key: longer than any lock, lease or timeout.
const QUIET_BOUND: Duration = Duration::from_secs(12);

/// What all clients know.
#[derive(Clone, Debug)]
pub(crate) struct Clients {
    pub(crate) seed: u64,
    pub(crate) history: History,
    /// The most that race for one key.
    pub(crate) racers: u64,
    /// The proxies.
    pub(crate) addrs: Arc<[SocketAddr]>,
}

/// The key with this number.
pub(crate) fn key(number: u64) -> String {
    format!("order-{number:06}")
}

impl Clients {
    fn rng(&self, number: u64, client: u64) -> StdRng {
        // Far enough apart that no two clients share a sequence.
        StdRng::seed_from_u64(self.seed ^ (number << 20) ^ (client << 56) ^ 0x5eed)
    }

    fn order(&self, number: u64) -> Order {
        let mut rng = self.rng(number, 255);
        Order {
            account: rng.random_range(0..ACCOUNTS),
            cents: rng.random_range(1..10_000),
            declined: rng.random_bool(0.1),
        }
    }

    /// One key's storm.
    pub(crate) async fn race(self, number: u64) -> io::Result<()> {
        let racers = self.rng(number, 254).random_range(1..=self.racers);
        let mut racing = JoinSet::new();
        for client in 0..racers {
            racing.spawn(self.clone().repeat(number, client));
        }
        let mut answered = false;
        while let Some(ended) = racing.join_next().await {
            answered |= ended.map_err(io::Error::other)??;
        }
        // Only once the key is somebody's: before, the altered order could be the first.
        let mut rng = self.rng(number, 253);
        if answered && rng.random_bool(0.2) {
            let mut altered = self.order(number);
            altered.cents += 1;
            self.send(number, &altered, Phase::Altered, PATIENCE, &mut rng)
                .await?;
        }
        Ok(())
    }

    /// Whether it has got a final answer.
    async fn repeat(self, number: u64, client: u64) -> io::Result<bool> {
        let mut rng = self.rng(number, client);
        let order = self.order(number);
        for _ in 0..rng.random_range(TRIES) {
            let patience = match rng.random_bool(0.1) {
                // Hangs up.
                true => Duration::from_micros(rng.random_range(200..15_000)),
                false => PATIENCE,
            };
            if self
                .send(number, &order, Phase::Storm, patience, &mut rng)
                .await?
            {
                return Ok(true);
            }
            sleep(Duration::from_millis(rng.random_range(2..60))).await;
        }
        Ok(false)
    }

    /// Asks until there is an answer, with nothing broken any more.
    pub(crate) async fn ask_quietly(self, number: u64) -> io::Result<()> {
        let mut rng = self.rng(number, 252);
        let order = self.order(number);
        let until = Instant::now() + QUIET_BOUND;
        while !self
            .send(number, &order, Phase::Quiet, PATIENCE, &mut rng)
            .await?
            && Instant::now() < until
        {
            sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    async fn send(
        &self,
        number: u64,
        order: &Order,
        phase: Phase,
        patience: Duration,
        rng: &mut StdRng,
    ) -> io::Result<bool> {
        let key = key(number);
        let addr = self.addrs[rng.random_range(0..self.addrs.len())];
        self.history.write(&Event::Intent {
            key: key.clone(),
            order: order.clone(),
            phase,
        })?;
        let protocol = match rng.random_bool(0.3) {
            true => Protocol::Http2,
            false => Protocol::Http1,
        };
        match send(protocol, addr, &key, order, patience).await {
            Ok(reply) => {
                let is_final = reply.is_final();
                self.history.write(&Event::Answer { key, phase, reply })?;
                Ok(is_final)
            }
            Err(_) => {
                self.history.write(&Event::Lost { key, phase })?;
                Ok(false)
            }
        }
    }
}
