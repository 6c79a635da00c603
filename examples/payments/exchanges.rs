//! Seed A's last three lines: what a server that knows keys says to a repeat and to a mix-up.

use std::path::Path;

use http::StatusCode;
use steadfast::BoxError;
use steadfast::idempotency::OperationKey;

use crate::client::{PaymentClient, Reply};
use crate::fault::FaultPlan;
use crate::ledger::{Charge, Receipt};
use crate::process::ServerProcess;
use crate::row::Row;

/// Makes the three exchanges with a server process, and answers their lines.
pub(crate) async fn run(ledger: &Path) -> Result<[String; 3], BoxError> {
    let row = Row::KeyInSameTransaction;
    let mut server = ServerProcess::start(row, ledger, FaultPlan::new(0, 0.0)).await?;
    let client = PaymentClient::new(row, server.addr())?;

    let key = OperationKey::parse("k-1")?;
    let charge = |cents| Charge {
        account: "acct-9".to_owned(),
        cents,
    };
    let first = client.send(0, &charge(2_000), Some(key.clone())).await?;
    let repeat = client.send(0, &charge(2_000), Some(key.clone())).await?;
    let mix_up = client.send(0, &charge(9_900), Some(key)).await?;
    server.kill().await?;

    expect("the first request", &first, StatusCode::CREATED, false)?;
    expect("the repeat", &repeat, StatusCode::CREATED, true)?;
    expect(
        "the other body",
        &mix_up,
        StatusCode::UNPROCESSABLE_ENTITY,
        false,
    )?;
    if first.body != repeat.body {
        return Err(format!("the repeat got another answer: {repeat}, not {first}").into());
    }
    let receipt = |reply: &Reply| serde_json::from_slice::<Receipt>(&reply.body);
    let problem: serde_json::Value = serde_json::from_slice(&mix_up.body)?;
    Ok([
        format!("first request        201 {}", receipt(&first)?.receipt),
        format!(
            "repeat, same body    201 {} (replayed)",
            receipt(&repeat)?.receipt
        ),
        format!(
            "same key, new body   422 {}",
            problem["title"].as_str().unwrap_or_default()
        ),
    ])
}

fn expect(which: &str, reply: &Reply, status: StatusCode, replayed: bool) -> Result<(), BoxError> {
    if (reply.status, reply.replayed) == (status, replayed) {
        return Ok(());
    }
    Err(format!(
        "{which} was answered {reply} (replayed: {})",
        reply.replayed
    )
    .into())
}
