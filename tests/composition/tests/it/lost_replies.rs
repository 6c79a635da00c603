//! The client stack against the server stack, over a network that loses replies.

use std::collections::HashSet;

use steadfast::budget::RatioBudget;
use steadfast::idempotency::client::Routes;
use steadfast::{Failure, Outcome, Ratio, Reason};
use steadfast_kit::{Exchange, Fate, FaultProxy};

use crate::payments::{Payments, request};
use crate::stack::*;

/// Loses every answer to an execution whose order it has not yet seen: each first reply.
fn lose_executions(exchange: &Exchange) -> Fate {
    match exchange
        .answer
        .headers()
        .contains_key("idempotent-replayed")
    {
        true => Fate::Pass,
        false => Fate::CutAnswer,
    }
}

#[tokio::test]
async fn every_order_is_charged_once_although_every_first_reply_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let server = Payments::start(dir.path()).await;
    let proxy = FaultProxy::start(server.addr, lose_executions)
        .await
        .unwrap();
    let routes = Routes::new()
        .post(&proxy.addr().to_string(), "/charges")
        .unwrap();
    // Each order needs one retry, ten times what the default budget allows.
    let budget = RatioBudget::new(Ratio::percent(100).unwrap());
    let stack = stack(config().with_budget(budget), routes);

    let mut receipts = HashSet::new();
    for order in 0..50 {
        let account = format!("acct-{order}");
        let answered = send(&stack, request(&proxy.url("/charges"), &account)).await;
        let head = answered.as_ref().unwrap();
        assert_eq!(head.status(), 201);
        assert_eq!(head.headers()["idempotent-replayed"], "true");
        receipts.insert(text(answered).await);
    }
    assert_eq!(receipts.len(), 50);
    assert_eq!(proxy.cuts(), 50);
    assert_eq!(server.charges_and_accounts().await, (50, 50));
}

/// Without a declared route the same POST is not repeated, and the caller is told what is known.
#[tokio::test]
async fn without_keys_a_lost_reply_is_an_unknown_outcome_and_no_second_charge() {
    let dir = tempfile::tempdir().unwrap();
    let server = Payments::start(dir.path()).await;
    let proxy = FaultProxy::start(server.addr, lose_executions)
        .await
        .unwrap();
    let mut request = request(&proxy.url("/charges"), "acct-1");
    // A key in a header that nobody declared protects nothing that retry could know of.
    request
        .headers_mut()
        .insert("idempotency-key", "\"order-1\"".parse().unwrap());
    let error = send(&plain(config()), request).await.unwrap_err();
    let report = Failure::find(&*error).unwrap().report();
    assert_eq!(
        (report.attempts, report.reason),
        (1, Some(Reason::Unprotected))
    );
    assert_eq!(report.outcome, Outcome::Unknown);
    assert_eq!(server.charges_and_accounts().await, (1, 1));
}
