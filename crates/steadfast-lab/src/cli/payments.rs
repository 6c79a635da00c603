use std::num::NonZeroU32;

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use steadfast_lab::payments::{self, Outcome, Server};
use steadfast_lab::report::{Cell, Report, Table};

use super::{Seeds, probability, progress, spread_cells};

/// Orders over a network that loses answers: who is charged twice, and who never?
#[derive(Debug, Args)]
#[command(after_help = "Servers:
  none                 no keys; the client was told that repeats are safe
  key-after-charge     the charge, then the key: a crash between them charges twice
  key-in-same-txn      both in one transaction
  none-no-repeat       no keys; the client was told nothing, so it does not repeat
  key-before-charge    the key with its answer, then the charge: a crash between them charges never
  processing-state     the key as processing, then charge and answer in one transaction
  overlapping          one transaction, but an attempt that still runs is not seen by its repeat
  in-flight-set        the same, and the repeat of an attempt that still runs is answered 409

Examples:
  steadfast-lab payments
  steadfast-lab payments --all
  steadfast-lab payments --server key-before-charge --server processing-state --seeds 50")]
pub(super) struct Payments {
    /// The seed, as of CPython's random.Random
    #[arg(long, default_value = "42")]
    seed: u64,
    #[command(flatten)]
    seeds: Seeds,
    /// A server to run; more than one may be named
    #[arg(long, value_name = "SERVER", conflicts_with = "all", value_parser = server())]
    server: Vec<Server>,
    /// Run every server
    #[arg(long)]
    all: bool,
    /// Orders, one call each
    #[arg(long, default_value = "2000", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    orders: u32,
    /// Attempts of a call, the first included
    #[arg(long, default_value = "4")]
    attempts: NonZeroU32,
    /// The probability that an answer is lost
    #[arg(long, default_value = "0.15", value_parser = probability)]
    reply_loss: f64,
    /// The probability that the server dies between its two steps
    #[arg(long, default_value = "0.03", value_parser = probability)]
    crash_gap: f64,
    /// The probability that an attempt still runs when its client repeats it (overlapping,
    /// in-flight-set)
    #[arg(long, default_value = "0.05", value_parser = probability)]
    overlap: f64,
}

fn server() -> impl TypedValueParser<Value = Server> {
    let named = |name: String| {
        Server::ALL
            .into_iter()
            .find(|server| server.as_str() == name)
    };
    PossibleValuesParser::new(Server::ALL.map(Server::as_str))
        .try_map(move |name| named(name).ok_or("no such server"))
}

/// Dollars of one order.
const PRICE: u64 = 20;

impl Payments {
    pub(super) fn report(&self) -> Report {
        let servers = self.servers();
        let payments = payments::Payments {
            orders: self.orders,
            attempts: self.attempts,
            reply_loss: self.reply_loss,
            crash_gap: self.crash_gap,
            overlap: self.overlap,
        };
        let bar = progress(servers.len() * self.seeds.seeds.get() as usize, "payments");
        let run = |server: &Server| {
            let outcomes = self.seeds.from(self.seed).map(|seed| {
                bar.inc(1);
                payments.run(*server, seed)
            });
            (*server, outcomes.collect::<Vec<_>>())
        };
        let runs: Vec<_> = servers.iter().map(run).collect();
        bar.finish_and_clear();
        Report {
            command: "payments",
            setting: self.setting(),
            tables: if self.seeds.many() {
                vec![
                    spread("duplicates", &runs, |outcome| outcome.duplicates),
                    spread("unknown", &runs, |outcome| outcome.unknown),
                    spread("never_charged", &runs, |outcome| outcome.uncharged),
                ]
            } else {
                vec![self.table(&runs)]
            },
            notes: vec![
                "duplicates: charges beyond the first of an order. unknown: calls that ended \
                 without an answer."
                    .into(),
                "never_charged: orders that were answered with a receipt, and not charged.".into(),
            ],
        }
    }

    fn servers(&self) -> Vec<Server> {
        if self.all {
            Server::ALL.into()
        } else if self.server.is_empty() {
            Server::TABLE.into()
        } else {
            self.server.clone()
        }
    }

    fn setting(&self) -> String {
        let Self {
            orders,
            attempts,
            reply_loss,
            crash_gap,
            ..
        } = self;
        format!(
            "{orders} orders of ${PRICE}, {attempts} attempts each; {}% of the answers are lost, {}% \
             of the servers die between two steps. {}",
            reply_loss * 100.0,
            crash_gap * 100.0,
            self.seeds.words(self.seed)
        )
    }

    fn table(&self, runs: &[(Server, Vec<Outcome>)]) -> Table {
        let row = |(server, outcomes): &(Server, Vec<Outcome>)| {
            let cells = outcomes.iter().take(1).flat_map(|outcome| {
                [
                    u64::from(self.orders),
                    outcome.charges,
                    outcome.duplicates,
                    outcome.unknown,
                    outcome.uncharged,
                    outcome.conflicts,
                    outcome.duplicates * PRICE,
                ]
            });
            let cells = cells.map(Cell::Count);
            std::iter::once(server.as_str().into())
                .chain(cells)
                .collect()
        };
        Table {
            name: "servers",
            columns: vec![
                "server",
                "orders",
                "charges",
                "duplicates",
                "unknown",
                "never_charged",
                "told_409",
                "overcharged_usd",
            ],
            rows: runs.iter().map(row).collect(),
        }
    }
}

fn spread(
    name: &'static str,
    runs: &[(Server, Vec<Outcome>)],
    of: impl Fn(&Outcome) -> u64,
) -> Table {
    let row = |(server, outcomes): &(Server, Vec<Outcome>)| {
        let cells = spread_cells(outcomes.iter().map(&of));
        [server.as_str().into()].into_iter().chain(cells).collect()
    };
    Table {
        name,
        columns: vec![name, "mean", "deviation", "least", "most"],
        rows: runs.iter().map(row).collect(),
    }
}
