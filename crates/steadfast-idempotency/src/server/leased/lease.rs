use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;

use super::fence::Fence;
use crate::OperationKey;
use crate::server::operation::Operation;

/// The right of the running handler to be the only one: in the extensions of its request.
///
/// It is renewed while the handler works. A handler that talks to a downstream sends the
/// [`fence`](Self::fence) where it is checked, and always the [`child`](Self::child) key.
#[derive(Clone)]
pub struct Lease(Arc<Held>);

struct Held {
    operation: Operation,
    fence: Fence,
    attempt: u32,
    lost: watch::Sender<bool>,
}

impl Lease {
    pub(super) fn new(operation: Operation, fence: Fence, attempt: u32) -> Self {
        Self(Arc::new(Held {
            operation,
            fence,
            attempt,
            lost: watch::Sender::new(false),
        }))
    }

    /// Which claim this is; every later one of the same operation has a larger number.
    pub fn fence(&self) -> Fence {
        self.0.fence
    }

    /// How many claims of this operation there were, this one included. Above 1 an earlier run
    /// may have done part of the work.
    pub fn attempt(&self) -> u32 {
        self.0.attempt
    }

    /// What is being done.
    pub fn operation(&self) -> &Operation {
        &self.0.operation
    }

    /// The key of a step at the next hop: the same in every run; see [`Operation::child`].
    pub fn child(&self, step: &str) -> OperationKey {
        self.0.operation.child(step)
    }

    /// Whether the lease has ended or another claim has been seen.
    ///
    /// False is no proof: another process may have claimed this very moment. Only the fence
    /// settles that, where the downstream checks it.
    pub fn is_lost(&self) -> bool {
        *self.0.lost.borrow()
    }

    /// Waits until the lease is lost: for handlers that stop what they have not begun. The rest
    /// of the work goes on, unless it is dropped by the handler itself.
    pub async fn lost(&self) {
        let mut lost = self.0.lost.subscribe();
        // The sender lives in `self`.
        let _ = lost.wait_for(|lost| *lost).await;
    }

    pub(super) fn lose(&self) {
        self.0.lost.send_replace(true);
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("fence", &self.0.fence)
            .field("attempt", &self.0.attempt)
            .field("lost", &self.is_lost())
            .finish_non_exhaustive()
    }
}
