use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Extensions;
use pin_project_lite::pin_project;

use crate::order::apart;
use crate::{Attempt, Deadline, Owner};

thread_local! {
    static CURRENT: RefCell<CallContext> = const { RefCell::new(CallContext::EMPTY) };
}

/// What the request that is being served says about the work done for it.
///
/// It is in force while a future made by [`in_context`] is polled, on that thread only, so that
/// an outbound layer reads it without any code of the handler. Spawned work does not inherit it:
/// wrap that work in [`in_current_context`], or leave it out to run without a deadline.
///
/// ```
/// use std::time::{Duration, Instant};
/// use steadfast_core::{CallContext, Deadline, in_context, without_context};
///
/// # #[allow(clippy::disallowed_methods)]
/// let deadline = Deadline::after(Instant::now(), Duration::from_secs(3));
/// let served = in_context(CallContext::new().with_deadline(deadline), async {
///     let inside = CallContext::current().deadline();
///     let background = without_context(async { CallContext::current().deadline() }).await;
///     (inside, background)
/// });
/// # let mut served = std::pin::pin!(served);
/// # let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
/// # let std::task::Poll::Ready(seen) = std::future::Future::poll(served.as_mut(), &mut cx) else { panic!() };
/// # assert_eq!(seen, (deadline, Deadline::NONE));
/// assert_eq!(CallContext::current(), CallContext::new());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallContext {
    deadline: Deadline,
    attempt: Option<Attempt>,
    owner: Option<Owner>,
    criticality: Criticality,
    operation: Option<Arc<str>>,
}

/// How much a call matters when not all can be served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Criticality {
    /// First to lose: prefetching, batch work.
    Sheddable,
    /// Everything that nobody spoke for.
    #[default]
    Normal,
    /// Last to lose.
    Critical,
}

impl CallContext {
    const EMPTY: Self = Self {
        deadline: Deadline::NONE,
        attempt: None,
        owner: None,
        criticality: Criticality::Normal,
        operation: None,
    };

    /// A context that says nothing.
    pub const fn new() -> Self {
        Self::EMPTY
    }

    /// The context in force on this thread; an empty one where none is.
    pub fn current() -> Self {
        CURRENT.with_borrow(Clone::clone)
    }

    /// The context of a request: the one in force, else the one that travels with the request,
    /// for whoever is polled in another task than the layer that put it there.
    ///
    /// ```
    /// use http::Extensions;
    /// use steadfast_core::CallContext;
    ///
    /// let mut extensions = Extensions::new();
    /// extensions.insert(CallContext::new().with_operation("op-1"));
    /// assert_eq!(CallContext::of(&extensions).operation(), Some("op-1"));
    /// let current = CallContext::new().with_operation("op-2");
    /// let of = current.run(|| CallContext::of(&extensions));
    /// assert_eq!(of.operation(), Some("op-2"));
    /// ```
    pub fn of(extensions: &Extensions) -> Self {
        let current = Self::current();
        let carried = (current == Self::EMPTY).then(|| extensions.get::<Self>());
        carried.flatten().cloned().unwrap_or(current)
    }

    /// The deadline in force on this thread, without copying the rest.
    pub fn current_deadline() -> Deadline {
        CURRENT.with_borrow(|context| context.deadline)
    }

    /// That deadline, and how much the served request matters, in one look.
    #[inline]
    pub fn current_deadline_and_criticality() -> (Deadline, Criticality) {
        CURRENT.with_borrow(|context| (context.deadline, context.criticality))
    }

    /// That, and who repeats the served call, in one look.
    #[inline]
    pub fn current_terms() -> (Deadline, Criticality, Option<Owner>) {
        CURRENT.with_borrow(|context| (context.deadline, context.criticality, context.owner))
    }

    /// The place that a loop further up, which repeats the served call, gave the request in force
    /// on this thread; without copying the rest.
    #[inline]
    pub fn current_owner() -> Option<Owner> {
        CURRENT.with_borrow(|context| context.owner)
    }

    /// Does `work`, which waits for nothing, in this context: for what happens beside a future,
    /// such as a service's `call` or a poll of a body. What it calls is a call of its own, with an
    /// [order of layers](crate::order) of its own.
    pub fn run<R>(&self, work: impl FnOnce() -> R) -> R {
        let mut context = self.clone();
        let _scope = Scope::enter(&mut context);
        apart(work)
    }

    /// Sets when the served request must be answered.
    #[must_use]
    pub const fn with_deadline(mut self, deadline: Deadline) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets which attempt of its caller the served request is.
    #[must_use]
    pub const fn with_attempt(mut self, attempt: Attempt) -> Self {
        self.attempt = Some(attempt);
        self
    }

    /// Says that a loop further up repeats the served call, of which this is that attempt: retry
    /// layers below leave the repeats to it, or make no more than it leaves.
    #[must_use]
    pub fn with_owner(mut self, owner: impl Into<Owner>) -> Self {
        self.owner = Some(owner.into());
        self
    }

    /// Sets how much the served request matters.
    #[must_use]
    pub const fn with_criticality(mut self, criticality: Criticality) -> Self {
        self.criticality = criticality;
        self
    }

    /// Sets the operation id that the caller gave.
    #[must_use]
    pub fn with_operation(mut self, operation: impl Into<Arc<str>>) -> Self {
        self.operation = Some(operation.into());
        self
    }

    /// When the served request must be answered.
    pub const fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// Which attempt of its caller the served request is.
    pub const fn attempt(&self) -> Option<Attempt> {
        self.attempt
    }

    /// The place that a loop further up, which repeats the served call, gave this request, and what
    /// it leaves to others.
    pub const fn owner(&self) -> Option<Owner> {
        self.owner
    }

    /// How much the served request matters.
    pub const fn criticality(&self) -> Criticality {
        self.criticality
    }

    /// The operation id that the caller gave.
    pub fn operation(&self) -> Option<&str> {
        self.operation.as_deref()
    }
}

/// Runs `future` in this context.
pub const fn in_context<F>(context: CallContext, future: F) -> InContext<F> {
    InContext { context, future }
}

/// Runs `future` in the context that is in force here: for work that is spawned.
pub fn in_current_context<F>(future: F) -> InContext<F> {
    in_context(CallContext::current(), future)
}

/// Runs `future` outside every context: for background work that outlives its caller.
pub const fn without_context<F>(future: F) -> InContext<F> {
    in_context(CallContext::EMPTY, future)
}

pin_project! {
    /// A future that is polled in a [`CallContext`]; see [`in_context`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct InContext<F> {
        context: CallContext,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for InContext<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _scope = Scope::enter(this.context);
        this.future.poll(cx)
    }
}

/// Swaps the context in for the length of a poll; a panic inside swaps it back too.
struct Scope<'a>(&'a mut CallContext);

impl<'a> Scope<'a> {
    fn enter(context: &'a mut CallContext) -> Self {
        CURRENT.with_borrow_mut(|current| std::mem::swap(current, context));
        Self(context)
    }
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        CURRENT.with_borrow_mut(|current| std::mem::swap(current, self.0));
    }
}

#[cfg(test)]
mod tests;
