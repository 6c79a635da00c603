//! The table of field cases, which must not rot.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// `path::test` in backticks, as the table names tests.
fn named_tests(table: &str) -> impl Iterator<Item = (&str, &str)> {
    let quoted = table.split('`').skip(1).step_by(2);
    quoted.filter_map(|text| text.split_once(".rs::"))
}

#[test]
fn every_test_that_the_table_of_field_cases_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let table = fs::read_to_string(root.join("tests/field-cases.md")).unwrap();
    let mut seen = HashSet::new();
    for (path, name) in named_tests(&table) {
        let file = format!("{path}.rs");
        let source = fs::read_to_string(root.join(&file)).unwrap_or_else(|error| {
            panic!("{file}: {error}");
        });
        assert!(
            source.contains(&format!("fn {name}(")),
            "{file} has no test {name}"
        );
        seen.insert((path, name));
    }
    assert!(seen.len() > 30, "the table names {} tests only", seen.len());
}
