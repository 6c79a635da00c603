//! A server process and its death: this program, started a second time.

use std::env;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use steadfast::BoxError;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::fault::FaultPlan;
use crate::row::Row;
use crate::server::{GAP, LISTENING};

/// A running server. Dropped, it is killed; and if this process dies first, it ends by itself.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    addr: SocketAddr,
}

impl ServerProcess {
    /// Starts a server and waits until it listens.
    pub(crate) async fn start(row: Row, ledger: &Path, plan: FaultPlan) -> Result<Self, BoxError> {
        let mut child = Command::new(env::current_exe()?)
            .args(["--seed", &plan.seed().to_string(), "serve", row.name()])
            .arg(ledger)
            // Held open, not written to: the server ends when it closes.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child
            .stdout
            .take()
            .ok_or("the server's output is not piped")?;
        let mut lines = BufReader::new(stdout).lines();
        let line = lines
            .next_line()
            .await?
            .ok_or("the server ended before it listened")?;
        let addr = line
            .strip_prefix(LISTENING)
            .ok_or("the server did not say where it listens")?;
        Ok(Self {
            child,
            lines,
            addr: addr.parse()?,
        })
    }

    /// Where it listens.
    pub(crate) const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Waits until the server has charged, has not written the key, and waits for its end.
    ///
    /// Dropping the future loses no line.
    pub(crate) async fn reached_gap(&mut self) -> Result<(), BoxError> {
        match self.lines.next_line().await? {
            Some(line) if line == GAP => Ok(()),
            Some(line) => Err(format!("the server said {line:?}").into()),
            None => Err("the server ended, and nobody killed it".into()),
        }
    }

    /// Kills it (SIGKILL: nothing is flushed, closed or said good-bye to) and waits for its end.
    pub(crate) async fn kill(&mut self) -> Result<(), BoxError> {
        self.child.start_kill()?;
        self.child.wait().await?;
        Ok(())
    }
}
