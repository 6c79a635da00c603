use std::fmt;
use std::future::Future;
use std::time::Duration;

use steadfast_core::Random;
use tokio::time::{sleep, timeout};

use super::config::RelayConfig;
use super::{Dispatch, Outbox};
use crate::server::store::StoreError;
use crate::server::unwind::CatchUnwind;

/// Sends what an [`Outbox`] holds, one message at a time.
///
/// Several may share a table, in one process or in many: each message is taken by one. Their order
/// is that of the table as long as nothing fails, and no promise.
pub struct Relay<O, S> {
    outbox: O,
    send: S,
    config: RelayConfig,
    random: Random,
}

/// What came of a sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sending {
    /// The other side has it.
    Sent,
    /// It may not have it: once more, with the same key and bytes, not before this time.
    Again(Duration),
    /// It will never take it.
    Never,
}

/// What one [`step`](Relay::step) did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Relayed {
    /// Nothing was due.
    Idle,
    /// A message arrived.
    Sent,
    /// It is sent again later.
    Postponed,
    /// It is sent no more.
    Buried,
}

impl<O, S, F> Relay<O, S>
where
    O: Outbox,
    S: Fn(Dispatch) -> F,
    F: Future<Output = Sending>,
{
    /// A relay that sends with `send`.
    pub fn new(outbox: O, send: S, config: RelayConfig) -> Self {
        Self {
            outbox,
            send,
            config,
            random: Random::new(),
        }
    }

    /// Sends until `until` is ready; a message that is being sent then is finished first. While the
    /// table cannot be reached it is asked now and then.
    ///
    /// Dropping it earlier leaves a message that was being sent to its lease: it is sent again.
    pub async fn run(&self, until: impl Future<Output = ()>) {
        let mut until = std::pin::pin!(until);
        loop {
            let pause = match self.step().await {
                Ok(Relayed::Idle) | Err(_) => self.config.poll(),
                Ok(_) => Duration::ZERO,
            };
            tokio::select! {
                biased;
                () = &mut until => return,
                () = sleep(pause) => {}
            }
        }
    }

    /// Sends the oldest message that is due, and marks what came of it.
    ///
    /// A sender that panics or takes longer than its limit counts as [`Sending::Again`].
    ///
    /// # Errors
    ///
    /// The table could not be read or written. A message that was sent before that is sent again
    /// when its lease is over.
    pub async fn step(&self) -> Result<Relayed, StoreError> {
        let limit = self.config.send_limit();
        // So long that a sender that keeps its limit still has it when it says what came of it.
        let lease = limit.saturating_mul(2).max(Duration::from_secs(1));
        let Some(dispatch) = self.outbox.take(lease).await? else {
            return Ok(Relayed::Idle);
        };
        let sending = CatchUnwind::new((self.send)(dispatch.clone()));
        let sending = match timeout(limit, sending).await {
            Ok(Ok(sending)) => sending,
            Ok(Err(_)) | Err(_) => Sending::Again(Duration::ZERO),
        };
        match sending {
            Sending::Sent => {
                self.outbox.sent(&dispatch).await?;
                Ok(Relayed::Sent)
            }
            Sending::Again(hint) if dispatch.attempt < self.config.max_attempts().get() => {
                let wait = self.wait(dispatch.attempt);
                self.outbox.postpone(&dispatch, wait.max(hint)).await?;
                Ok(Relayed::Postponed)
            }
            Sending::Again(_) | Sending::Never => {
                self.outbox.bury(&dispatch).await?;
                Ok(Relayed::Buried)
            }
        }
    }

    fn wait(&self, attempt: u32) -> Duration {
        let draw = self.random.draws().draw();
        let retry = attempt.saturating_sub(1);
        self.config
            .backoff()
            .wait(retry, Duration::ZERO, false, draw)
    }
}

impl<O, S> fmt::Debug for Relay<O, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
