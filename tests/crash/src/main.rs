#![doc = include_str!("../README.md")]

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use steadfast_core::BoxError;

use crate::design::Design;
use crate::run::{Plan, run};
use crate::serve::ServeArgs;

mod books;
mod check;
mod clients;
mod design;
mod faults;
mod flawed;
mod history;
mod no_task;
mod order;
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
    /// Every flawed design in turn.
    Controls(Plan),
    /// A server process; the other commands start it.
    #[command(hide = true)]
    Serve(ServeArgs),
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(plan) => told(&plan).await,
        Command::Controls(plan) => controls(plan).await,
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

async fn controls(plan: Plan) -> Result<bool, BoxError> {
    let mut all = true;
    for design in Design::FLAWED_SQLITE {
        let plan = Plan {
            design,
            ..plan.clone()
        };
        all &= told(&plan).await?;
    }
    Ok(all)
}
