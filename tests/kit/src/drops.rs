use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::drive::{NEVER_WOKEN, Woken};

/// Polls of one future, far above what any call in a test needs.
const MAX_POLLS: usize = 1_000;

/// What [`drop_at_every_await`] found when it let the future run to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Driven<T> {
    /// What the future gave.
    pub output: T,
    /// How often it had to be polled: it was dropped after 0, 1, … `polls − 1` of them.
    pub polls: usize,
}

/// Drops a future after 0 polls, then a fresh one after 1, after 2, …, until one completes.
///
/// `make` gives a future and whatever its check needs; `check` is called after each drop with
/// that and with the number of polls, and once more after the one that completed.
///
/// To be called on a runtime with a paused clock: whenever the future waits for time, the clock
/// moves on to it by itself.
///
/// # Panics
///
/// When a future is pending and nothing wakes it for 30 days: it forgot to register its waker.
/// After 1,000 polls of one future: it spins.
pub async fn drop_at_every_await<F: Future, S>(
    mut make: impl FnMut() -> (F, S),
    mut check: impl FnMut(S, usize),
) -> Driven<F::Output> {
    for allowed in 0..=MAX_POLLS {
        let (future, state) = make();
        let mut polls = 0;
        let output = {
            let mut future = pin!(future);
            let woken = Arc::new(Woken::default());
            let waker = Waker::from(Arc::clone(&woken));
            let some_polls = poll_fn(|cx| {
                if polls == allowed {
                    return Poll::Ready(None);
                }
                woken.tell(cx.waker());
                // Polled only when the future's own waker was used, not when the bound ran out.
                if polls > 0 && !woken.take() {
                    return Poll::Pending;
                }
                polls += 1;
                match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                    Poll::Ready(output) => Poll::Ready(Some(output)),
                    // Dropped where it waits, not only when it would go on.
                    Poll::Pending if polls == allowed => Poll::Ready(None),
                    Poll::Pending => Poll::Pending,
                }
            });
            match tokio::time::timeout(NEVER_WOKEN, some_polls).await {
                Ok(output) => output,
                Err(_) => panic!("nothing woke the future after poll {polls}"),
            }
        };
        check(state, polls);
        if let Some(output) = output {
            return Driven { output, polls };
        }
    }
    panic!("polled {MAX_POLLS} times without an end")
}
