//! Polls a future only when it asked for it, and counts.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// Time on the paused clock after which a future counts as never woken: longer than any call.
pub(crate) const NEVER_WOKEN: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Runs a future to its end, polled only when the waker of its *latest* poll was used.
///
/// Every pending poll is followed by one that nobody asked for, with another waker: a future that
/// keeps the first waker it saw is never woken then.
///
/// # Panics
///
/// When nothing wakes the future for 30 days of a paused clock, and after `bound` polls.
pub(crate) async fn drive<F: Future>(
    future: F,
    bound: usize,
    mut pending: impl FnMut(),
) -> (F::Output, usize) {
    let mut future = pin!(future);
    let mut polls = 0;
    loop {
        let mut woken = Arc::default();
        for _ in 0..2 {
            polls += 1;
            assert!(polls <= bound, "polled {polls} times without an end");
            woken = Arc::new(Woken::default());
            let waker = Waker::from(Arc::clone(&woken));
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return (output, polls);
            }
            pending();
        }
        let wakes = tokio::time::timeout(NEVER_WOKEN, wakes(&woken));
        assert!(
            wakes.await.is_ok(),
            "nothing woke the future after poll {polls}"
        );
    }
}

/// Gives other tasks their turn, and time, before the future that waits is looked at again.
async fn wakes(woken: &Woken) {
    poll_fn(|cx| {
        woken.tell(cx.waker());
        match woken.take() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    // A future that wakes itself all the time must not keep the tasks from running it waits for.
    tokio::task::yield_now().await;
}

/// Tells a wake of the driven future apart from every other wake of the task.
#[derive(Default)]
pub(crate) struct Woken {
    flag: AtomicBool,
    task: Mutex<Option<Waker>>,
}

impl Woken {
    pub(crate) fn tell(&self, task: &Waker) {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task.clone());
    }

    pub(crate) fn take(&self) -> bool {
        self.flag.swap(false, Ordering::AcqRel)
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.flag.store(true, Ordering::Release);
        let task = self
            .task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(task) = task {
            task.wake();
        }
    }
}

/// A future whose panic is an output: the text of it.
pub(crate) struct Caught<F>(pub(crate) Pin<Box<F>>);

impl<F: Future> Future for Caught<F> {
    type Output = Result<F::Output, String>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = std::panic::AssertUnwindSafe(|| self.0.as_mut().poll(cx));
        match std::panic::catch_unwind(polled) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(panic) => Poll::Ready(Err(text(&*panic))),
        }
    }
}

fn text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a text").to_owned()
}
