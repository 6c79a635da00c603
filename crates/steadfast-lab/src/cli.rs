//! What may be said on the command line.

use std::num::NonZeroU32;

use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use indicatif::{ProgressBar, ProgressStyle};
use steadfast::Ratio;
use steadfast_lab::report::{Cell, Report};
use steadfast_lab::spread::Spread;

mod amplify;
mod metastable;
mod payments;
mod storm;

/// See what a retry policy does to a struggling dependency before production does.
///
/// Simulations of the machines that Steadfast's layers are made of, by seed: the same command
/// prints the same bytes.
#[derive(Debug, Parser)]
#[command(
    name = "steadfast-lab",
    version,
    arg_required_else_help = false,
    disable_help_subcommand = true,
    after_help = "Examples:
  steadfast-lab storm
  steadfast-lab storm --same-rng
  steadfast-lab storm --costly-rejections --seeds 100
  steadfast-lab amplify --layers 4 --json
  steadfast-lab payments --all --csv > payments.csv
  steadfast-lab metastable --load 85%
  steadfast-lab completions bash > steadfast-lab.bash

Exit codes: 0 done; 1 the output could not be written; 2 the input cannot be used: one line on
stderr says why, and nothing was written."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    form: Form,
}

#[derive(Debug, Args)]
struct Form {
    /// Print one JSON object instead of tables
    #[arg(long, global = true, conflicts_with = "csv")]
    json: bool,
    /// Print the tables as CSV
    #[arg(long, global = true)]
    csv: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Storm(storm::Storm),
    Amplify(amplify::Amplify),
    Payments(payments::Payments),
    Metastable(metastable::Metastable),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

impl Cli {
    /// What is to be printed, or in one line why nothing is.
    pub(crate) fn run(&self) -> Result<String, String> {
        let report = match &self.command {
            Command::Storm(storm) => storm.report(),
            Command::Amplify(amplify) => amplify.report()?,
            Command::Payments(payments) => payments.report(),
            Command::Metastable(metastable) => metastable.report()?,
            Command::Completions { shell } => return Ok(completions(*shell)),
        };
        self.form.print(&report)
    }
}

impl Form {
    fn print(&self, report: &Report) -> Result<String, String> {
        if self.json {
            Ok(report.json())
        } else if self.csv {
            report.csv().map_err(|error| error.to_string())
        } else {
            Ok(report.text())
        }
    }
}

fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "steadfast-lab", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Which seeds are run.
#[derive(Clone, Copy, Debug, Args)]
struct Seeds {
    /// Run so many seeds, from the first on, and print mean and spread
    #[arg(long, value_name = "N", default_value = "1")]
    seeds: NonZeroU32,
}

impl Seeds {
    fn from(self, first: u64) -> impl Iterator<Item = u64> {
        (0..u64::from(self.seeds.get())).map(move |more| first.wrapping_add(more))
    }

    fn many(self) -> bool {
        self.seeds.get() > 1
    }

    /// In the words of a setting.
    fn words(self, first: u64) -> String {
        match self.seeds.get() {
            1 => format!("Seed {first}."),
            n => format!("{n} seeds from {first} on."),
        }
    }
}

/// The columns and cells of one quantity over many seeds.
fn spread_cells(values: impl IntoIterator<Item = u64>) -> [Cell; 4] {
    let spread = Spread::of(values.into_iter().map(|value| value as f64));
    match spread {
        None => [const { Cell::Nothing }; 4],
        Some(spread) => [
            Cell::Number(spread.mean, 1),
            Cell::Number(spread.deviation, 1),
            Cell::Number(spread.least, 0),
            Cell::Number(spread.most, 0),
        ],
    }
}

/// A bar on stderr while something long runs; none where stderr is no terminal.
fn progress(steps: usize, what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(steps as u64)
        .with_style(style)
        .with_message(what)
}

/// A probability.
fn probability(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value @ 0.0..=1.0) => Ok(value),
        _ => Err("a probability is a number from 0 to 1".into()),
    }
}

/// A share, as `10%` or `0.1`.
fn share(text: &str) -> Result<Ratio, String> {
    let value: Option<f64> = match text.strip_suffix('%') {
        Some(percent) => percent.parse().ok().map(|percent: f64| percent / 100.0),
        None => text.parse().ok(),
    };
    let value = value.ok_or("a share is written as 10% or 0.1")?;
    Ratio::try_from(value).map_err(|error| error.to_string())
}
