//! A server that drops expired work recovers from a trigger that no retry budget survives.
//!
//! ```text
//! cargo run --release --example overload
//! ```
//!
//! In virtual time and by seed, through the layers that serve and call in production. The exit
//! code says whether the outcome is the expected one.
#![allow(clippy::print_stdout, reason = "the table is the result")]

use std::process::ExitCode;

mod client;
mod server;
mod world;

use client::Retries;
use world::{Outcome, World};

/// The share of calls that must succeed long after the trigger where expired work is dropped.
const RECOVERED: f64 = 0.98;

/// The share that is not reached where it is worked on.
const COLLAPSED: f64 = 0.2;

fn main() -> ExitCode {
    let world = World::default();
    println!("{world}\n");
    println!(
        "| retries | expired work is | before | during | after | attempts per call | wasted |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut expected = true;
    for retries in [Retries::Naive, Retries::Budgeted] {
        for drops in [false, true] {
            let outcome = world.run(retries, drops);
            println!(
                "| {retries} | {} | {outcome} |",
                if drops { "dropped" } else { "worked on" }
            );
            expected &= as_expected(drops, &outcome);
        }
    }
    if expected {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// What must show under every policy: the server decides.
fn as_expected(drops: bool, outcome: &Outcome) -> bool {
    if drops {
        outcome.after >= RECOVERED
    } else {
        outcome.after < COLLAPSED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same shape with a tenth of the requests.
    fn small() -> World {
        World {
            capacity: 100,
            ..World::default()
        }
    }

    #[test]
    fn dropping_expired_work_is_the_difference_between_recovery_and_collapse() {
        for (retries, drops) in [
            (Retries::Naive, false),
            (Retries::Naive, true),
            (Retries::Budgeted, true),
        ] {
            let outcome = small().run(retries, drops);
            assert!(
                as_expected(drops, &outcome),
                "{retries} {drops} {outcome:?}"
            );
            assert!(outcome.before > RECOVERED, "{retries} {drops} {outcome:?}");
        }
    }

    #[test]
    fn a_seed_repeats_its_outcome() {
        let short = World {
            after: 5,
            ..small()
        };
        let [one, again] = [(); 2].map(|()| short.run(Retries::Budgeted, true));
        assert_eq!(one, again);
    }
}
