//! The seam through which loom looks at what threads share.

use std::sync::Arc;

#[cfg(loom)]
pub(crate) use loom::sync::{Mutex, MutexGuard, atomic};
#[cfg(not(loom))]
pub(crate) use std::sync::{Mutex, MutexGuard, atomic};

/// Between what a thread has written and what it reads of others, both in [`Ordering::SeqCst`]: of
/// two threads that do so, one sees the other's. Loom takes such accesses for acquire and release,
/// and is told by a fence what they mean.
///
/// [`Ordering::SeqCst`]: atomic::Ordering::SeqCst
#[inline]
pub(crate) fn wrote_before_reading() {
    #[cfg(loom)]
    atomic::fence(atomic::Ordering::SeqCst);
}

/// A value that is read by every call and replaced rarely.
#[cfg(not(loom))]
#[derive(Debug)]
pub(crate) struct Swap<T>(arc_swap::ArcSwap<T>);

#[cfg(not(loom))]
impl<T> Swap<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(arc_swap::ArcSwap::from_pointee(value))
    }

    /// The present value, which lives while it is looked at. No lock, and no count that threads
    /// would fight for.
    #[inline]
    pub(crate) fn load(&self) -> arc_swap::Guard<Arc<T>> {
        self.0.load()
    }

    pub(crate) fn store(&self, value: T) {
        self.0.store(Arc::new(value));
    }
}

#[cfg(loom)]
#[derive(Debug)]
pub(crate) struct Swap<T>(Mutex<Arc<T>>);

#[cfg(loom)]
impl<T> Swap<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(Arc::new(value)))
    }

    pub(crate) fn load(&self) -> Arc<T> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn store(&self, value: T) {
        *self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner) = Arc::new(value);
    }
}
