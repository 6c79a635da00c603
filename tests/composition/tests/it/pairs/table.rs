//! The table of pairs for users and the tests that it names: neither rots without the other.

use std::collections::BTreeSet;
use std::path::Path;

use steadfast::LayerKind;
use steadfast::order::Misordered;

const TABLE: &str = include_str!("../../../../../crates/steadfast/docs/pairs.md");

/// A client's layers, outer to inner.
const CLIENT: [&str; 12] = [
    "fallback",
    "call limit",
    "key",
    "retry",
    "budget layer",
    "cooldown",
    "bulkhead",
    "breaker",
    "hint layer",
    "attempt timeout",
    "body timeout",
    "propagation",
];

/// Ours on a server, and those of others beside them.
const SERVER: [&str; 3] = ["inbound deadline", "arrivals", "idempotency"];
const OTHERS: [&str; 7] = [
    "authentication",
    "trace",
    "compression",
    "timeout",
    "concurrency limit",
    "load shed",
    "buffer",
];

struct Row {
    pair: (String, String),
    means: String,
    right: String,
    tests: Vec<String>,
}

fn rows() -> Vec<Row> {
    let row = |line: &str| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [outer, inner, means, right, tests] = cells[..] else {
            panic!("not five cells: {line}");
        };
        let tests = tests.split('`').filter(|name| !name.trim().is_empty());
        Row {
            pair: (outer.to_owned(), inner.to_owned()),
            means: means.to_owned(),
            right: right.to_owned(),
            tests: tests.map(str::to_owned).collect(),
        }
    };
    let lines = TABLE.lines().filter(|line| line.starts_with("| "));
    lines
        .filter(|line| !line.starts_with("| outer"))
        .map(row)
        .collect()
}

/// The tests of this binary, by their sources: (file, name).
fn tests(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(tests(&path));
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        let mut is_test = false;
        for line in source.lines().map(str::trim) {
            let name = line.trim_start_matches("async ").strip_prefix("fn ");
            match name.and_then(|rest| rest.split_once('(')) {
                Some((name, _)) if is_test => {
                    found.push((path.display().to_string(), name.to_owned()));
                    is_test = false;
                }
                _ => is_test |= line.starts_with("#[tokio::test") || line == "#[test]",
            }
        }
    }
    found
}

fn sources() -> Vec<(String, String)> {
    tests(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it"))
}

#[test]
fn every_ordered_pair_stands_in_the_table_once() {
    let mut wanted = BTreeSet::new();
    let mut want = |a: &str, b: &str| {
        wanted.insert((a.to_owned(), b.to_owned()));
        wanted.insert((b.to_owned(), a.to_owned()));
    };
    for (at, outer) in CLIENT.iter().enumerate() {
        want(outer, outer);
        CLIENT[at + 1..].iter().for_each(|inner| want(outer, inner));
    }
    for (at, outer) in SERVER.iter().enumerate() {
        let inner = SERVER[at + 1..].iter().chain(&OTHERS);
        inner.for_each(|inner| want(outer, inner));
    }
    let stands: Vec<_> = rows().into_iter().map(|row| row.pair).collect();
    assert_eq!(wanted.len(), 12 * 12 + 3 * 2 + 2 * 3 * 7);
    assert_eq!(stands.len(), wanted.len(), "a pair stands twice");
    assert_eq!(stands.into_iter().collect::<BTreeSet<_>>(), wanted);
}

#[test]
fn each_order_of_a_pair_is_right_or_wrong_or_both_are_the_same() {
    let rows = rows();
    for row in &rows {
        let (outer, inner) = &row.pair;
        let back = (inner.clone(), outer.clone());
        let back = rows.iter().find(|other| other.pair == back).unwrap();
        assert!(!row.means.is_empty(), "{outer} outside of {inner}");
        assert!(!row.right.is_empty(), "{outer} outside of {inner}");
        if outer == inner {
            continue;
        }
        let either = row.right == "either";
        assert_eq!(either, back.right == "either", "{outer}, {inner}");
        assert_eq!(either, row.means == back.means, "{outer}, {inner}");
        assert!(
            either || row.right.starts_with("yes") || back.right.starts_with("yes"),
            "{outer}, {inner}: neither order is right"
        );
    }
}

/// What core tells of as misordered is what users read is wrong.
#[test]
fn the_pairs_that_are_told_as_misordered_are_those_that_the_table_calls_wrong() {
    let name = |kind: LayerKind| match kind {
        LayerKind::Propagate => "propagation".to_owned(),
        kind => kind.as_str().replace('_', " "),
    };
    let rows = rows();
    let mut wrong = 0;
    for outer in LayerKind::ALL {
        for inner in LayerKind::ALL.into_iter().filter(|inner| *inner != outer) {
            let pair = (name(outer), name(inner));
            let row = rows.iter().find(|row| row.pair == pair).unwrap();
            let is_wrong = Misordered::of(outer, inner).is_some();
            assert_eq!(is_wrong, row.right == "**no**", "{pair:?}: {}", row.right);
            wrong += usize::from(is_wrong);
        }
    }
    assert_eq!(wrong, Misordered::all().count());
}

#[test]
fn every_test_that_the_table_names_exists_and_every_test_of_a_pair_is_named() {
    let sources = sources();
    let exist: BTreeSet<_> = sources.iter().map(|(_, name)| name.clone()).collect();
    let named: BTreeSet<_> = rows().into_iter().flat_map(|row| row.tests).collect();
    for row in rows() {
        assert!(!row.tests.is_empty(), "{:?}", row.pair);
    }
    assert_eq!(named.difference(&exist).collect::<Vec<_>>(), [""; 0]);
    let of_pairs = sources.iter().filter(|(file, _)| file.contains("pairs"));
    let of_pairs = of_pairs.filter(|(file, _)| !file.ends_with("table.rs"));
    for (file, name) in of_pairs {
        assert!(named.contains(name), "{name} of {file} stands in no row");
    }
}
