use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use crate::account::Account;
use crate::binary::directory_of;
use crate::keeper::{Keeper, free_port};

/// A Redis server.
#[derive(Debug)]
pub struct Redis {
    keeper: Keeper,
    directory: std::path::PathBuf,
    port: u16,
}

impl Redis {
    /// The one server of this process; it ends with the process. Tests share its keys.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Redis>> = OnceLock::new();
        SHARED.get_or_init(Self::start).as_ref()
    }

    /// A server of one's own that keeps nothing on disk. None where Redis is not installed.
    ///
    /// # Panics
    ///
    /// It is installed and does not start, or it is not installed and this is CI.
    pub fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// The same with further options, as on the command line: `["--appendonly", "yes"]`.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    pub fn start_with(options: &[&str]) -> Option<Self> {
        let binaries = directory_of(&["redis-server", "redis-cli"])?;
        let account = Account::find();
        let directory = Keeper::directory(account);
        let port = free_port();
        let mut server = Command::new(binaries.join("redis-server"));
        server
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", ""])
            .arg("--dir")
            .arg(&directory)
            .args(options);
        let probe = binaries.join("redis-cli");
        let probe = format!("'{}' -p {port} ping | grep -q PONG", probe.display());
        Some(Self {
            keeper: Keeper::start(account, &directory, &probe, "KILL", &mut server),
            directory,
            port,
        })
    }

    /// Where it listens, as `redis://127.0.0.1:port`.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// The port on 127.0.0.1.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The directory of its files and its `log`.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The process to which signals go.
    pub fn pid(&self) -> u32 {
        self.keeper.pid()
    }

    /// Ends the server with a signal, `TERM` or `KILL`, and waits for its end.
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
