//! The two servers that the shop needs: the stock, and the reviews, which can be made to hang.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use steadfast::BoxError;
use tokio::sync::watch;

use crate::serving::Serving;

pub(crate) struct Others {
    pub(crate) stock: Serving,
    pub(crate) reviews: Serving,
    state: Reviews,
}

#[derive(Clone)]
struct Reviews {
    hang: Arc<watch::Sender<bool>>,
    asked: Arc<AtomicUsize>,
}

impl Others {
    pub(crate) async fn start() -> Result<Self, BoxError> {
        let state = Reviews {
            hang: Arc::new(watch::Sender::new(false)),
            asked: Arc::default(),
        };
        let stock = Router::new().route("/", get(async || "12 left"));
        let reviews = Router::new()
            .route("/", get(reviews))
            .with_state(state.clone());
        Ok(Self {
            stock: Serving::start(stock).await?,
            reviews: Serving::start(reviews).await?,
            state,
        })
    }

    /// From now on the reviews hang, or answer.
    pub(crate) fn reviews_hang(&self, hang: bool) {
        self.state.hang.send_replace(hang);
    }

    /// How often they were asked.
    pub(crate) fn reviews_asked(&self) -> usize {
        self.state.asked.load(Ordering::Relaxed)
    }
}

async fn reviews(State(reviews): State<Reviews>) -> &'static str {
    reviews.asked.fetch_add(1, Ordering::Relaxed);
    let mut hang = reviews.hang.subscribe();
    // An error says that nobody can let it go on: as good as an end.
    let _ = hang.wait_for(|hang| !hang).await;
    "five stars"
}
