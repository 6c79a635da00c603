//! Short runs of the program, each with its seed: what is sound stays sound, and mistakes are
//! caught.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::sleep;

const PROGRAM: &str = env!("CARGO_BIN_EXE_crash");

/// Whether a run ended well, and its last line.
async fn run(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(PROGRAM).arg("run").args(arguments).output();
    let output = output.await.expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}{}", String::from_utf8_lossy(&output.stderr));
    let verdict = text.lines().last().unwrap_or_default().trim().to_owned();
    (output.status.success(), verdict)
}

#[tokio::test]
async fn on_sqlite_no_kill_cut_or_race_doubles_an_effect_or_loses_an_answer() {
    let arguments = ["--seed", "11", "--kills", "8"];
    assert_eq!(run(&arguments).await, (true, "sound".to_owned()));
}

#[tokio::test]
async fn on_postgres_neither_does_an_ended_connection() {
    let arguments = ["--store", "postgres", "--seed", "11", "--keys", "100"];
    let (ended_well, verdict) = run(&arguments).await;
    assert!(ended_well);
    // Empty where PostgreSQL is not installed, of which the program has told.
    assert!(verdict == "sound" || verdict.is_empty(), "{verdict}");
}

#[tokio::test]
async fn a_key_written_after_its_effect_is_caught() {
    let arguments = ["--design", "key-after-effect"];
    assert_eq!(run(&arguments).await, (true, "caught".to_owned()));
}

#[tokio::test]
async fn a_mistake_that_is_not_caught_fails_its_run() {
    // Without a key there is nothing to see.
    let arguments = ["--design", "no-task", "--keys", "0"];
    assert_eq!(run(&arguments).await, (false, "NOT CAUGHT".to_owned()));
}

#[tokio::test]
async fn servers_end_with_a_run_that_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let mut run = Command::new(PROGRAM)
        .args(["run", "--keys", "100000"])
        .env("TMPDIR", directory.path())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    until("three servers", || servers_of(directory.path()) == 3).await;
    run.kill().await.unwrap();
    until("no server", || servers_of(directory.path()) == 0).await;
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..1_000 {
        if holds() {
            return;
        }
        sleep(Duration::from_millis(20)).await;
    }
    panic!("still not {what}");
}

/// Processes that were told of a file in this directory.
fn servers_of(directory: &Path) -> usize {
    let directory = directory.display().to_string();
    let processes = fs::read_dir("/proc").expect("Linux").flatten();
    processes
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
        .filter(|line| String::from_utf8_lossy(line).contains(&directory))
        .count()
}
