use std::fmt;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where a handler finds the transaction of its request.
///
/// The layer puts it into the request's extensions; `steadfast-axum` has an extractor that takes
/// from it. Clones are handles to the one slot.
pub struct TransactionSlot<Tx>(Arc<Mutex<Slot<Tx>>>);

/// Whether a handler whose effect commits must have used the transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TransactionUse {
    /// It must: one that did not has written elsewhere, outside every guarantee. The default.
    #[default]
    Required,
    /// It need not: for handlers that have no effect to protect, only an answer to repeat.
    Optional,
}

struct Slot<Tx> {
    tx: Place<Tx>,
    used: bool,
}

enum Place<Tx> {
    Here(Tx),
    Lent,
    Closed,
}

impl<Tx> TransactionSlot<Tx> {
    pub(crate) fn new(tx: Tx) -> Self {
        let tx = Place::Here(tx);
        Self(Arc::new(Mutex::new(Slot { tx, used: false })))
    }

    /// Takes the transaction until the guard is dropped.
    ///
    /// # Errors
    ///
    /// Another guard holds it, or the handler it belonged to has returned.
    pub fn take(&self) -> Result<Transaction<Tx>, TransactionUnavailable> {
        let mut slot = self.lock();
        match mem::replace(&mut slot.tx, Place::Lent) {
            Place::Here(tx) => {
                slot.used = true;
                drop(slot);
                Ok(Transaction {
                    tx: Some(tx),
                    slot: self.clone(),
                })
            }
            Place::Lent => Err(TransactionUnavailable::Taken),
            Place::Closed => {
                slot.tx = Place::Closed;
                Err(TransactionUnavailable::Ended)
            }
        }
    }

    /// Ends the handler's time with the transaction: what it was, and whether it was ever used.
    /// None when a guard is still out, which then rolls back on its own drop.
    pub(crate) fn close(&self) -> (Option<Tx>, bool) {
        let mut slot = self.lock();
        let used = slot.used;
        match mem::replace(&mut slot.tx, Place::Closed) {
            Place::Here(tx) => (Some(tx), used),
            Place::Lent | Place::Closed => (None, used),
        }
    }

    fn give_back(&self, tx: Tx) {
        let mut slot = self.lock();
        match slot.tx {
            Place::Lent => slot.tx = Place::Here(tx),
            // Dropped outside the lock: dropping a transaction rolls it back.
            Place::Closed | Place::Here(_) => {
                drop(slot);
                drop(tx);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Slot<Tx>> {
        // Nothing panics while the lock is held, and a slot is valid between any two statements.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Tx> Clone for TransactionSlot<Tx> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<Tx> fmt::Debug for TransactionSlot<Tx> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransactionSlot").finish_non_exhaustive()
    }
}

/// The transaction of the running request, by value; it puts itself back on drop.
///
/// It derefs to the store's transaction and has no commit: effect, key and answer commit together
/// after the handler has returned. A guard that outlives its handler, in a spawned task for
/// example, makes the request fail: the work that it still does could not commit any more.
pub struct Transaction<Tx> {
    // None only inside `drop`.
    tx: Option<Tx>,
    slot: TransactionSlot<Tx>,
}

impl<Tx> Deref for Transaction<Tx> {
    type Target = Tx;

    fn deref(&self) -> &Tx {
        self.tx
            .as_ref()
            .expect("only drop takes the transaction out")
    }
}

impl<Tx> DerefMut for Transaction<Tx> {
    fn deref_mut(&mut self) -> &mut Tx {
        self.tx
            .as_mut()
            .expect("only drop takes the transaction out")
    }
}

impl<Tx> Drop for Transaction<Tx> {
    fn drop(&mut self) {
        if let Some(tx) = self.tx.take() {
            self.slot.give_back(tx);
        }
    }
}

impl<Tx> fmt::Debug for Transaction<Tx> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction").finish_non_exhaustive()
    }
}

/// A transaction that cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TransactionUnavailable {
    /// Another guard holds it: it can be taken once at a time.
    Taken,
    /// The handler that it belonged to has returned.
    Ended,
}

impl fmt::Display for TransactionUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Taken => "the request's transaction is taken already: one guard at a time",
            Self::Ended => "the request's transaction has ended: its handler has returned",
        })
    }
}

impl std::error::Error for TransactionUnavailable {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_puts_itself_back_on_drop() {
        let slot = TransactionSlot::new(1);
        let mut guard = slot.take().unwrap();
        *guard += 1;
        drop(guard);
        assert_eq!(*slot.take().unwrap(), 2);
        assert_eq!(slot.close(), (Some(2), true));
    }

    #[test]
    fn taking_twice_is_a_clear_error() {
        let slot = TransactionSlot::new(());
        let _guard = slot.take().unwrap();
        assert_eq!(slot.take().unwrap_err(), TransactionUnavailable::Taken);
    }

    #[test]
    fn an_untouched_slot_says_so() {
        assert_eq!(TransactionSlot::new(7).close(), (Some(7), false));
    }

    #[test]
    fn a_guard_that_outlives_the_slot_drops_its_transaction() {
        let tx = Arc::new(());
        let slot = TransactionSlot::new(Arc::clone(&tx));
        let guard = slot.take().unwrap();
        assert_eq!(slot.close(), (None, true));
        assert_eq!(slot.take().unwrap_err(), TransactionUnavailable::Ended);
        drop(guard);
        assert_eq!(Arc::strong_count(&tx), 1);
    }
}
