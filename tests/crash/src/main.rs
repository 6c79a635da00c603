#![doc = include_str!("../README.md")]

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use steadfast_core::BoxError;

use crate::design::Design;
use crate::plan::{Plan, Store};
use crate::run::run;
use crate::serve::ServeArgs;

mod books;
mod check;
mod clients;
mod design;
mod faults;
mod flawed;
mod flawed_pg;
mod history;
mod luck;
mod no_task;
mod order;
mod outcome;
mod plan;
mod process;
mod proxy;
mod run;
mod serve;
mod sweeper;
mod wire;

#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// One run; fails unless the sound design holds or the flawed one is caught.
    Run(Plan),
    /// Every flawed design of the store in turn.
    Controls(Plan),
    /// What CI runs: the sound design and every flawed one, on both stores, in a few minutes.
    Short(Suite),
    /// 5,000 keys and 50 kills on each store, and 10 restarts of PostgreSQL.
    Long(Suite),
    /// A server process; the other commands start it.
    #[command(hide = true)]
    Serve(ServeArgs),
}

#[derive(Debug, Args)]
struct Suite {
    #[arg(long, default_value_t = 6)]
    seed: u64,
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(plan) => told(&plan).await,
        Command::Controls(plan) => controls(plan).await,
        Command::Short(suite) => short(suite.seed).await,
        Command::Long(suite) => long(suite.seed).await,
        Command::Serve(args) => serve::serve(&args).await.map(|()| true),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn told(plan: &Plan) -> Result<bool, BoxError> {
    let Some(outcome) = run(plan).await? else {
        return Ok(true);
    };
    println!("{outcome}");
    Ok(outcome.is_as_expected())
}

async fn short(seed: u64) -> Result<bool, BoxError> {
    let mut all = true;
    for (store, restarts) in [(Store::Sqlite, 0), (Store::Postgres, 2)] {
        let plan = Plan::of(store, seed);
        let sound = Plan {
            keys: 300,
            kills: 10,
            restarts,
            ..plan.clone()
        };
        all &= told(&sound).await?;
        all &= controls(plan).await?;
    }
    Ok(all)
}

async fn long(seed: u64) -> Result<bool, BoxError> {
    let mut all = true;
    for (store, restarts) in [(Store::Sqlite, 0), (Store::Postgres, 10)] {
        let plan = Plan {
            keys: 5_000,
            kills: 50,
            restarts,
            limit_secs: 1_200,
            ..Plan::of(store, seed)
        };
        all &= told(&plan).await?;
    }
    Ok(all)
}

async fn controls(plan: Plan) -> Result<bool, BoxError> {
    let mut all = true;
    let designs: &[Design] = match plan.store {
        Store::Sqlite => &Design::FLAWED_SQLITE,
        Store::Postgres => &Design::FLAWED_POSTGRES,
    };
    for design in designs.iter().copied() {
        // Only a crash of the database shows what it had not written down.
        let restarts = match design {
            Design::CommitNotDurable => plan.restarts.max(2),
            _ => plan.restarts,
        };
        // What only a death in the right moment shows needs many of them: one in five shows it.
        let kills = match design {
            Design::KeyElsewhere | Design::AnswerBeforeCommit | Design::ClaimWithoutEnd => {
                plan.kills.max(30)
            }
            _ => plan.kills,
        };
        let plan = Plan {
            design,
            restarts,
            kills,
            ..plan.clone()
        };
        all &= told(&plan).await?;
    }
    Ok(all)
}
