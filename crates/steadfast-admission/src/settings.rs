//! What the configs of all layers say alike.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use steadfast_core::keyed::{DEFAULT_IDLE, DEFAULT_MAX_KEYS};
use steadfast_core::{AdmissionRefused, Event, Observe, Reason};

use crate::told::subject;
use crate::{Mode, Scope};

/// Whether a layer acts on what it decides, and who hears of it.
#[derive(Clone)]
pub(crate) struct Acts {
    pub(crate) mode: Mode,
    pub(crate) observer: Option<Arc<dyn Observe>>,
}

/// Which calls share a state of a layer, and how many such states are remembered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) scope: Scope,
    pub(crate) max_keys: NonZeroU32,
    pub(crate) idle: Duration,
}

impl Acts {
    /// Enforced, and nobody is told.
    pub(crate) const fn new() -> Self {
        Self {
            mode: Mode::Enforced,
            observer: None,
        }
    }

    pub(crate) const fn is_off(&self) -> bool {
        matches!(self.mode, Mode::Off)
    }

    pub(crate) const fn is_enforced(&self) -> bool {
        matches!(self.mode, Mode::Enforced)
    }

    pub(crate) fn observer(&self) -> Option<&dyn Observe> {
        self.observer.as_deref()
    }

    /// Tells of a call that is refused, or would be.
    #[cold]
    pub(crate) fn tell_refused<B>(
        &self,
        request: &Request<B>,
        reason: Reason,
        retry_in: Option<Duration>,
    ) {
        if let Some(observer) = &self.observer {
            let mut refused = AdmissionRefused::new(subject(request), reason);
            refused.retry_in = retry_in;
            refused.enforced = self.is_enforced();
            observer.observe(&Event::AdmissionRefused(refused));
        }
    }
}

impl Memory {
    /// By destination, within the bounds of [`steadfast_core::keyed`].
    pub(crate) const fn new() -> Self {
        Self {
            scope: Scope::Destination,
            max_keys: DEFAULT_MAX_KEYS,
            idle: DEFAULT_IDLE,
        }
    }
}

impl fmt::Debug for Acts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acts")
            .field("mode", &self.mode)
            .field("is_observed", &self.observer.is_some())
            .finish()
    }
}
