//! A server process and what can happen to it: this program, started a second time.

use std::env;
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

use clap::ValueEnum;
use steadfast_core::BoxError;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

use crate::serve::{LISTENING, ServeArgs};

/// Above all that a start or a drain may wait for.
const BOUND: Duration = Duration::from_secs(60);

/// A running server. Dropped, it is killed; and if this process dies first, it ends by itself.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
    addr: SocketAddr,
    // Open for as long as it runs, so that it can write.
    _lines: BufReader<ChildStdout>,
}

impl ServerProcess {
    /// Starts a server and waits until it listens.
    pub(crate) async fn start(args: &ServeArgs) -> Result<Self, BoxError> {
        let design = args.design.to_possible_value();
        let design = design.ok_or("every design has a name")?;
        let mut child = Command::new(env::current_exe()?)
            .args(["serve", "--design", design.get_name()])
            .args(["--ledger", &args.ledger, "--keys", &args.keys])
            .args(["--seed", &args.seed.to_string()])
            // Held open, not written to: the server ends when it closes.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().ok_or("its output is not piped")?;
        let mut lines = BufReader::new(stdout);
        let mut line = String::new();
        timeout(BOUND, lines.read_line(&mut line)).await??;
        let addr = line
            .trim_end()
            .strip_prefix(LISTENING)
            .ok_or("a server ended before it listened")?;
        Ok(Self {
            addr: addr.parse()?,
            child,
            _lines: lines,
        })
    }

    pub(crate) const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// SIGKILL: nothing is flushed, closed or said good-bye to. Waits for its end.
    pub(crate) async fn kill(mut self) -> Result<(), BoxError> {
        self.child.start_kill()?;
        self.child.wait().await?;
        Ok(())
    }

    /// SIGTERM: it takes no new requests, finishes those it has, and ends.
    ///
    /// # Errors
    ///
    /// It did not end, or not as it should.
    pub(crate) async fn drain(mut self) -> Result<(), BoxError> {
        self.signal("TERM").await?;
        let status = timeout(BOUND, self.child.wait()).await??;
        match status.success() {
            true => Ok(()),
            false => Err(format!("a drained server ended with {status}").into()),
        }
    }

    pub(crate) async fn signal(&self, signal: &str) -> Result<(), BoxError> {
        let pid = self.child.id().ok_or("it has ended")?;
        let sent = Command::new("sh")
            .args([
                "-c",
                "kill -s \"$1\" \"$2\"",
                "sh",
                signal,
                &pid.to_string(),
            ])
            .status()
            .await?;
        match sent.success() {
            true => Ok(()),
            false => Err(format!("no SIG{signal} to {pid}").into()),
        }
    }
}
