use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::account::Account;
use crate::binary::directory_of;
use crate::keeper::{Keeper, free_port};

/// A PostgreSQL server.
#[derive(Debug)]
pub struct Postgres {
    keeper: Keeper,
    account: Account,
    binaries: PathBuf,
    directory: PathBuf,
    port: u16,
    databases: AtomicU32,
}

impl Postgres {
    /// The superuser of every server; it needs no password.
    pub const USER: &'static str = "steadfast";

    /// The one server of this process; it ends with the process.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Postgres>> = OnceLock::new();
        SHARED.get_or_init(Self::start).as_ref()
    }

    /// A server of one's own. None where PostgreSQL is not installed.
    ///
    /// # Panics
    ///
    /// It is installed and does not start, or it is not installed and this is CI.
    pub fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// The same with settings, each as `name=value`.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    pub fn start_with(settings: &[&str]) -> Option<Self> {
        let binaries = directory_of(&["postgres", "initdb", "pg_isready", "createdb"])?;
        let account = Account::find();
        let directory = Keeper::directory(account);
        let data = directory.join("data");
        run(
            account,
            Command::new(binaries.join("initdb"))
                .arg("-D")
                .arg(&data)
                .args(["-U", Self::USER, "--auth=trust", "--no-sync"])
                .args(["--encoding=UTF8", "--locale=C"]),
            &directory,
        );
        let port = free_port();
        let mut server = Command::new(binaries.join("postgres"));
        server.arg("-D").arg(&data);
        for setting in settings {
            server.args(["-c", setting]);
        }
        server
            // After a crash its own files alone need syncing; file by file that takes seconds.
            .args(["-c", "recovery_init_sync_method=syncfs"])
            .args(["-c", &format!("port={port}")])
            .args(["-c", "listen_addresses=127.0.0.1"])
            .arg("-c")
            .arg(format!("unix_socket_directories={}", directory.display()));
        let probe = binaries.join("pg_isready");
        let probe = format!("'{}' -h 127.0.0.1 -p {port}", probe.display());
        Some(Self {
            keeper: Keeper::start(account, &directory, &probe, "QUIT", &mut server),
            account,
            binaries,
            directory,
            port,
            databases: AtomicU32::new(0),
        })
    }

    /// Makes an empty database, and tells its URL over TCP.
    pub fn database(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{number}");
        let mut create = Command::new(self.binaries.join("createdb"));
        create.args(["-h", "127.0.0.1", "-U", Self::USER]).args([
            "-p",
            &self.port.to_string(),
            &name,
        ]);
        run(self.account, &mut create, &self.directory);
        format!("postgres://{}@127.0.0.1:{}/{name}", Self::USER, self.port)
    }

    /// The port on 127.0.0.1.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The directory of its socket and its `log`.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The process to which signals go.
    pub fn pid(&self) -> u32 {
        self.keeper.pid()
    }

    /// Ends the server with a signal and waits for its end: `TERM` waits for clients, `INT` rolls
    /// them back, `QUIT` is the immediate shutdown, after which it recovers as after a crash.
    pub fn stop(&self, signal: &str) {
        self.keeper.stop(signal);
    }

    /// Starts a stopped server on the same directory and port.
    pub fn start_again(&self) {
        self.keeper.start_again();
    }

    /// Sends a signal to the server.
    pub fn signal(&self, signal: &str) {
        self.keeper.signal(signal);
    }
}

fn run(account: Account, command: &mut Command, directory: &Path) {
    let output = account
        .run(command)
        .current_dir(directory)
        .env("LC_ALL", "C")
        .output()
        .expect("it is installed");
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}
