//! Who visits the shop, and what they see.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use steadfast::BoxError;
use steadfast::reqwest::{Client, Leaf, client_builder};
use tokio::time::{Instant, sleep};

use crate::shop::Shop;

/// What came of some visits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) answered: usize,
    pub(crate) slowest: Duration,
    refused: Vec<Duration>,
}

impl Seen {
    /// How long it usually took to be refused: the median.
    pub(crate) fn usual(&self) -> Duration {
        let mut refused = self.refused.clone();
        refused.sort_unstable();
        refused.get(refused.len() / 2).copied().unwrap_or_default()
    }
}

#[derive(Clone)]
pub(crate) struct Visitor {
    client: Client<Leaf>,
    stock: String,
    reviews: String,
    refusals: Arc<Mutex<Seen>>,
}

impl Visitor {
    pub(crate) fn new(shop: &Shop) -> Result<Self, BoxError> {
        // No layers: visitors see what the shop says.
        let leaf = Leaf::new(client_builder().no_proxy().build()?);
        Ok(Self {
            client: Client::new(leaf),
            stock: shop.url("/stock"),
            reviews: shop.url("/reviews"),
            refusals: Arc::default(),
        })
    }

    pub(crate) async fn ask(&self, path: &str, seen: &mut Seen) -> Result<(), BoxError> {
        let begun = Instant::now();
        let url = if path == "/stock" {
            &self.stock
        } else {
            &self.reviews
        };
        let answer = self.client.get(url).send().await?;
        let ok = answer.status().is_success();
        answer.bytes().await?;
        let took = begun.elapsed();
        match ok {
            true => {
                seen.answered += 1;
                seen.slowest = seen.slowest.max(took);
            }
            false => seen.refused.push(took),
        }
        Ok(())
    }

    /// Asks again and again, with a breath in between, and keeps what it was told.
    pub(crate) async fn ask_until_dropped(&self, path: &str) {
        loop {
            let mut seen = Seen::default();
            if let Err(error) = self.ask(path, &mut seen).await {
                eprintln!("a visitor got no answer: {error}");
            }
            self.keep(seen);
            sleep(Duration::from_millis(2)).await;
        }
    }

    fn keep(&self, mut seen: Seen) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.refused.append(&mut seen.refused);
    }

    /// What those who asked until they were dropped were told.
    pub(crate) fn take_refusals(&self) -> Seen {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *refusals)
    }
}
