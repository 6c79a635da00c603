//! The layers that stand alone.

use steadfast_core::Ratio;
use steadfast_core::budget::RatioBudget;
use steadfast_kit::Chunks;
use steadfast_kit::contract::{Inner, Subject, assert_contract};
use steadfast_retry::{
    BudgetLayer, Budgeted, CountAttempts, CountAttemptsLayer, HintLayer, ReadHint,
};

struct Hints;

impl Subject for Hints {
    type Sent = Chunks;
    type Answer = Chunks;
    type Service = ReadHint<Inner<Chunks>>;
    type Layer = HintLayer;

    fn layer(&self) -> HintLayer {
        HintLayer::default()
    }
}

#[tokio::test(start_paused = true)]
async fn the_hint_layer_keeps_every_promise_of_a_layer() {
    assert_contract(&Hints).await;
}

struct BelowALoop;

impl Subject for BelowALoop {
    type Sent = Chunks;
    type Answer = Chunks;
    type Service = Budgeted<Inner<Chunks>>;
    type Layer = BudgetLayer;

    fn layer(&self) -> BudgetLayer {
        BudgetLayer::new(RatioBudget::default())
    }

    fn extremes(&self) -> Vec<BudgetLayer> {
        [Ratio::ZERO, Ratio::ONE]
            .map(|ratio| BudgetLayer::new(RatioBudget::new(ratio)))
            .into()
    }
}

#[tokio::test(start_paused = true)]
async fn the_budget_layer_keeps_every_promise_of_a_layer() {
    assert_contract(&BelowALoop).await;
}

struct AboveALoop;

impl Subject for AboveALoop {
    type Sent = Chunks;
    type Answer = Chunks;
    type Service = CountAttempts<Inner<Chunks>>;
    type Layer = CountAttemptsLayer;

    fn layer(&self) -> CountAttemptsLayer {
        CountAttemptsLayer::new()
    }
}

#[tokio::test(start_paused = true)]
async fn the_counting_half_keeps_every_promise_of_a_layer() {
    assert_contract(&AboveALoop).await;
}
