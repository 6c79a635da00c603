//! The right order of layers, and what each wrong one means.
//!
//! The order, from the outside: [fallback](LayerKind::Fallback), [call limit](LayerKind::CallLimit),
//! [key](LayerKind::Key), [retry](LayerKind::Retry), [cooldown](LayerKind::Cooldown),
//! [bulkhead](LayerKind::Bulkhead), [breaker](LayerKind::Breaker),
//! [attempt timeout](LayerKind::AttemptTimeout), [body timeout](LayerKind::BodyTimeout),
//! [propagation](LayerKind::Propagate). Not every departure from it matters: [`Misordered::all`]
//! are the pairs that do.
//!
//! A layer [`enter`]s while it hands a call on. So each one knows what the call has passed before,
//! and a pair that is the wrong way round is told as
//! [`Event::LayersMisordered`](crate::Event::LayersMisordered): once by each layer value, by the
//! innermost layer with an observer that has both of them at or below itself, else by the next
//! one further out. Nothing is seen where `call` does not reach down at once: behind a spawned
//! task, tower's `Buffer`, axum's boxed routes, a function that calls in its future, a queue that
//! the call waits in, and at attempts after the first. A layer that a call passes twice begins a
//! stack of its own, so that one whole stack may stand in another.

mod passed;

pub use passed::{Entered, Telling, ToldOnce, apart, enter, enter_telling};

use std::fmt;

use LayerKind::{
    AttemptTimeout, BodyTimeout, Breaker, Bulkhead, CallLimit, Cooldown, Fallback, Key, Propagate,
    Retry,
};

/// The layers of a client whose order matters; from the outside, so that the right order is the
/// order of this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// An answer of the user's own.
    Fallback,
    /// The time of a call.
    CallLimit,
    /// The call's idempotency key.
    Key,
    /// The loop that repeats, and its budget.
    Retry,
    /// A host's hint, for every call.
    Cooldown,
    /// How many calls are in flight.
    Bulkhead,
    /// The circuit.
    Breaker,
    /// The time of an attempt.
    AttemptTimeout,
    /// The silence of a body.
    BodyTimeout,
    /// What the next hop is told.
    Propagate,
}

impl LayerKind {
    /// Every kind, in the right order.
    pub const ALL: [Self; 10] = [
        Fallback,
        CallLimit,
        Key,
        Retry,
        Cooldown,
        Bulkhead,
        Breaker,
        AttemptTimeout,
        BodyTimeout,
        Propagate,
    ];

    /// The name used in events, metrics and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Fallback => "fallback",
            CallLimit => "call_limit",
            Key => "key",
            Retry => "retry",
            Cooldown => "cooldown",
            Bulkhead => "bulkhead",
            Breaker => "breaker",
            AttemptTimeout => "attempt_timeout",
            BodyTimeout => "body_timeout",
            Propagate => "propagate",
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl fmt::Display for LayerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Two layers that stand the wrong way round.
///
/// ```
/// use steadfast_core::order::{LayerKind, Misordered};
///
/// let pair = Misordered::of(LayerKind::Retry, LayerKind::Key).unwrap();
/// assert_eq!(pair.to_string(), "key inside retry: each attempt would get a key of its own");
/// assert_eq!(Misordered::of(LayerKind::Key, LayerKind::Retry), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Misordered {
    /// The layer that a call passes first.
    pub outer: LayerKind,
    /// The layer that should stand outside of it.
    pub inner: LayerKind,
}

impl Misordered {
    /// This pair, if it does harm that `outer` stands outside of `inner`.
    pub const fn of(outer: LayerKind, inner: LayerKind) -> Option<Self> {
        match harm(outer, inner) {
            Some(_) => Some(Self { outer, inner }),
            None => None,
        }
    }

    /// Every pair that does harm, by its inner layer.
    pub fn all() -> impl Iterator<Item = Self> {
        let inside = |inner| move |outer| Self::of(outer, inner);
        LayerKind::ALL
            .into_iter()
            .flat_map(move |inner| LayerKind::ALL.into_iter().filter_map(inside(inner)))
    }

    /// What comes of it, as part of a sentence.
    pub const fn harm(self) -> &'static str {
        match harm(self.outer, self.inner) {
            Some(harm) => harm,
            None => "",
        }
    }

    /// The first pair, in the right order of its outer layer, that `inner` makes with the layers
    /// of this set.
    const fn first(above: u16, inner: LayerKind) -> Option<Self> {
        let wrong = above & WRONG_ABOVE[inner as usize];
        if wrong == 0 {
            return None;
        }
        Self::of(LayerKind::ALL[wrong.trailing_zeros() as usize], inner)
    }
}

impl fmt::Display for Misordered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} inside {}: {}", self.inner, self.outer, self.harm())
    }
}

/// By inner layer: the set of those that must not stand outside of it.
const WRONG_ABOVE: [u16; LayerKind::ALL.len()] = {
    let mut sets = [0; LayerKind::ALL.len()];
    let mut inner = 0;
    while inner < sets.len() {
        let mut outer = 0;
        while outer < sets.len() {
            if harm(LayerKind::ALL[outer], LayerKind::ALL[inner]).is_some() {
                sets[inner] |= LayerKind::ALL[outer].bit();
            }
            outer += 1;
        }
        inner += 1;
    }
    sets
};

/// What comes of `inner` inside `outer`; `None` where the order is right, or does not matter.
const fn harm(outer: LayerKind, inner: LayerKind) -> Option<&'static str> {
    Some(match (inner, outer) {
        (Fallback, CallLimit) => "a call whose time is over is not answered",
        (Fallback, Key) => "a call that lacks its key is not answered",
        (Fallback, Retry) => "it sees attempts, and its answer looks like the peer's to the loop",
        (Fallback, Cooldown | Bulkhead) => "the refusals further out are not answered",
        (Fallback, Breaker) => "its answers are counted as the peer's, and refusals have none",
        (Fallback, AttemptTimeout) => "an attempt whose time is over is not answered",
        (Fallback, Propagate) => "an attempt without time to tell is not answered",

        (CallLimit, Retry) => "each attempt gets the whole time again",
        (CallLimit, Bulkhead) => "the wait for a place is not part of the call's time",
        (CallLimit, AttemptTimeout) => {
            "the shorter time ends the call, and the peer may be told the longer"
        }
        (CallLimit, BodyTimeout) => "a gRPC stream does not end with the call",
        (CallLimit, Propagate) => "the peer is not told the call's time",

        (Key, Retry) => "each attempt would get a key of its own",

        (Retry, Cooldown) => "only the last answer is heard, and attempts do not keep to a pause",
        (Retry, Bulkhead) => "a call holds its place while it waits for its next attempt",
        (Retry, Breaker) => "calls are counted, not attempts, and an open circuit stops no attempt",
        (Retry, AttemptTimeout) => "it bounds all attempts together",
        (Retry, BodyTimeout) => "what the loop itself reads of an answer may be silent",
        (Retry, Propagate) => "every attempt tells the peer what the first one had",

        (Cooldown, Breaker) => "a refusal tells the circuit's time, and not the peer's",

        (Bulkhead, Breaker) => "the wait for a place makes the peer look slow",
        (Bulkhead, AttemptTimeout) => "the wait for a place is taken from the attempt's time",
        (Bulkhead, Propagate) => "the peer is told the time from before the wait for a place",

        (Breaker, AttemptTimeout) => "a peer that hangs never opens the circuit",
        (Breaker, BodyTimeout) => "a body that falls silent counts as a success",

        (AttemptTimeout, Propagate) => "the peer is told the call's time, not the attempt's",
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
