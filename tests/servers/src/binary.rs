use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where Debian keeps each major version of PostgreSQL, off the `PATH`.
const VERSIONS: &str = "/usr/lib/postgresql";

/// The directory that holds all of `names`: one of `PATH`, or PostgreSQL's newest.
///
/// Where there is none, says so past the test runner's capture; in CI that is a failure.
pub(crate) fn directory_of(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path)
        .chain(versions(Path::new(VERSIONS)))
        .chain([PathBuf::from("/usr/sbin")])
        .find(|directory| names.iter().all(|name| directory.join(name).is_file()));
    if found.is_none() {
        let skipped = format!("skipped: no {}", names[0]);
        let in_ci = env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!in_ci, "{skipped}: CI must install it");
        // Not eprintln, which the test runner captures; a stderr that is closed hears nothing.
        let _ = writeln!(io::stderr(), "{skipped}");
    }
    found
}

/// Newest first.
fn versions(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            Some((number, entry.path().join("bin")))
        })
        .collect();
    versions.sort_unstable();
    versions.into_iter().rev().map(|(_, path)| path).collect()
}
