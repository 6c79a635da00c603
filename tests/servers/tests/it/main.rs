//! Servers come up empty, go with their value or their process, and survive what tests do to them.
#![allow(clippy::unwrap_used, reason = "tests, and what tests are made of")]

use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use steadfast_servers::{Postgres, Redis};

fn listens(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

#[test]
fn a_server_is_gone_with_its_value_and_so_is_its_directory() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let (port, directory) = (postgres.port(), postgres.directory().to_owned());
    let urls = [postgres.database(), postgres.database()];
    assert_ne!(urls[0], urls[1]);
    assert!(listens(port) && directory.join("data").exists());
    drop(postgres);
    assert!(!listens(port) && !directory.exists());

    let Some(redis) = Redis::start() else { return };
    let (port, directory) = (redis.port(), redis.directory().to_owned());
    assert!(listens(port) && directory.exists());
    drop(redis);
    assert!(!listens(port) && !directory.exists());
}

#[test]
fn a_stopped_server_starts_again_on_its_port() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let first = postgres.pid();
    postgres.stop("QUIT");
    assert!(!listens(postgres.port()));
    postgres.start_again();
    assert_ne!(postgres.pid(), first);
    assert!(listens(postgres.port()));

    let Some(redis) = Redis::start_with(&["--appendonly", "yes", "--appendfsync", "always"]) else {
        return;
    };
    assert_eq!(ask(redis.port(), "SET k kept"), "+OK");
    redis.stop("KILL");
    assert!(!listens(redis.port()));
    redis.start_again();
    assert_eq!(ask(redis.port(), "GET k"), "$4");
}

fn ask(port: u16, command: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream
        .write_all(format!("{command}\r\n").as_bytes())
        .unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

const CHILD: &str = "STEADFAST_TEST_CHILD";

/// The test runs itself again as a child that holds a server and waits to be killed.
#[test]
fn a_server_ends_with_a_test_that_is_killed() {
    if env::var_os(CHILD).is_some() {
        let redis = Redis::start().unwrap();
        println!("\nlives {} {}", redis.port(), redis.directory().display());
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
        return;
    }
    if Redis::shared().is_none() {
        return;
    }
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "a_server_ends_with_a_test_that_is_killed",
            "--nocapture",
        ])
        .env(CHILD, "")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (port, directory) = lines
        .map_while(Result::ok)
        .find_map(|line| {
            let mut words = line.strip_prefix("lives ")?.split(' ');
            let port: u16 = words.next()?.parse().ok()?;
            Some((port, PathBuf::from(words.next()?)))
        })
        .unwrap();
    assert!(listens(port));
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until_gone(&directory);
    assert!(!listens(port));
}

/// The directory goes last.
fn wait_until_gone(directory: &Path) {
    let gone = format!(
        "tries=0; while [ -e '{}' ]; do [ $tries -lt 200 ] || exit 1; tries=$((tries + 1)); sleep 0.05; done",
        directory.display()
    );
    let status = Command::new("sh").args(["-c", &gone]).status().unwrap();
    assert!(status.success(), "the server outlived its test");
}
