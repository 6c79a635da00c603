//! Every order is charged once, over a network that loses replies: see README.md.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use steadfast::BoxError;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::fault::FaultPlan;
use crate::lane::{Lane, Tally};
use crate::row::Row;
use crate::table::Line;

mod attempt;
mod client;
mod exchanges;
mod fault;
mod lane;
mod ledger;
mod process;
mod row;
mod server;
mod table;

/// Clients that retry, a network that loses replies, servers that die: who pays twice?
#[derive(Debug, Parser)]
struct Options {
    /// Which faults happen; the same seed gives the same table.
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Orders of each row.
    #[arg(long, default_value_t = 2_000)]
    orders: u32,
    /// The share of answers to an execution that are lost, 0 to 1.
    #[arg(long, default_value_t = 0.15, value_parser = share)]
    loss: f64,
    /// Clients at a time, each with a server process; they share one ledger.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    lanes: u32,
    #[command(subcommand)]
    role: Option<Role>,
}

/// What this process is, when it is not the one that a user started.
#[derive(Debug, Subcommand)]
enum Role {
    /// A payment server.
    #[command(hide = true)]
    Serve { row: Row, ledger: PathBuf },
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = Options::parse();
    let plan = FaultPlan::new(options.seed, options.loss);
    let ended = match &options.role {
        Some(Role::Serve { row, ledger }) => server::serve(*row, ledger, plan).await,
        None => tokio::select! {
            biased;
            // What is dropped then kills the servers and removes the ledgers.
            ended = interrupted() => ended,
            ended = show(&options, plan) => ended,
        },
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("payments: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Fails on Ctrl-C and, where there is one, on a polite request to end.
async fn interrupted() -> Result<(), BoxError> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            ended = tokio::signal::ctrl_c() => ended?,
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await?;
    Err("interrupted".into())
}

/// Runs the rows and prints the table.
async fn show(options: &Options, plan: FaultPlan) -> Result<(), BoxError> {
    let ledgers = tempfile::tempdir()?;
    println!("{}\n\n{}", client::describe(), table::header());
    let mut broken = Vec::new();
    for row in Row::ALL {
        let ledger = ledgers.path().join(format!("{row}.db"));
        let line = run(row, options, plan, &ledger).await?;
        println!("{line}");
        broken.extend(line.check(plan).err());
    }
    let ledger = ledgers.path().join("exchanges.db");
    println!("\n{}", exchanges::run(&ledger).await?.join("\n"));
    ledgers.close()?;
    if broken.is_empty() {
        Ok(())
    } else {
        Err(broken.join("; ").into())
    }
}

/// One row: all lanes at once, then the ledger's count.
async fn run(row: Row, options: &Options, plan: FaultPlan, path: &Path) -> Result<Line, BoxError> {
    // Made here, so that servers that start at once find it; open, so that it outlives them.
    let ledger = ledger::open(path).await?;
    let progress = progress(row, options.orders);
    let began = Instant::now();
    let mut lanes = JoinSet::new();
    for lane in 0..options.lanes {
        let orders = (lane..options.orders)
            .step_by(options.lanes as usize)
            .collect();
        let (ledger, progress) = (path.to_owned(), progress.clone());
        lanes.spawn(
            Lane {
                row,
                plan,
                ledger,
                orders,
                progress,
            }
            .run(),
        );
    }
    let mut total = Tally::default();
    while let Some(tally) = lanes.join_next().await {
        total = total + tally??;
    }
    progress.finish_and_clear();
    let Tally {
        unknown,
        lost,
        killed,
    } = total;
    let took = began.elapsed().as_secs_f64();
    eprintln!("{row}: {lost} answers lost, {killed} servers killed, {took:.1} s");

    let count = ledger::count(&ledger).await?;
    ledger.close().await;
    Ok(Line {
        row,
        orders: options.orders,
        count,
        unknown,
    })
}

/// A bar on standard error; nothing where that is not a terminal.
fn progress(row: Row, orders: u32) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:23} {bar:40} {pos}/{len} orders");
    let bar = ProgressBar::new(orders.into()).with_prefix(row.name());
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err(format!("{text} is not a share: a number from 0 to 1")),
    }
}
