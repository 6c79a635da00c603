use std::error::Error;

use steadfast_core::{Answer, Classify, Reason, Verdict, chain, downcast_ref};
use tower::load_shed::error::Overloaded;

/// Another classifier that also knows what tower's `LoadShed` refuses: nothing was sent.
///
/// For a stack with `LoadShed` below a retry layer or a breaker. Without it the refusal is an error
/// as any other: the outcome of a POST is unknown, and one's own shedding opens the circuit.
///
/// ```
/// use steadfast_core::{Classify, DefaultClassify, Reason, Verdict};
/// use steadfast_retry::tower_compat::TowerClassify;
/// use tower::load_shed::error::Overloaded;
///
/// let classify = TowerClassify::new(DefaultClassify);
/// assert_eq!(classify.error(&Overloaded::new()), Verdict::Rejected(Reason::BulkheadFull));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TowerClassify<C> {
    transport: C,
}

impl<C> TowerClassify<C> {
    /// In front of what the transport's classifier says.
    pub const fn new(transport: C) -> Self {
        Self { transport }
    }
}

impl<C: Classify> Classify for TowerClassify<C> {
    fn answer(&self, answer: &Answer<'_>) -> Verdict {
        self.transport.answer(answer)
    }

    fn error(&self, error: &(dyn Error + 'static)) -> Verdict {
        // In a buffer's error too.
        match chain(error).any(|cause| downcast_ref::<Overloaded>(cause).is_some()) {
            true => Verdict::Rejected(Reason::BulkheadFull),
            false => self.transport.error(error),
        }
    }
}
