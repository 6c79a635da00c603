use std::fmt;
use std::ops::{Deref, DerefMut};

use sqlx::{Sqlite, SqliteConnection, Transaction};

/// The transaction of a protected request.
///
/// It derefs to the connection, so that queries run on it, and it has no commit. Dropping it rolls
/// back.
pub struct SqliteTx {
    pub(super) inner: Transaction<'static, Sqlite>,
    /// Whether the savepoint before the effect must be there.
    pub(super) marked: bool,
}

impl Deref for SqliteTx {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.inner
    }
}

impl DerefMut for SqliteTx {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.inner
    }
}

impl fmt::Debug for SqliteTx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteTx").finish_non_exhaustive()
    }
}
