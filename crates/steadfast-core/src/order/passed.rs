//! Which layers has a call passed on its way in, on this thread?

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{LayerKind, Misordered};
use crate::{Event, Observe};

thread_local! {
    static PASSED: Cell<Passed> = const { Cell::new(Passed::NOTHING) };
}

/// The layers that are handing a call on, and the first wrong pair among them and further in that
/// nobody has told of yet.
#[derive(Clone, Copy)]
struct Passed {
    layers: u16,
    found: Option<Misordered>,
}

impl Passed {
    const NOTHING: Self = Self {
        layers: 0,
        found: None,
    };

    /// The call goes into this layer too.
    const fn into(self, layer: LayerKind) -> Self {
        // A second one is another stack's: what is above it has its own order.
        if self.layers & layer.bit() != 0 {
            return Self {
                layers: layer.bit(),
                found: self.found,
            };
        }
        Self {
            layers: self.layers | layer.bit(),
            found: match self.found {
                None => Misordered::first(self.layers, layer),
                found => found,
            },
        }
    }
}

/// Says that what is called on this thread, while the guard lives, is called by this layer: taken
/// in `call` around the inner service's. It costs a few instructions and allocates nothing.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use steadfast_core::order::{LayerKind, ToldOnce, enter};
/// use steadfast_core::Event;
///
/// let seen = Arc::new(Mutex::new(Vec::new()));
/// let log = seen.clone();
/// let observer = move |event: &Event<'_>| {
///     if let Event::LayersMisordered(pair) = event {
///         log.lock().unwrap().push(pair.to_string());
///     }
/// };
/// let told = ToldOnce::default();
/// for _call in 0..2 {
///     let retry = enter(LayerKind::Retry);
///     let key = enter(LayerKind::Key);
///     // The call is made here.
///     drop(key);
///     retry.tell(Some(&observer), &told);
/// }
/// assert_eq!(*seen.lock().unwrap(), ["key inside retry: each attempt would get a key of its own"]);
/// ```
#[must_use = "the layer is left with the guard"]
#[inline]
pub fn enter(layer: LayerKind) -> Entered {
    let before = PASSED.get();
    PASSED.set(before.into(layer));
    Entered {
        layers: before.layers,
        here: PhantomData,
    }
}

/// Does `work`, which waits for nothing, for a call of its own: the layers around it do not count.
/// What runs in another [context](crate::CallContext::run) does so already.
pub fn apart<R>(work: impl FnOnce() -> R) -> R {
    // Given back on a panic too: the thread may serve others.
    struct Before(Passed);
    impl Drop for Before {
        fn drop(&mut self) {
            PASSED.set(self.0);
        }
    }
    let _before = Before(PASSED.replace(Passed::NOTHING));
    work()
}

/// The time that a call spends below a layer; see [`enter`].
#[derive(Debug)]
pub struct Entered {
    layers: u16,
    // Of this thread: it must not go to another.
    here: PhantomData<*const ()>,
}

impl Entered {
    /// Leaves the layer, and tells its observer of a wrong pair that the call has met at or below
    /// it, if it was not told of one before. Where there is no observer, the next layer further
    /// out may have one.
    #[inline]
    pub fn tell(self, observer: Option<&dyn Observe>, told: &ToldOnce) {
        if let (Some(pair), Some(observer)) = (PASSED.get().found, observer) {
            drop(self);
            told.tell(pair, observer);
        }
    }
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        let found = match self.layers {
            0 => None,
            _ => PASSED.get().found,
        };
        PASSED.set(Passed {
            layers: self.layers,
            found,
        });
    }
}

/// What one layer value remembers: whether it has told of a wrong order. A clone has not.
#[derive(Debug, Default)]
pub struct ToldOnce(AtomicBool);

impl ToldOnce {
    /// One that has not.
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    #[cold]
    fn tell(&self, pair: Misordered, observer: &dyn Observe) {
        let passed = PASSED.get();
        PASSED.set(Passed {
            found: None,
            ..passed
        });
        if !self.0.swap(true, Ordering::Relaxed) {
            observer.observe(&Event::LayersMisordered(pair));
        }
    }
}

impl Clone for ToldOnce {
    fn clone(&self) -> Self {
        Self::new()
    }
}
