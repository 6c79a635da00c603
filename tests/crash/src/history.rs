//! What clients meant to do and what they were told, written down as it happens.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::order::Order;

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Event {
    /// A client is about to send; written before the first byte leaves.
    Intent {
        key: String,
        order: Order,
        phase: Phase,
    },
    /// It got a whole answer.
    Answer {
        key: String,
        phase: Phase,
        reply: Reply,
    },
    /// It got none, or not all of it: the outcome of this sending is unknown.
    Lost { key: String, phase: Phase },
}

/// Why a request was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Phase {
    /// While things break.
    Storm,
    /// With another payload than the key's first.
    Altered,
    /// After all has calmed down.
    Quiet,
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) replayed: bool,
    pub(crate) location: Option<String>,
    pub(crate) body: String,
}

impl Reply {
    /// Whether a client takes it for the end of its operation; it repeats after all others.
    pub(crate) const fn is_final(&self) -> bool {
        !matches!(self.status, 409 | 500 | 503)
    }
}

/// The log: each line is handed to the kernel before the call returns, so that it outlives the
/// process that wrote it.
#[derive(Clone, Debug)]
pub(crate) struct History {
    file: Arc<Mutex<File>>,
    path: PathBuf,
}

impl History {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: Arc::new(Mutex::new(File::create_new(path)?)),
            path: path.to_owned(),
        })
    }

    pub(crate) fn write(&self, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&line)
    }

    /// Reads it back: the checks know nothing but what is in the file.
    pub(crate) fn read(&self) -> io::Result<Vec<Event>> {
        let lines = BufReader::new(File::open(&self.path)?).lines();
        lines
            .map(|line| Ok(serde_json::from_str(&line?)?))
            .collect()
    }
}
