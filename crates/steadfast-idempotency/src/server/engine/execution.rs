use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::task::JoinHandle;

use super::refused::Refused;
use crate::server::record::Record;
use crate::server::waiting::Caller;

/// How an operation got its answer.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "lives for one match, beside a `T` of its size"
)]
#[non_exhaustive]
pub enum Executed<T> {
    /// The work ran now, and this is what it made.
    Ran(T),
    /// It had run before, and this is what was kept.
    Replayed(Record),
}

/// The answer to come of [`Engine::execute`](super::Engine::execute).
///
/// Dropping it does not stop the work: effect and record are finished, or rolled back, all the
/// same. Only a wait for another request's work ends with it.
#[must_use = "the outcome is lost unless awaited"]
pub struct Execution<T>(State<T>);

type Outcome<T> = Result<Executed<T>, Refused>;

enum State<T> {
    Refused(Option<Refused>),
    // Never aborted: a JoinHandle that is dropped detaches its task.
    Running {
        task: JoinHandle<Outcome<T>>,
        /// Goes with the caller, so that one who has hung up waits for nobody else's work.
        _caller: Caller,
    },
}

impl<T> Execution<T> {
    pub(crate) const fn refused(refused: Refused) -> Self {
        Self(State::Refused(Some(refused)))
    }

    pub(crate) const fn running(task: JoinHandle<Outcome<T>>, caller: Caller) -> Self {
        Self(State::Running {
            task,
            _caller: caller,
        })
    }
}

// No field is ever pinned in place.
impl<T> Unpin for Execution<T> {}

impl<T> Future for Execution<T> {
    type Output = Outcome<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome<T>> {
        match &mut self.0 {
            State::Refused(refused) => {
                Poll::Ready(Err(refused.take().expect("polled after completion")))
            }
            State::Running { task, .. } => {
                let joined = ready!(Pin::new(task).poll(cx));
                Poll::Ready(joined.unwrap_or_else(|error| {
                    Err(match error.is_panic() {
                        true => Refused::Panicked,
                        false => Refused::Interrupted,
                    })
                }))
            }
        }
    }
}

impl<T> fmt::Debug for Execution<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Execution").finish_non_exhaustive()
    }
}
