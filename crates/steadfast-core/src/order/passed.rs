//! Which layers has a call passed on its way in, on this thread?

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{LayerKind, Misordered, WRONG_ABOVE};
use crate::{Event, Observe};

thread_local! {
    static PASSED: Cell<Passed> = const { Cell::new(Passed(0)) };
}

/// The layers that are handing a call on, and the first wrong pair among them and further in that
/// nobody has told of yet: one word, since every layer of every call writes it.
#[derive(Clone, Copy)]
struct Passed(u32);

impl Passed {
    /// The bits of the layers; above them the pair, its inner layer first. No pair is 0, since a
    /// layer inside which another is misplaced is not the first of all.
    const LAYERS: u32 = 0xffff;

    /// The call goes into this layer too.
    #[inline]
    const fn into(self, layer: LayerKind) -> Self {
        let bit = layer.bit();
        if (self.0 & (WRONG_ABOVE[layer as usize] | bit) as u32) == 0 {
            return Self(self.0 | bit as u32);
        }
        self.into_another_or_wrong(layer)
    }

    #[cold]
    const fn into_another_or_wrong(self, layer: LayerKind) -> Self {
        let (layers, bit) = (self.0 as u16, layer.bit());
        // A second one is another stack's: what is above it has its own order.
        if layers & bit != 0 {
            return Self(self.0 & !Self::LAYERS | bit as u32);
        }
        match (self.found(), Misordered::first(layers, layer)) {
            (None, Some(pair)) => {
                let found = (pair.outer as u32) << 20 | (pair.inner as u32) << 16;
                Self(self.0 | bit as u32 | found)
            }
            _ => Self(self.0 | bit as u32),
        }
    }

    #[inline]
    const fn has_found(self) -> bool {
        self.0 & !Self::LAYERS != 0
    }

    const fn found(self) -> Option<Misordered> {
        let (outer, inner) = (self.0 >> 20, self.0 >> 16 & 0xf);
        Misordered::of(
            LayerKind::ALL[outer as usize],
            LayerKind::ALL[inner as usize],
        )
    }

    /// The same layers, and nothing found.
    const fn told(self) -> Self {
        Self(self.0 & Self::LAYERS)
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
        layers: before.0 & Passed::LAYERS,
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
    let _before = Before(PASSED.replace(Passed(0)));
    work()
}

/// The time that a call spends below a layer; see [`enter`].
#[derive(Debug)]
pub struct Entered {
    // Above this one.
    layers: u32,
    // Of this thread: it must not go to another.
    here: PhantomData<*const ()>,
}

impl Entered {
    /// Leaves the layer, and tells its observer of a wrong pair that the call has met at or below
    /// it, if it was not told of one before. Where there is no observer, the next layer further
    /// out may have one.
    #[inline]
    pub fn tell(self, observer: Option<&dyn Observe>, told: &ToldOnce) {
        if let (true, Some(observer)) = (PASSED.get().has_found(), observer) {
            self.tell_found(observer, told);
        }
    }

    #[cold]
    fn tell_found(self, observer: &dyn Observe, told: &ToldOnce) {
        let passed = PASSED.replace(PASSED.get().told());
        drop(self);
        if let (Some(pair), false) = (passed.found(), told.0.swap(true, Ordering::Relaxed)) {
            observer.observe(&Event::LayersMisordered(pair));
        }
    }
}

/// [`Entered`] of a layer with an observer, which is told when the layer is left: see
/// [`enter_telling`].
#[derive(Debug)]
pub struct Telling<'a> {
    entered: Option<Entered>,
    observer: Option<Observer<'a>>,
    told: &'a ToldOnce,
}

struct Observer<'a>(&'a dyn Observe);

impl fmt::Debug for Observer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

/// [`enter`] and, when the guard goes, [`Entered::tell`]: for a layer whose call is the last thing
/// that it does, so that the future which it returns need not be held meanwhile.
#[must_use = "the layer is left with the guard"]
#[inline]
pub fn enter_telling<'a>(
    layer: LayerKind,
    observer: Option<&'a dyn Observe>,
    told: &'a ToldOnce,
) -> Telling<'a> {
    Telling {
        entered: Some(enter(layer)),
        observer: observer.map(Observer),
        told,
    }
}

impl Drop for Telling<'_> {
    #[inline]
    fn drop(&mut self) {
        let observer = self.observer.as_ref().map(|observer| observer.0);
        // An observer is not called while the thread unwinds.
        if let (Some(entered), true) = (self.entered.take(), PASSED.get().has_found()) {
            if !std::thread::panicking() {
                entered.tell(observer, self.told);
            }
        }
    }
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        // What was found is for those further out, if there are any.
        PASSED.set(match self.layers {
            0 => Passed(0),
            above => Passed(above | PASSED.get().0 & !Passed::LAYERS),
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
}

impl Clone for ToldOnce {
    fn clone(&self) -> Self {
        Self::new()
    }
}
