use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, Method, StatusCode};

use crate::{Hint, Misordered, Report, Safety, Verdict};

mod admission;

pub use admission::{AdmissionRefused, CircuitChanged, CircuitState, CooldownBegan, FellBack};

/// Receives the events of the layers: for logs, metrics and traces.
///
/// Called in the middle of a call, so it must return at once. A closure is an observer; `()` is
/// one that looks away.
///
/// The compiler says of anything else "`Rc<..>` does not observe events", and why:
///
/// ```compile_fail
/// use std::rc::Rc;
/// use steadfast_core::{Event, Observe};
///
/// fn tell(_: impl Observe) {}
/// // Not `Send`: events come from every thread.
/// let seen = Rc::new(0);
/// tell(move |_: &Event<'_>| println!("{seen}"));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not observe events",
    label = "not an `Observe`",
    note = "a closure observes when it is `Fn`, `Send`, `Sync` and `'static` and its parameter has a \
            type: `move |event: &Event<'_>| ..`; shared state belongs behind an `Arc`"
)]
pub trait Observe: Send + Sync + 'static {
    /// Looks at one event.
    fn observe(&self, event: &Event<'_>);
}

impl Observe for () {
    fn observe(&self, _: &Event<'_>) {}
}

/// One observer for several layers.
impl Observe for Arc<dyn Observe> {
    fn observe(&self, event: &Event<'_>) {
        (**self).observe(event);
    }
}

// Without it a missing bound is told as one of `Fn`, once for each of them.
#[diagnostic::do_not_recommend]
impl<F: Fn(&Event<'_>) + Send + Sync + 'static> Observe for F {
    fn observe(&self, event: &Event<'_>) {
        self(event);
    }
}

/// What happened in a layer.
///
/// Events carry destination, method, status and kinds of errors; never userinfo, path, query or
/// header values.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// An attempt ended, well or not.
    Attempted(Attempted<'a>),
    /// A call ended at a retry layer.
    Ended(Ended<'a>),
    /// A retry layer passed a call through, because one further out repeats it: two of them are
    /// stacked.
    PassedThrough(Subject<'a>),
    /// An attempt passed a budget unjudged: nothing on it said whether it was a retry.
    PassedUnmarked(Subject<'a>),
    /// A request arrived that has an end, its caller's or the server's own.
    DeadlineReceived(Inbound<'a>),
    /// A request's end had come before its handler began; `enforced` says whether it was refused.
    DeadlineRefused(Inbound<'a>),
    /// A request's end came before its answer; `enforced` says whether the handler was dropped.
    DeadlineExpired(Inbound<'a>),
    /// A handler answered before its request's end, or with its last tick.
    DeadlineMet(Inbound<'a>),
    /// A header that should say how long the caller waits could not be read, and said nothing.
    DeadlineIgnored(IgnoredHeader<'a>),
    /// A breaker's circuit went from one state to another.
    CircuitChanged(CircuitChanged<'a>),
    /// A breaker, a cooldown or a bulkhead refused a call; `enforced` says whether it was stopped.
    AdmissionRefused(AdmissionRefused<'a>),
    /// A peer asked for a pause that every later call to it will respect.
    CooldownBegan(CooldownBegan<'a>),
    /// A fallback's answer took the place of a failure.
    FellBack(FellBack<'a>),
    /// Two layers of this stack stand the wrong way round: found as a call passes them, and told
    /// once by each layer value. See [`order`](crate::order) for what is seen, and by whom.
    LayersMisordered(Misordered),
}

/// What the events of one call have in common.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Subject<'a> {
    /// Authority without userinfo, else Host, else the name an adapter gave.
    pub destination: Option<&'a str>,
    /// The request's method, where the call is a request.
    pub method: Option<&'a Method>,
    /// The operation's name, where the call has one.
    pub operation: Option<&'a str>,
    /// What a repeat may do.
    pub safety: Safety,
}

impl<'a> Subject<'a> {
    /// A request of these facts.
    pub const fn new(destination: Option<&'a str>, method: &'a Method, safety: Safety) -> Self {
        Self {
            destination,
            method: Some(method),
            operation: None,
            safety,
        }
    }

    /// An operation that is no request.
    pub const fn operation(name: Option<&'a str>, safety: Safety) -> Self {
        Self {
            destination: None,
            method: None,
            operation: name,
            safety,
        }
    }
}

/// One attempt and what follows from it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Attempted<'a> {
    /// The call.
    pub subject: Subject<'a>,
    /// Which attempt; the first is 1. One that a layer of ours refused is none, and has the number
    /// of the last before it, or 0.
    pub attempt: u32,
    /// What the peer or the transport said.
    pub result: AttemptResult<'a>,
    /// What that means.
    pub verdict: Verdict,
    /// When the peer asked to be called again.
    pub hint: Hint,
    /// The wait before the next attempt; `None` when there is none.
    pub wait: Option<Duration>,
    /// Since the call began.
    pub elapsed: Duration,
    /// Until the call's deadline, where there is one.
    pub left: Option<Duration>,
}

impl<'a> Attempted<'a> {
    /// An attempt that succeeded or failed, with no hint and no wait yet.
    pub const fn new(
        subject: Subject<'a>,
        attempt: u32,
        result: AttemptResult<'a>,
        verdict: Verdict,
    ) -> Self {
        let (hint, elapsed) = (Hint::None, Duration::ZERO);
        Self {
            subject,
            attempt,
            result,
            verdict,
            hint,
            wait: None,
            elapsed,
            left: None,
        }
    }
}

/// What an attempt brought.
#[derive(Clone, Copy)]
pub enum AttemptResult<'a> {
    /// An answer with this status.
    Status(StatusCode),
    /// An error. Its text is the peer's and may hold an address: print kinds, not text.
    Error(&'a (dyn Error + 'static)),
    /// What an operation that is no request came to.
    Operation,
}

impl fmt::Debug for AttemptResult<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "Status({})", status.as_u16()),
            Self::Error(_) => f.write_str("Error"),
            Self::Operation => f.write_str("Operation"),
        }
    }
}

/// The end of a call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Ended<'a> {
    /// The call.
    pub subject: Subject<'a>,
    /// How it went.
    pub report: Report,
}

impl<'a> Ended<'a> {
    /// The end of this call with this report.
    pub const fn new(subject: Subject<'a>, report: Report) -> Self {
        Self { subject, report }
    }
}

/// What a server knows about the end of a request that it got.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Inbound<'a> {
    /// The request, as far as a server looks at it: its method.
    pub subject: Subject<'a>,
    /// How long the caller said that it waits; `None` where only the server has a maximum.
    pub told: Option<Duration>,
    /// Since the request arrived.
    pub elapsed: Duration,
    /// Until the handler's end; zero once that has come.
    pub left: Duration,
    /// Whether the end is acted on, or only measured.
    pub enforced: bool,
}

impl<'a> Inbound<'a> {
    /// A request that has just arrived and has this much time, which is acted on.
    pub const fn new(subject: Subject<'a>, told: Option<Duration>, left: Duration) -> Self {
        Self {
            subject,
            told,
            elapsed: Duration::ZERO,
            left,
            enforced: true,
        }
    }
}

/// A header that could not be read.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct IgnoredHeader<'a> {
    /// The request.
    pub subject: Subject<'a>,
    /// Its name; what it said is the peer's affair.
    pub name: &'a HeaderName,
}

impl<'a> IgnoredHeader<'a> {
    /// This header of this request.
    pub const fn new(subject: Subject<'a>, name: &'a HeaderName) -> Self {
        Self { subject, name }
    }
}
