use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::Notify;

/// What a [`ScriptedServer`](super::ScriptedServer) does with one connection; it closes the connection at the end.
#[derive(Clone, Debug, Default)]
pub struct Script {
    pub(super) acts: Vec<Act>,
}

#[derive(Clone, Debug)]
pub(super) enum Act {
    Read,
    ReadHead,
    Write(Bytes),
    ReadBody,
    Arrival,
    Wait(Arc<Notify>),
    Notify(Arc<Notify>),
    Endless(Bytes),
    Stall,
    Reset,
}

impl Script {
    /// Closes the connection as soon as it is there.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads one whole request, its body included.
    #[must_use]
    pub fn read(self) -> Self {
        self.then(Act::Read)
    }

    /// Reads the head of a request and leaves the body in the socket.
    #[must_use]
    pub fn read_head(self) -> Self {
        self.then(Act::ReadHead)
    }

    /// Reads the rest of the request whose head was read last.
    #[must_use]
    pub fn read_body(self) -> Self {
        self.then(Act::ReadBody)
    }

    /// Waits until bytes of a request are there and leaves them in the socket: a close or a reset
    /// after this is one that the request crossed on its way.
    #[must_use]
    pub fn arrival(self) -> Self {
        self.then(Act::Arrival)
    }

    /// Writes these bytes.
    #[must_use]
    pub fn write(self, bytes: impl Into<Bytes>) -> Self {
        self.then(Act::Write(bytes.into()))
    }

    /// Writes an answer of this status line (`"200 OK"`), these header lines and this body, with
    /// its length.
    #[must_use]
    pub fn answer(self, status: &str, headers: &[&str], body: &str) -> Self {
        let mut text = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len());
        for line in headers {
            text.push_str(line);
            text.push_str("\r\n");
        }
        text.push_str("\r\n");
        text.push_str(body);
        self.write(text)
    }

    /// Writes the head of such an answer and only the first `sent` bytes of its body.
    #[must_use]
    pub fn answer_cut(self, status: &str, headers: &[&str], body: &str, sent: usize) -> Self {
        let length = format!("content-length: {}", body.len());
        let mut text = format!("HTTP/1.1 {status}\r\n");
        for line in std::iter::once(length.as_str()).chain(headers.iter().copied()) {
            text.push_str(line);
            text.push_str("\r\n");
        }
        text.push_str("\r\n");
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(&body.as_bytes()[..sent.min(body.len())]);
        self.write(bytes)
    }

    /// Writes these bytes again and again until the peer closes the connection.
    #[must_use]
    pub fn endless(self, bytes: impl Into<Bytes>) -> Self {
        self.then(Act::Endless(bytes.into()))
    }

    /// Notifies `notify`, for whoever waits for this script to come this far.
    #[must_use]
    pub fn notify(self, notify: &Arc<Notify>) -> Self {
        self.then(Act::Notify(Arc::clone(notify)))
    }

    /// Does nothing until `notify` is notified.
    #[must_use]
    pub fn wait(self, notify: &Arc<Notify>) -> Self {
        self.then(Act::Wait(Arc::clone(notify)))
    }

    /// Does nothing more, and keeps the connection open.
    #[must_use]
    pub fn stall(self) -> Self {
        self.then(Act::Stall)
    }

    /// Ends the connection with a TCP reset instead of a close.
    #[must_use]
    pub fn reset(self) -> Self {
        self.then(Act::Reset)
    }

    fn then(mut self, act: Act) -> Self {
        self.acts.push(act);
        self
    }
}
