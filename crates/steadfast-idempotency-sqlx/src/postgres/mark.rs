use std::fmt;

/// What tells the transaction of an operation from any other one: a setting that ends with it.
///
/// A handler that commits, or rolls back, and goes on is found out by its absence. A savepoint would
/// serve as well, and costs the server a tenth more for each operation.
#[derive(Clone, Copy)]
pub(super) struct Mark(pub(super) i64);

const SETTING: &str = "steadfast.operation";

impl Mark {
    /// An expression that sets it, up to the end of the transaction.
    pub(super) fn set(self) -> String {
        format!("set_config('{SETTING}', '{}', true)", self.0)
    }
}

/// An expression that is true inside of the transaction, and false or NULL elsewhere.
impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "current_setting('{SETTING}', true) = '{}'", self.0)
    }
}
