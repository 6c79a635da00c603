//! What a call costs beside tower's own retry layer, in one run; see `README.md` next door.
//!
//! Every row runs once a round, in an order that changes; each figure is a median over rounds of
//! the ratio within one round, so that a machine whose speed drifts does not matter.
//!
//! `-- --only GROUP/NAME CALLS` makes so many calls of one row and prints nothing, for tools
//! that count instructions.
#![allow(
    missing_docs,
    clippy::disallowed_methods,
    reason = "a bench is a program, and measures real time"
)]

mod rows;
mod services;

use std::time::Instant;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rows::{
    BARE, COPY, FAILS_ONCE, FRAME, HEADERS, IDLE, OURS, Row, TOWER, UPLOAD, UPLOAD_KNOWN, all,
};

const ROUNDS: usize = 301;
const WARM_UP: usize = 20;

fn main() {
    // A runtime for timers; nothing here waits on one.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime needs threads and timers, which every platform here has");
    let _entered = runtime.enter();
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.iter().position(|argument| argument == "--only") {
        Some(at) => only(
            &arguments[at + 1],
            arguments[at + 2].parse().expect("a number"),
        ),
        None => table(&Measured::of(all())),
    }
}

fn only(wanted: &str, calls: u32) {
    let mut rows = all();
    let row = rows
        .iter_mut()
        .find(|row| format!("{}/{}", row.group, row.name) == wanted)
        .expect("a row of the table, as GROUP/NAME");
    (0..calls).for_each(|_| (row.call)());
}

/// Nanoseconds a call, a line per round.
struct Measured {
    rows: Vec<Row>,
    rounds: Vec<Vec<f64>>,
}

impl Measured {
    fn of(mut rows: Vec<Row>) -> Self {
        let mut order: Vec<_> = (0..rows.len()).collect();
        let mut random = StdRng::seed_from_u64(7);
        let mut rounds = Vec::new();
        for round in 0..WARM_UP + ROUNDS {
            order.shuffle(&mut random);
            let mut times = vec![0.0; rows.len()];
            for &at in &order {
                let Row { calls, call, .. } = &mut rows[at];
                let start = Instant::now();
                (0..*calls).for_each(|_| call());
                times[at] = start.elapsed().as_nanos() as f64 / f64::from(*calls);
            }
            if round >= WARM_UP {
                rounds.push(times);
            }
        }
        Self { rows, rounds }
    }

    fn at(&self, group: &str, name: &str) -> usize {
        let mut all = self.rows.iter();
        all.position(|row| (row.group, row.name) == (group, name))
            .expect("the table asks for rows that there are")
    }

    /// Quartiles of a figure that each round gives.
    fn quartiles(&self, figure: impl Fn(&dyn Fn(&str, &str) -> f64) -> f64) -> [f64; 3] {
        let of = |round: &Vec<f64>| figure(&|group, name| round[self.at(group, name)]);
        let mut all: Vec<_> = self.rounds.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        [1, 2, 3].map(|quarter| all[all.len() * quarter / 4])
    }
}

fn table(measured: &Measured) {
    println!("| call | tower x bare | ours x bare |");
    println!("|---|---|---|");
    for group in [IDLE, HEADERS, FRAME, FAILS_ONCE] {
        let of = |name| measured.quartiles(|ns| ns(group, name) / ns(group, BARE))[1];
        println!("| {group} | {:.2} | {:.2} |", of(TOWER), of(OURS));
    }
    println!();
    println!("| figure | lower quartile | median | upper quartile | target |");
    println!("|---|---|---|---|---|");
    for (figure, quartiles, target) in [
        (
            "idle: ours / tower, extra time",
            extra(measured, IDLE),
            "≤ 0.85",
        ),
        (
            "8 headers: ours / tower, extra time",
            extra(measured, HEADERS),
            "≤ 1.0",
        ),
        (
            "one frame: ours / tower, extra time",
            extra(measured, FRAME),
            "-",
        ),
        (
            "503, then 200: ours / two bare calls",
            measured.quartiles(|ns| ns(FAILS_ONCE, OURS) / ns(FAILS_ONCE, BARE)),
            "≤ 2.5",
        ),
        (
            "upload, unknown length: throughput / bare",
            throughput(measured, UPLOAD),
            "≥ 0.95",
        ),
        (
            "upload, known length: throughput / bare",
            throughput(measured, UPLOAD_KNOWN),
            "≥ 0.95",
        ),
        (
            "copy in the cache, unknown length: throughput / bare",
            throughput(measured, COPY),
            "-",
        ),
    ] {
        let [low, median, high] = quartiles;
        println!("| {figure} | {low:.2} | {median:.2} | {high:.2} | {target} |");
    }
}

/// What our layer adds to a bare call, against what tower's adds.
fn extra(measured: &Measured, group: &str) -> [f64; 3] {
    measured.quartiles(|ns| {
        let bare = ns(group, BARE);
        (ns(group, OURS) - bare) / (ns(group, TOWER) - bare)
    })
}

fn throughput(measured: &Measured, group: &str) -> [f64; 3] {
    measured.quartiles(|ns| ns(group, BARE) / ns(group, OURS))
}
