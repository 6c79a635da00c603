use std::error::Error;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use steadfast::budget::RateBudget;
use steadfast::retry::{RetryConfig, operation};
use steadfast::{Delivery, Safety, Verdict};
use tokio::sync::mpsc::{self, error::TrySendError};

/// Puts a message on a channel that is full until its reader wakes up.
pub(crate) async fn notify() -> Result<(&'static str, u32), Box<dyn Error>> {
    let (sender, mut receiver) = mpsc::channel(1);
    sender.try_send("an earlier message")?;
    let reader = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(40)).await;
        receiver.recv().await;
        receiver.recv().await
    });

    let attempts = AtomicU32::new(0);
    let config = RetryConfig::default()
        .with_max_attempts(NonZeroU32::MAX)
        // A share of the traffic is no measure for one message.
        .with_budget(RateBudget::default());
    operation(config, Safety::Unprotected, meaning, async |_| {
        attempts.fetch_add(1, Ordering::Relaxed);
        sender.try_send("paid")
    })
    .named("notify")
    .await?;
    let arrived = reader.await?.ok_or("the channel closed")?;
    Ok((arrived, attempts.into_inner()))
}

/// A full channel took nothing; a closed one never will.
fn meaning(result: &Result<(), TrySendError<&str>>) -> Verdict {
    match result {
        Ok(()) => Verdict::Success,
        Err(TrySendError::Full(_)) => Verdict::Transient(Delivery::Unsent),
        Err(TrySendError::Closed(_)) => Verdict::Permanent(Delivery::Unsent),
    }
}
