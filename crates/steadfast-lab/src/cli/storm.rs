use std::num::NonZeroU32;
use std::time::Duration;

use clap::Args;
use steadfast_lab::report::{Cell, Report, Table};
use steadfast_lab::storm::{self, Draws, Outcome, Policy, Rejections};

use super::{Seeds, progress, spread_cells};

/// Clients that fail together: how often does each backoff bring them back?
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  steadfast-lab storm                           500 clients against 20 calls a millisecond
  steadfast-lab storm --same-rng                every client draws the same numbers
  steadfast-lab storm --costly-rejections       a rejection takes from the next millisecond
  steadfast-lab storm --seeds 100 --json        mean and spread")]
pub(super) struct Storm {
    /// The seed, as of CPython's random.Random
    #[arg(long, default_value = "3")]
    seed: u64,
    #[command(flatten)]
    seeds: Seeds,
    /// Clients that begin at once
    #[arg(long, default_value = "500", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    clients: u32,
    /// Calls that the server accepts in a millisecond
    #[arg(long, default_value = "20")]
    capacity: NonZeroU32,
    /// First bound of the backoff, in milliseconds
    #[arg(long, default_value = "1", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    base_ms: u32,
    /// Longest bound of the backoff, in milliseconds
    #[arg(long, default_value = "2000", value_parser = clap::value_parser!(u32).range(1..=600_000))]
    cap_ms: u32,
    /// Each rejection takes one call from the next millisecond's capacity, down to --floor
    #[arg(long)]
    costly_rejections: bool,
    /// What is left of the capacity in any case, with --costly-rejections
    #[arg(long, default_value = "5", requires = "costly_rejections")]
    floor: NonZeroU32,
    /// Give every client a generator with the same seed
    #[arg(long)]
    same_rng: bool,
}

impl Storm {
    pub(super) fn report(&self) -> Report {
        let storm = self.storm();
        let bar = progress(Policy::ALL.len() * self.seeds.seeds.get() as usize, "storm");
        let runs = Policy::ALL.map(|policy| {
            let outcomes = self.seeds.from(self.seed).map(|seed| {
                bar.inc(1);
                storm.run(policy, seed)
            });
            (policy, outcomes.collect::<Vec<_>>())
        });
        bar.finish_and_clear();
        Report {
            command: "storm",
            setting: self.setting(),
            tables: if self.seeds.many() {
                vec![
                    spread("calls", &runs, |outcome| outcome.calls),
                    spread("all_done_at_ms", &runs, |outcome| outcome.millis),
                ]
            } else {
                vec![self.table(&runs)]
            },
            notes: Vec::new(),
        }
    }

    fn storm(&self) -> storm::Storm {
        storm::Storm {
            clients: self.clients,
            capacity: self.capacity,
            base: Duration::from_millis(self.base_ms.into()),
            cap: Duration::from_millis(self.cap_ms.into()),
            rejections: match self.costly_rejections {
                true => Rejections::Costly(self.floor),
                false => Rejections::Free,
            },
            draws: match self.same_rng {
                true => Draws::SameSeed,
                false => Draws::Independent,
            },
        }
    }

    fn setting(&self) -> String {
        let Self {
            clients,
            capacity,
            base_ms,
            cap_ms,
            floor,
            ..
        } = self;
        let costly = match self.costly_rejections {
            true => format!(" A rejection takes one from the next millisecond, down to {floor}."),
            false => String::new(),
        };
        let same = match self.same_rng {
            true => " All clients draw the same numbers.",
            false => "",
        };
        format!(
            "{clients} clients call at once; the server accepts {capacity} calls a millisecond. \
             Backoff {base_ms} ms to {cap_ms} ms.{costly}{same} {}",
            self.seeds.words(self.seed)
        )
    }

    fn table(&self, runs: &[(Policy, Vec<Outcome>)]) -> Table {
        let row = |(policy, outcomes): &(Policy, Vec<Outcome>)| {
            let outcomes = outcomes.iter().take(1);
            let cells = outcomes.flat_map(|outcome| {
                [
                    Cell::Count(outcome.calls),
                    Cell::Number(outcome.calls as f64 / f64::from(self.clients), 1),
                    Cell::Count(outcome.millis),
                ]
            });
            std::iter::once(policy.as_str().into())
                .chain(cells)
                .collect()
        };
        Table {
            name: "policies",
            columns: vec!["policy", "calls", "per_client", "all_done_at_ms"],
            rows: runs.iter().map(row).collect(),
        }
    }
}

fn spread(
    name: &'static str,
    runs: &[(Policy, Vec<Outcome>)],
    of: impl Fn(&Outcome) -> u64,
) -> Table {
    let row = |(policy, outcomes): &(Policy, Vec<Outcome>)| {
        let cells = spread_cells(outcomes.iter().map(&of));
        [policy.as_str().into()].into_iter().chain(cells).collect()
    };
    Table {
        name,
        columns: vec![name, "mean", "deviation", "least", "most"],
        rows: runs.iter().map(row).collect(),
    }
}
