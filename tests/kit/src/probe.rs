use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::time::Sleep;
use tower_service::Service;

use crate::{BoxError, Message};

mod future;
mod step;

pub use future::Answering;
pub use step::{Readiness, Step};

/// An inner service that keeps the contract of [`Service`] to the letter and catches a layer that
/// does not.
///
/// - Readiness is reserved by `poll_ready` for this instance only: a clone starts without it, and
///   a call uses it up. A call without it panics.
/// - Answers come from a script, one [`Step`] per call, whichever clone is called; a call that the
///   script does not foresee panics.
/// - Readiness is scripted too ([`with_readiness`](Self::with_readiness)); without a script every
///   instance is ready at once.
/// - What happened is counted in one place for all clones.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() {
/// use std::time::Duration;
/// use steadfast_kit::{Probe, Step};
/// use tower::ServiceExt;
///
/// let probe = Probe::script([
///     Step::fail("reset"),
///     Step::answer("late").after(Duration::from_secs(1)),
/// ]);
/// let mut service = probe.clone();
/// assert!(service.ready().await.unwrap().clone().oneshot("first").await.is_err());
/// assert_eq!(probe.reserved(), 1);
/// assert_eq!(service.oneshot("second").await.unwrap(), "late");
/// assert_eq!(probe.heads(), ["first", "second"]);
/// # }
/// ```
pub struct Probe<Req: Message, Res> {
    shared: Arc<Shared<Req, Res>>,
    reserved: bool,
    waiting: Option<Waiting>,
}

/// A reservation that is under way.
enum Waiting {
    Once,
    Sleep(Pin<Box<Sleep>>),
    Never,
}

struct Shared<Req: Message, Res> {
    state: Mutex<State<Req, Res>>,
}

struct State<Req: Message, Res> {
    steps: VecDeque<Step<Req, Res>>,
    readiness: VecDeque<Readiness>,
    heads: Vec<Req::Head>,
    reserved: usize,
    in_flight: usize,
    cancelled: usize,
}

impl<Req: Message, Res> Shared<Req, Res> {
    fn state(&self) -> MutexGuard<'_, State<Req, Res>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Req: Message, Res> Probe<Req, Res> {
    /// A probe that answers its calls in this order.
    pub fn script(steps: impl IntoIterator<Item = Step<Req, Res>>) -> Self {
        let state = State {
            steps: steps.into_iter().collect(),
            readiness: VecDeque::new(),
            heads: Vec::new(),
            reserved: 0,
            in_flight: 0,
            cancelled: 0,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
        });
        Self {
            shared,
            reserved: false,
            waiting: None,
        }
    }

    /// Says how each reservation goes, in this order; the ones after that succeed at once.
    #[must_use]
    pub fn with_readiness(self, script: impl IntoIterator<Item = Readiness>) -> Self {
        self.shared.state().readiness.extend(script);
        self
    }

    /// How often any clone was called.
    pub fn calls(&self) -> usize {
        self.shared.state().heads.len()
    }

    /// The heads of the requests, in the order of the calls.
    pub fn heads(&self) -> Vec<Req::Head> {
        self.shared.state().heads.clone()
    }

    /// How many instances hold a reservation right now: a layer that waits must hold none.
    pub fn reserved(&self) -> usize {
        self.shared.state().reserved
    }

    /// How many calls have neither ended nor been dropped.
    pub fn in_flight(&self) -> usize {
        self.shared.state().in_flight
    }

    /// How many calls were dropped before they ended.
    pub fn cancelled(&self) -> usize {
        self.shared.state().cancelled
    }

    /// How many steps of the script are left.
    pub fn steps_left(&self) -> usize {
        self.shared.state().steps.len()
    }

    fn reserve(&mut self) {
        self.reserved = true;
        self.shared.state().reserved += 1;
    }
}

impl<Req: Message, Res> Clone for Probe<Req, Res> {
    /// A handle on the same script and counts, without the reservation.
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            reserved: false,
            waiting: None,
        }
    }
}

impl<Req: Message, Res> Drop for Probe<Req, Res> {
    fn drop(&mut self) {
        if self.reserved {
            self.shared.state().reserved -= 1;
        }
    }
}

impl<Req: Message, Res> fmt::Debug for Probe<Req, Res> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.state();
        f.debug_struct("Probe")
            .field("calls", &state.heads.len())
            .field("steps_left", &state.steps.len())
            .field("reserved", &self.reserved)
            .finish_non_exhaustive()
    }
}

impl<Req: Message, Res: Send + 'static> Service<Req> for Probe<Req, Res> {
    type Response = Res;
    type Error = BoxError;
    type Future = Answering<Req, Res>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        if self.reserved {
            return Poll::Ready(Ok(()));
        }
        let done = match &mut self.waiting {
            Some(Waiting::Never) => false,
            Some(Waiting::Once) => true,
            Some(Waiting::Sleep(sleep)) => sleep.as_mut().poll(cx).is_ready(),
            None => {
                let script = self.shared.state().readiness.pop_front();
                match script.unwrap_or(Readiness::Now) {
                    Readiness::Now => true,
                    Readiness::Fail(error) => return Poll::Ready(Err(error)),
                    Readiness::Never => {
                        self.waiting = Some(Waiting::Never);
                        false
                    }
                    Readiness::Later => {
                        self.waiting = Some(Waiting::Once);
                        cx.waker().wake_by_ref();
                        false
                    }
                    Readiness::After(time) => {
                        let mut sleep = Box::pin(tokio::time::sleep(time));
                        let done = sleep.as_mut().poll(cx).is_ready();
                        self.waiting = Some(Waiting::Sleep(sleep));
                        done
                    }
                }
            }
        };
        if !done {
            return Poll::Pending;
        }
        self.waiting = None;
        self.reserve();
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Req) -> Answering<Req, Res> {
        assert!(
            self.reserved,
            "the probe was called without having been ready"
        );
        self.reserved = false;
        let step = {
            let mut state = self.shared.state();
            state.reserved -= 1;
            state.heads.push(request.head());
            state.steps.pop_front()
        };
        let Some(step) = step else {
            panic!("call {} of the probe is not in its script", self.calls());
        };
        self.shared.state().in_flight += 1;
        let shared = Arc::clone(&self.shared);
        Answering::new(
            step,
            request,
            Box::new(move |cancelled| shared.ended(cancelled)),
        )
    }
}

impl<Req: Message, Res> Shared<Req, Res> {
    fn ended(&self, cancelled: bool) {
        let mut state = self.state();
        state.in_flight -= 1;
        state.cancelled += usize::from(cancelled);
    }
}
