//! Which calls share one state.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Request;
use steadfast_core::DestinationKey;
use steadfast_core::keyed::Keyed;

use crate::settings::Memory;

/// Which calls share one state of a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Those to one destination: the URI's authority, else `Host`, else the name that an adapter
    /// gave. Calls that have none of these share one state.
    #[default]
    Destination,
    /// All that pass the layer: for a layer around one dependency. It spares the lookup.
    Layer,
}

/// The states of a layer: one for all, or one for each destination in bounded memory.
///
/// A destination that was forgotten starts anew. What an operator has set by hand must outlive
/// that, so the layers keep such states themselves.
pub(crate) struct States<T> {
    one: Option<Arc<T>>,
    keyed: Keyed<Box<str>, Arc<T>>,
}

impl<T> States<T> {
    /// No states yet; `one` makes the only one where all calls share it.
    pub(crate) fn new(memory: Memory, one: impl FnOnce() -> T) -> Self {
        Self {
            one: (memory.scope == Scope::Layer).then(|| Arc::new(one())),
            ..Self::by_destination(memory)
        }
    }

    /// The same for destinations alone.
    pub(crate) fn by_destination(memory: Memory) -> Self {
        let keyed = Keyed::new().with_max_keys(memory.max_keys);
        Self {
            one: None,
            keyed: keyed.with_idle(memory.idle),
        }
    }

    /// The state that a request belongs to, made by `make` if there is none. `now` is read only
    /// where destinations are told apart.
    #[inline]
    pub(crate) fn of<B>(
        &self,
        request: &Request<B>,
        now: impl FnOnce() -> Instant,
        make: impl FnOnce(&str) -> Arc<T>,
    ) -> Arc<T> {
        match &self.one {
            Some(one) => one.clone(),
            None => {
                let (uri, headers) = (request.uri(), request.headers());
                let key = DestinationKey::of(uri, headers, request.extensions());
                let make = || make(key.as_str());
                self.keyed.get_or_insert_at(&key, now(), make)
            }
        }
    }

    /// The state of the destination with this name; of all where they share it.
    pub(crate) fn of_name(
        &self,
        destination: &str,
        now: Instant,
        make: impl FnOnce(&str) -> Arc<T>,
    ) -> Arc<T> {
        if let Some(one) = &self.one {
            return one.clone();
        }
        let key = key(destination);
        self.keyed.get_or_insert_with(&*key, now, || make(&key))
    }

    /// The state of the destination with this name, if there is one; asking makes none.
    pub(crate) fn peek(&self, destination: &str, now: Instant) -> Option<Arc<T>> {
        match &self.one {
            Some(one) => Some(one.clone()),
            None => self.keyed.peek(&*key(destination), now),
        }
    }

    /// All states. The one for all can not be replaced.
    pub(crate) fn for_each(&self, mut f: impl FnMut(&mut Arc<T>)) {
        if let Some(one) = &self.one {
            f(&mut one.clone());
        }
        self.keyed.for_each(|_, state| f(state));
    }

    /// Sets how many destinations are remembered, and for how long.
    pub(crate) fn set_bounds(&self, memory: Memory) {
        self.keyed.set_bounds(memory.max_keys, memory.idle);
    }

    /// The time without a call after which a destination is forgotten.
    pub(crate) fn idle(&self) -> Duration {
        self.keyed.idle()
    }

    /// How many destinations are remembered.
    pub(crate) fn len(&self) -> usize {
        self.keyed.len() + usize::from(self.one.is_some())
    }
}

/// Hosts are the same in any case (RFC 3986 §3.2.2).
pub(crate) fn key(destination: &str) -> Cow<'_, str> {
    match destination.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(destination.to_ascii_lowercase()),
        false => Cow::Borrowed(destination),
    }
}

impl<T> fmt::Debug for States<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("States")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
