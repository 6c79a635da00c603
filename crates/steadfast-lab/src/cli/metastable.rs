use std::num::NonZeroU32;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use steadfast::Ratio;
use steadfast_lab::metastable::{self, Expired, Outcome, Retries};
use steadfast_lab::report::{Cell, Report, Table};

use super::{progress, share};

/// A trigger that is over, and a system that may not recover: which budget lets it?
#[derive(Debug, Args)]
#[command(after_help = "Retries:
  none          one attempt
  naive         three attempts, nothing that caps them together
  ratio, throttle, concurrency, refund, rate
                three attempts within that budget of Steadfast, with its defaults
  standard      client::Standard with its default policy, breaker included

Expired work:
  worked-on     the server does not know that nobody waits any more
  dropped       the handler stands in server::Standard

Examples:
  steadfast-lab metastable                                    every cell: 8 x 4 x 2
  steadfast-lab metastable --retries naive --load 85%
  steadfast-lab metastable --retries ratio --load 85% --expired worked-on --timeline --csv")]
pub(super) struct Metastable {
    /// The seed
    #[arg(long, default_value = "1")]
    seed: u64,
    /// What clients do about failures; more than one may be named [default: all]
    #[arg(long, value_name = "RETRIES", value_parser = retries())]
    retries: Vec<Retries>,
    /// What the server does about expired work [default: both]
    #[arg(long, value_name = "EXPIRED", value_parser = expired())]
    expired: Option<Expired>,
    /// Calls that arrive, as a share of what the server can do; more than one may be named
    #[arg(long, default_values = ["60%", "75%", "85%", "95%"], value_parser = load)]
    load: Vec<Ratio>,
    /// Clients, each with a state of its own
    #[arg(long, default_value = "20")]
    clients: NonZeroU32,
    /// Seconds after the trigger
    #[arg(long, default_value = "90", value_parser = clap::value_parser!(u32).range(20..=600))]
    after: u32,
    /// Print each second of each cell, too
    #[arg(long)]
    timeline: bool,
}

fn retries() -> impl TypedValueParser<Value = Retries> {
    let named = |name: String| Retries::ALL.into_iter().find(|it| it.as_str() == name);
    PossibleValuesParser::new(Retries::ALL.map(Retries::as_str))
        .try_map(move |name| named(name).ok_or("no such retries"))
}

fn expired() -> impl TypedValueParser<Value = Expired> {
    let named = |name: String| Expired::ALL.into_iter().find(|it| it.as_str() == name);
    PossibleValuesParser::new(Expired::ALL.map(Expired::as_str))
        .try_map(move |name| named(name).ok_or("no such server"))
}

/// A load that has calls in each second.
fn load(text: &str) -> Result<Ratio, String> {
    let load = share(text)?;
    let least = Ratio::percent(5).map_err(|error| error.to_string())?;
    let most = Ratio::percent(200).map_err(|error| error.to_string())?;
    match (least..=most).contains(&load) {
        true => Ok(load),
        false => Err("a load is from 5% to 200%".into()),
    }
}

type Run = (metastable::Metastable, Outcome);

impl Metastable {
    pub(super) fn report(&self) -> Result<Report, String> {
        let runs = run_all(&self.cells())?;
        let mut tables = vec![cells(&runs)];
        if self.timeline {
            tables.push(timeline(&runs));
        }
        Ok(Report {
            command: "metastable",
            setting: format!(
                "A server for 1000 requests a second, one at a time, first come, first served; after \
                 10 s it does a fifth of that for 10 s. {} clients, attempts of 1 s. Seed {}.",
                self.clients, self.seed
            ),
            tables,
            notes: vec![
                format!(
                    "during, after: shares of calls that succeed, by when they began; after: \
                     the last 20 s of {} s after the trigger.",
                    self.after
                ),
                "recovered_s: seconds after the trigger from which on 95% of each second's calls \
                 succeed; empty: not within this time."
                    .into(),
                "attempts: for each call; worst: in the worst second. wasted: the share of the \
                 server's work that helped nobody."
                    .into(),
                "queue: its longest; p99_ms: of the calls that succeed in the last 20 s.".into(),
            ],
        })
    }

    fn cells(&self) -> Vec<metastable::Metastable> {
        let all_retries = match self.retries.is_empty() {
            true => Retries::ALL.to_vec(),
            false => self.retries.clone(),
        };
        let all_expired = match self.expired {
            None => Expired::ALL.to_vec(),
            Some(expired) => vec![expired],
        };
        let mut cells = Vec::new();
        for expired in all_expired {
            for load in &self.load {
                for retries in &all_retries {
                    cells.push(metastable::Metastable {
                        clients: self.clients,
                        after: self.after,
                        seed: self.seed,
                        ..metastable::Metastable::new(*retries, expired, *load)
                    });
                }
            }
        }
        cells
    }
}

/// Each cell has a clock and a runtime of its own, so that they can run side by side.
fn run_all(cells: &[metastable::Metastable]) -> Result<Vec<Run>, String> {
    let threads = thread::available_parallelism().map_or(1, |threads| threads.get());
    let bar = progress(cells.len(), "metastable");
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((at, cell)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    cells.get(at).map(|cell| (at, cell))
                } {
                    let outcome = cell.run();
                    bar.inc(1);
                    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                    done.push((at, outcome));
                }
            });
        }
    });
    bar.finish_and_clear();
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    let outcomes = done.into_iter().map(|(_, outcome)| outcome);
    let runs = cells.iter().zip(outcomes);
    runs.map(|(cell, outcome)| Ok((*cell, outcome?))).collect()
}

fn names(cell: &metastable::Metastable) -> [Cell; 3] {
    [
        cell.expired.as_str().into(),
        Cell::Number(cell.load.as_f64(), 2),
        cell.retries.as_str().into(),
    ]
}

fn cells(runs: &[Run]) -> Table {
    let row = |(cell, outcome): &Run| {
        let millis = |latency: Option<u64>| latency.map_or(Cell::Nothing, Cell::Count);
        let longest = outcome.seconds.iter().map(|second| second.queue).max();
        let cells = [
            Cell::Number(outcome.during, 2),
            Cell::Number(outcome.after, 2),
            millis(outcome.recovered_after.map(u64::from)),
            Cell::Number(outcome.attempts_per_call, 2),
            Cell::Number(outcome.worst_attempts_per_call, 2),
            Cell::Number(outcome.wasted, 2),
            Cell::Count(longest.unwrap_or_default()),
            millis(outcome.latency.map(|latency| latency.p99_ms)),
        ];
        names(cell).into_iter().chain(cells).collect()
    };
    Table {
        name: "cells",
        columns: vec![
            "expired",
            "load",
            "retries",
            "during",
            "after",
            "recovered_s",
            "attempts",
            "worst",
            "wasted",
            "queue",
            "p99_ms",
        ],
        rows: runs.iter().map(row).collect(),
    }
}

fn timeline(runs: &[Run]) -> Table {
    let rows = runs.iter().flat_map(|(cell, outcome)| {
        outcome.seconds.iter().zip(0_u64..).map(|(second, at)| {
            let cells = [
                Cell::Count(at),
                Cell::Count(second.calls),
                Cell::Count(second.good),
                Cell::Count(second.attempts),
                Cell::Count(second.queue),
                second.median_ms.map_or(Cell::Nothing, Cell::Count),
            ];
            names(cell).into_iter().chain(cells).collect()
        })
    });
    Table {
        name: "seconds",
        columns: vec![
            "expired", "load", "retries", "second", "calls", "good", "attempts", "queue", "p50_ms",
        ],
        rows: rows.collect(),
    }
}
