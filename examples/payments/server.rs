//! The payment server: a process of its own, since one of the faults is its death.

use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;

use axum::Router;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use steadfast::BoxError;
use tokio::net::TcpListener;

use crate::fault::{FaultPlan, Sending};
use crate::row::Row;

mod key_after_charge;
mod key_in_same_transaction;
mod no_keys;

/// The number of the order, for the fault plan.
pub(crate) const ORDER: HeaderName = HeaderName::from_static("x-order");
/// Which attempt at the order this is, for the fault plan. The first is 1.
pub(crate) const ATTEMPT: HeaderName = HeaderName::from_static("x-attempt");
/// What a server prints before the address it listens at.
pub(crate) const LISTENING: &str = "listening ";
/// What a server prints when it has come to the place where the plan lets it die.
pub(crate) const GAP: &str = "gap";

/// Serves one row from a ledger until the process is killed or its parent is gone.
pub(crate) async fn serve(row: Row, ledger: &Path, plan: FaultPlan) -> Result<(), BoxError> {
    end_with_parent();
    let app: Router = match row {
        Row::NoKeysRepeat | Row::NoKeysDefault => no_keys::app(ledger).await?,
        Row::KeyAfterCharge => key_after_charge::app(ledger, plan).await?,
        Row::KeyInSameTransaction => key_in_same_transaction::app(ledger).await?,
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("{LISTENING}{}", listener.local_addr()?);
    axum::serve(listener, app).await?;
    Ok(())
}

/// The parent holds the other end of standard input: it closes with the parent, however that ends.
/// A thread, so that it works whatever the runtime is doing.
fn end_with_parent() {
    std::thread::spawn(|| {
        // An end of input and an error mean the same here.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(0);
    });
}

/// Which sending a request is, for the proxy as for the servers.
pub(crate) fn sending_of(row: Row, headers: &HeaderMap) -> Option<Sending> {
    let number = |name| headers.get(name)?.to_str().ok()?.parse().ok();
    Some(Sending {
        row,
        order: number(ORDER)?,
        attempt: number(ATTEMPT)?,
    })
}

/// A database that does not work, as an answer.
#[derive(Debug)]
struct LedgerDown(sqlx::Error);

impl From<sqlx::Error> for LedgerDown {
    fn from(error: sqlx::Error) -> Self {
        Self(error)
    }
}

impl fmt::Display for LedgerDown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the ledger does not work: {}", self.0)
    }
}

impl IntoResponse for LedgerDown {
    fn into_response(self) -> Response {
        // To the operator; the client learns no more than that it failed.
        eprintln!("{self}");
        StatusCode::SERVICE_UNAVAILABLE.into_response()
    }
}
