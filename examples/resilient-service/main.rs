//! A service that calls two others, and keeps what does not need the one that hangs: see README.md.

use std::process::ExitCode;
use std::time::Duration;

use steadfast::BoxError;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::others::Others;
use crate::shop::{Shop, Walls};
use crate::visitor::{Seen, Visitor};

mod others;
mod serving;
mod shop;
mod visitor;

/// Visitors at a time who want the reviews, which hang.
const WANT_REVIEWS: usize = 16;
/// Visits for the stock in each row, one after the other.
const WANT_STOCK: usize = 40;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match show().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("resilient-service: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the table, and fails where it shows something else than it should.
async fn show() -> Result<(), BoxError> {
    println!("The reviews hang; {WANT_REVIEWS} visitors at a time ask for them all the same.");
    println!("{WANT_STOCK} visits for the stock, which is well.");
    println!();
    println!("| between the two | stock answered | slowest | reviews refused after | asked |");
    println!("|---|---|---|---|---|");
    let mut rows = Vec::new();
    for walls in [Walls::None, Walls::Bulkheads, Walls::BulkheadsAndBreakers] {
        let row = row(walls).await?;
        println!(
            "| {walls} | {} of {WANT_STOCK} | {} ms | {} ms | {} |",
            row.stock.answered,
            row.stock.slowest.as_millis(),
            row.reviews.usual().as_millis(),
            row.asked,
        );
        rows.push(row);
    }
    let [none, bulkheads, breakers] = &rows[..] else {
        return Err("not three rows".into());
    };
    if none.stock.answered > WANT_STOCK / 2 {
        return Err("without walls the stock was not missed".into());
    }
    if bulkheads.stock.answered < WANT_STOCK || breakers.stock.answered < WANT_STOCK {
        return Err("a hanging dependency took another one with it".into());
    }
    if breakers.asked >= bulkheads.asked {
        return Err("a breaker did not spare the server that hangs".into());
    }
    if !breakers.back {
        return Err("the reviews did not come back".into());
    }
    println!();
    println!("When the reviews answer again, the breaker finds out by itself.");
    Ok(())
}

/// What one row saw.
struct Row {
    stock: Seen,
    reviews: Seen,
    /// Requests that the hanging server got.
    asked: usize,
    /// Whether reviews were served again after it had recovered.
    back: bool,
}

async fn row(walls: Walls) -> Result<Row, BoxError> {
    let others = Others::start().await?;
    let shop = Shop::start(&others, walls).await?;
    let visitor = Visitor::new(&shop)?;
    others.reviews_hang(true);
    let mut wanting = JoinSet::new();
    for _ in 0..WANT_REVIEWS {
        let visitor = visitor.clone();
        wanting.spawn(async move { visitor.ask_until_dropped("/reviews").await });
    }
    // Until they are in the way.
    sleep(Duration::from_millis(100)).await;
    let mut stock = Seen::default();
    for _ in 0..WANT_STOCK {
        visitor.ask("/stock", &mut stock).await?;
        sleep(Duration::from_millis(20)).await;
    }
    wanting.abort_all();
    while wanting.join_next().await.is_some() {}
    let asked = others.reviews_asked();
    others.reviews_hang(false);
    let back = comes_back(&visitor).await?;
    Ok(Row {
        stock,
        reviews: visitor.take_refusals(),
        asked,
        back,
    })
}

/// Whether the reviews are served again, within two seconds.
async fn comes_back(visitor: &Visitor) -> Result<bool, BoxError> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(2) {
        let mut seen = Seen::default();
        visitor.ask("/reviews", &mut seen).await?;
        if seen.answered == 1 {
            return Ok(true);
        }
        sleep(Duration::from_millis(20)).await;
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    #[tokio::test]
    async fn a_hanging_dependency_leaves_the_other_untouched() {
        assert!(super::show().await.is_ok());
    }
}
