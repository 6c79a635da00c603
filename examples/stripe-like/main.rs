//! A reqwest client with keys, against a payment API in Stripe's manner: see README.md.

use std::process::ExitCode;

use steadfast::idempotency::OperationKey;
use steadfast::{BoxError, Outcome, Reason};
use tokio::time::Instant;

use crate::api::Api;
use crate::till::Till;

mod api;
mod till;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let begun = Instant::now();
    match show().await {
        Ok(()) => {
            println!("\nDone in {} ms.", begun.elapsed().as_millis());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("stripe-like: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The story; fails where it goes another way.
async fn show() -> Result<(), BoxError> {
    let api = Api::start().await?;
    let till = Till::new(&api)?;

    // The till's record of the order holds this key before anything is sent.
    let key = OperationKey::parse("order-7")?;
    api.lose_next_answer();
    let first = till.charge(&key, 2_000).await?;
    println!("order 7: the API charged, and its answer was lost on the way.");
    println!(
        "  {} after {} attempts, answered from the record: {}; charges: {}",
        first.id,
        first.attempts,
        first.replayed,
        api.charges().await?
    );
    ensure((first.attempts, first.replayed) == (2, true), "the replay")?;

    // The process died before it wrote down the receipt, and a new one takes up the order.
    let again = Till::new(&api)?.charge(&key, 2_000).await?;
    println!("the till died, and its successor charges order 7 with the key of the record.");
    println!("  {} again; charges: {}", again.id, api.charges().await?);
    ensure(again.id == first.id, "the same charge")?;

    // A mistake: the key of one order on another amount.
    let wrong = till.charge(&key, 9_900).await;
    let wrong = wrong.err().ok_or("a key was used for two amounts")?;
    println!("the same key with another amount: {}.", wrong);
    ensure(wrong.status().is_some_and(|it| it == 422), "the 422")?;

    // The API says in words of its own whether a repeat is wanted.
    api.refuse_next("false");
    let refused = till.charge(&OperationKey::parse("order-8")?, 500).await;
    let refused = refused.err().ok_or("a refusal was no error")?;
    let report = refused.report().ok_or("no report")?;
    println!(
        "order 8: 500 with Stripe-Should-Retry: false. {} attempt, stopped by: {}.",
        report.attempts,
        report.reason.map_or("nothing", Reason::as_str)
    );
    ensure(report.reason == Some(Reason::PeerSaidNo), "the peer's word")?;

    api.refuse_next("true");
    let charge = till.charge(&OperationKey::parse("order-9")?, 700).await?;
    println!(
        "order 9: 409 with Stripe-Should-Retry: true. {} after {} attempts.",
        charge.id, charge.attempts
    );
    ensure(charge.attempts == 2, "the second attempt")?;

    // A route on which nobody promised to honour keys.
    api.lose_next_answer();
    let note = till.note("paid in cash").await;
    let note = note.err().ok_or("a lost answer was no error")?;
    let report = note.report().ok_or("no report")?;
    println!(
        "a note, to a route without keys, whose answer is lost: {} attempt, outcome {}.",
        report.attempts,
        report.outcome.as_str()
    );
    ensure(report.outcome == Outcome::Unknown, "the unknown outcome")?;

    let (charges, notes) = (api.charges().await?, api.notes().await?);
    println!("in the API's database: {charges} charges, {notes} note.");
    ensure((charges, notes) == (2, 1), "the books")?;
    Ok(())
}

fn ensure(holds: bool, what: &str) -> Result<(), BoxError> {
    match holds {
        true => Ok(()),
        false => Err(format!("{what} went another way").into()),
    }
}

#[cfg(test)]
mod tests {
    #[tokio::test]
    async fn every_order_is_charged_once() {
        assert!(super::show().await.is_ok());
    }
}
