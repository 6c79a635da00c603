//! One lane: a client that pays one order after the other, a network that loses answers, and a
//! server process that dies and comes back.

use std::convert::Infallible;
use std::ops::Add;
use std::path::PathBuf;

use indicatif::ProgressBar;
use steadfast::BoxError;
use steadfast_kit::{Exchange, Fate, FaultProxy};

use crate::client::{Paid, PaymentClient};
use crate::fault::FaultPlan;
use crate::ledger::Charge;
use crate::process::ServerProcess;
use crate::row::Row;
use crate::server::sending_of;

/// What every order costs: 20 dollars, as in seed A.
pub(crate) const PRICE_CENTS: i64 = 2_000;

/// What a lane is to do.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) row: Row,
    pub(crate) plan: FaultPlan,
    pub(crate) ledger: PathBuf,
    /// The numbers of its orders.
    pub(crate) orders: Vec<u32>,
    pub(crate) progress: ProgressBar,
}

/// What it saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Orders of which the client does not know whether they are paid.
    pub(crate) unknown: u32,
    /// Answers that the network lost.
    pub(crate) lost: u64,
    /// Servers that died in the gap.
    pub(crate) killed: u32,
}

impl Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            unknown: self.unknown + other.unknown,
            lost: self.lost + other.lost,
            killed: self.killed + other.killed,
        }
    }
}

impl Lane {
    /// Pays every order of the lane, and ends its server.
    pub(crate) async fn run(self) -> Result<Tally, BoxError> {
        let Self { row, plan, .. } = self;
        let mut server = ServerProcess::start(row, &self.ledger, plan).await?;
        let judge = move |exchange: &Exchange| fate(row, plan, exchange);
        let proxy = FaultProxy::start(server.addr(), judge).await?;
        let client = PaymentClient::new(row, proxy.addr())?;

        let mut killed = 0;
        let unknown = tokio::select! {
            unknown = self.pay(&client) => unknown?,
            failed = self.restart_when_dead(&mut server, &proxy, &mut killed) => match failed? {},
        };
        server.kill().await?;
        Ok(Tally {
            unknown,
            lost: proxy.cuts(),
            killed,
        })
    }

    /// Pays the orders, and counts those whose outcome stays unknown.
    async fn pay(&self, client: &PaymentClient) -> Result<u32, BoxError> {
        let mut unknown = 0;
        for order in self.orders.iter().copied() {
            let charge = Charge {
                account: format!("acct-{order}"),
                cents: PRICE_CENTS,
            };
            match client.pay(order, &charge).await? {
                Paid::Confirmed(_) => {}
                Paid::Unknown => unknown += 1,
            }
            self.progress.inc(1);
        }
        Ok(unknown)
    }

    /// Kills the server in each gap that it comes to, and starts another; returns only when
    /// something else went wrong.
    async fn restart_when_dead(
        &self,
        server: &mut ServerProcess,
        proxy: &FaultProxy,
        killed: &mut u32,
    ) -> Result<Infallible, BoxError> {
        loop {
            server.reached_gap().await?;
            // Before the kill: no connection may find a dead server, only a slow one.
            proxy.hold();
            *killed += 1;
            server.kill().await?;
            *server = ServerProcess::start(self.row, &self.ledger, self.plan).await?;
            proxy.set_upstream(server.addr());
            proxy.release();
        }
    }
}

/// The network's part of the plan: it loses answers to an execution. Replays and refusals pass.
fn fate(row: Row, plan: FaultPlan, exchange: &Exchange) -> Fate {
    let executed = exchange.answer.status().is_success()
        && !exchange
            .answer
            .headers()
            .contains_key("idempotent-replayed");
    let sending = sending_of(row, exchange.request.headers());
    match sending {
        Some(sending) if executed && plan.loses_answer(sending) => Fate::CutAnswer,
        _ => Fate::Pass,
    }
}
