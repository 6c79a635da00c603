use std::fmt;
use std::sync::Arc;

use steadfast_core::{Classify, Observe, Random};

/// What the layers of a stack share beside its policy: code, which no file can say.
#[derive(Clone)]
pub(super) struct Tools {
    pub(super) classify: Arc<dyn Classify>,
    pub(super) observer: Option<Arc<dyn Observe>>,
    pub(super) random: Random,
}

impl Default for Tools {
    fn default() -> Self {
        #[cfg(feature = "hyper")]
        let classify = steadfast_hyper::HyperClassify;
        #[cfg(not(feature = "hyper"))]
        let classify = steadfast_core::DefaultClassify;
        Self {
            classify: Arc::new(classify),
            observer: None,
            random: Random::new(),
        }
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools")
            .field("observed", &self.observer.is_some())
            .finish_non_exhaustive()
    }
}
