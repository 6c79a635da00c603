use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use sqlx::PgConnection;
use sqlx::postgres::PgRow;

use super::connection::Held;
use super::mark::Mark;

/// The transaction of a protected request.
///
/// It derefs to the connection, so that queries run on it, and it has no commit. Dropping it rolls
/// back, by closing its connection. A `begin` on it is a savepoint.
///
/// After a statement that failed PostgreSQL answers every other one with an error. A handler that
/// wants to go on after an error puts the statement into such a savepoint.
pub struct PgTx {
    pub(super) held: Held,
    pub(super) mark: Mark,
    /// The statement that writes the record. It goes to the server together with the COMMIT, which
    /// saves a round trip.
    pub(super) insert: Option<String>,
}

impl PgTx {
    pub(super) async fn batch(&mut self, sql: impl Into<Arc<str>>) -> sqlx::Result<Vec<PgRow>> {
        self.held.batch(&sql.into()).await
    }
}

impl Deref for PgTx {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.held
    }
}

impl DerefMut for PgTx {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.held
    }
}

impl fmt::Debug for PgTx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgTx").finish_non_exhaustive()
    }
}
