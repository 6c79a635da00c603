use std::num::NonZeroU32;

use clap::Args;
use steadfast::Ratio;
use steadfast_lab::amplify::{self, Cap};
use steadfast_lab::report::{Cell, Report, Table};

use super::share;

/// More calls than this are not waited for.
const MOST: u64 = 200_000_000;

/// Layers that each repeat in an outage: how many calls reach the bottom?
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  steadfast-lab amplify                              3 layers of 4 attempts, 1,000 requests
  steadfast-lab amplify --layers 5 --budget 20%
  steadfast-lab amplify --layers 1 --attempts 3      1,000 x 3 = 3,000")]
pub(super) struct Amplify {
    /// Layers that repeat, one above the other
    #[arg(long, default_value = "3", value_parser = clap::value_parser!(u32).range(1..=12))]
    layers: u32,
    /// Attempts of each layer, the first included
    #[arg(long, default_value = "4")]
    attempts: NonZeroU32,
    /// Requests of users
    #[arg(long, default_value = "1000", value_parser = clap::value_parser!(u32).range(1..))]
    requests: u32,
    /// The ratio budget of each layer: retries for each call, as 10% or 0.1
    #[arg(long, default_value = "10%", value_parser = share)]
    budget: Ratio,
}

impl Amplify {
    pub(super) fn report(&self) -> Result<Report, String> {
        let amplify = amplify::Amplify {
            layers: self.layers,
            attempts: self.attempts,
            requests: self.requests,
        };
        let most = amplify.most().filter(|most| *most <= MOST);
        if most.is_none() {
            return Err(format!(
                "{} layers of {} attempts make more than {MOST} calls of {} requests",
                self.layers, self.attempts, self.requests
            ));
        }
        let percent = self.budget.as_f64() * 100.0;
        let caps = [
            ("no budget".to_owned(), Cap::Nothing),
            (format!("{percent}% ratio budget"), Cap::Ratio(self.budget)),
            ("gRPC throttle, 10 and 0.1".to_owned(), Cap::Throttle),
        ];
        let runs = caps.map(|(name, cap)| (name, amplify.run(cap)));
        Ok(Report {
            command: "amplify",
            setting: self.setting(),
            tables: vec![self.bottom(&runs), self.layers(&runs)],
            notes: self.notes(),
        })
    }

    fn setting(&self) -> String {
        let Self {
            layers,
            attempts,
            requests,
            ..
        } = self;
        format!(
            "{requests} requests through {layers} layers of {attempts} attempts; below them nothing \
             answers."
        )
    }

    fn bottom(&self, runs: &[(String, Vec<u64>)]) -> Table {
        let row = |(name, reached): &(String, Vec<u64>)| {
            let calls = reached.last().copied().unwrap_or_default();
            let each = calls as f64 / f64::from(self.requests);
            vec![
                name.as_str().into(),
                Cell::Count(calls),
                Cell::Number(each, 2),
            ]
        };
        Table {
            name: "at_the_bottom",
            columns: vec!["retries_capped_by", "calls", "per_request"],
            rows: runs.iter().map(row).collect(),
        }
    }

    fn layers(&self, runs: &[(String, Vec<u64>)]) -> Table {
        let rows = runs.iter().flat_map(|(name, reached)| {
            let calls = std::iter::once(u64::from(self.requests)).chain(reached.iter().copied());
            calls.zip(0_u64..).map(move |(calls, layer)| {
                let each = calls as f64 / f64::from(self.requests);
                vec![
                    name.as_str().into(),
                    Cell::Count(layer),
                    Cell::Count(calls),
                    Cell::Number(each, 2),
                ]
            })
        });
        Table {
            name: "layer_by_layer",
            columns: vec!["retries_capped_by", "below_layer", "calls", "per_request"],
            rows: rows.collect(),
        }
    }

    fn notes(&self) -> Vec<String> {
        let each = u64::from(self.attempts.get());
        let powers = (0..=self.layers).map(|layer| each.pow(layer).to_string());
        let ratio = (1.0 + self.budget.as_f64()).powi(self.layers as i32);
        vec![
            format!(
                "Without a budget one request becomes {} calls, layer by layer.",
                powers.collect::<Vec<_>>().join(" / ")
            ),
            format!(
                "With the ratio budget: {} x {}^{} = {:.1}, and what each layer rounds up.",
                self.requests,
                1.0 + self.budget.as_f64(),
                self.layers,
                f64::from(self.requests) * ratio
            ),
            format!(
                "One owner with two retries, without a budget: {} x 3 = {}.",
                self.requests,
                u64::from(self.requests) * 3
            ),
        ]
    }
}
