//! The manual says what the code does: its tables are read and compared.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use http::{HeaderMap, HeaderValue, Method, Uri, header};
use steadfast::{LayerKind, Misordered, Preconditions, Safety, SafetySources};

mod values;
mod writing;

const DEFAULTS: &str = include_str!("../../../../crates/steadfast/docs/defaults.md");
const OPERATIONS: &str = include_str!("../../../../crates/steadfast/docs/unsafe_operations.md");
const ORDER: &str = include_str!("../../../../crates/steadfast/docs/order.md");

/// The cells of a page's table rows whose first cell is code, without the backticks.
fn rows(page: &str) -> Vec<Vec<String>> {
    let lines = page.lines().filter(|line| line.starts_with("| `"));
    let cell = |cell: &str| cell.trim().trim_matches('`').to_owned();
    lines
        .map(|line| line.trim_matches('|').split('|').map(cell).collect())
        .collect()
}

#[tokio::test]
async fn each_default_of_the_manual_is_that_of_the_code() {
    let mut known = BTreeMap::new();
    known.extend(values::constants());
    known.extend(values::choices());
    known.extend(values::configs());
    known.extend(values::sqlite().await);
    assert!(known.len() > 80);
    // The facade's own tests compare the table of profiles.
    let (defaults, _) = DEFAULTS.split_once("# Profiles").unwrap();
    for row in rows(defaults) {
        let [what, value, why, source] = &row[..] else {
            panic!("{row:?} has other columns");
        };
        assert_eq!(known.remove(what.as_str()).as_ref(), Some(value), "{what}");
        assert!(!why.is_empty() && !source.is_empty(), "{what}");
    }
    assert_eq!(known, BTreeMap::new(), "not in the manual");
}

/// Whoever adds a constant adds its row.
#[test]
fn each_constant_of_a_default_has_a_row_in_the_manual() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    let mut declared = BTreeMap::new();
    for entry in fs::read_dir(crates).unwrap() {
        count_constants(&entry.unwrap().path().join("src"), &mut declared);
    }
    assert!(declared.len() > 30, "{declared:?}");

    let mut written = BTreeMap::new();
    for row in rows(DEFAULTS) {
        if let Some((_, name)) = row[0].rsplit_once("::DEFAULT_") {
            *written.entry(name.to_owned()).or_default() += 1;
        }
    }
    assert_eq!(written, declared);
}

fn count_constants(folder: &Path, found: &mut BTreeMap<String, usize>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            count_constants(&path, found);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let declarations = text
            .lines()
            .filter_map(|line| line.strip_prefix("pub const DEFAULT_"));
        for declaration in declarations {
            let name = declaration.split(':').next().unwrap();
            *found.entry(name.to_owned()).or_default() += 1;
        }
    }
}

#[test]
fn the_manual_lists_every_wrong_pair_and_its_harm() {
    let kinds = LayerKind::ALL.map(LayerKind::as_str);
    let written: Vec<_> = rows(ORDER)
        .into_iter()
        .filter(|row| kinds.contains(&row[0].as_str()))
        .collect();
    let told: Vec<_> = Misordered::all()
        .map(|pair| [pair.inner.as_str(), pair.outer.as_str(), pair.harm()].map(str::to_owned))
        .collect();
    assert_eq!(written, told);
}

/// What HTTP alone says of each operation; where a row's words are about more, they follow.
#[test]
fn the_manual_names_the_safety_that_each_operation_has_by_default() {
    let star = (header::IF_NONE_MATCH, HeaderValue::from_static("*"));
    let mut requests = vec![(
        "create, the client",
        Method::PUT,
        HeaderMap::from_iter([star]),
    )];
    let plain = [
        ("create, the server", Method::POST),
        ("increment", Method::PATCH),
        ("append", Method::POST),
        ("external action", Method::POST),
        ("payment", Method::POST),
        ("read-modify-write", Method::PUT),
        ("replace, one writer", Method::PUT),
        ("change in part", Method::PATCH),
        ("delete by name", Method::DELETE),
        ("delete by position", Method::DELETE),
        ("a GET", Method::GET),
        ("a read that is a POST", Method::POST),
        ("gRPC method", Method::POST),
        ("GraphQL", Method::POST),
        ("JSON-RPC", Method::POST),
        ("batch", Method::POST),
    ];
    requests.extend(plain.map(|(operation, method)| (operation, method, HeaderMap::new())));
    let table = OPERATIONS
        .lines()
        .skip_while(|line| !line.starts_with("| operation |"));
    let table = table.skip(2).take_while(|line| line.starts_with('|'));
    let rows: Vec<Vec<_>> = table
        .map(|row| row.trim_matches('|').split('|').collect())
        .collect();
    assert!(rows.iter().all(|row| row.len() == 5), "{rows:?}");

    for (operation, method, headers) in &requests {
        let conditional = Preconditions::new().hold_for(&Uri::from_static("/"), headers);
        let sources = SafetySources {
            conditional,
            ..SafetySources::default()
        };
        let safety = Safety::decide(sources, method);
        let row = rows
            .iter()
            .find(|row| row[0].trim().starts_with(operation))
            .unwrap();
        let said = row[2].trim().split('`').nth(1);
        assert_eq!(said, Some(&*format!("{safety:?}")), "{operation}");
        let repeated = row[3].trim().starts_with("repeat");
        assert_eq!(repeated, safety != Safety::Unprotected, "{operation}");
    }
    let said = rows
        .iter()
        .filter(|row| row[2].trim().starts_with('`'))
        .count();
    assert_eq!(
        said,
        requests.len(),
        "each row that names a safety is asked"
    );
}
