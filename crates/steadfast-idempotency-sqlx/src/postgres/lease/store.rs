use steadfast_idempotency::server::leased::{
    Claim, Claimed, Fence, Fenced, LeaseStore, Seen, Terms,
};
use steadfast_idempotency::server::{Operation, Record, StoreError};

use super::sql::Say;
use super::{PgLeaseStore, row, sql};
use crate::postgres::batches::unavailable;

impl LeaseStore for PgLeaseStore {
    async fn claim(&self, operation: &Operation, claim: &Claim) -> Result<Claimed, StoreError> {
        let rows = self.batches.run(sql::claim(operation, claim)).await;
        let rows = rows.map_err(unavailable)?;
        // It was swept between the statements: nobody has it now.
        let row = rows
            .last()
            .ok_or_else(|| unavailable(sqlx::Error::RowNotFound))?;
        row::claimed(row, &claim.fingerprint).map_err(unavailable)
    }

    async fn renew(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        self.say(say(operation, fence, terms).renew()).await
    }

    async fn complete(
        &self,
        operation: &Operation,
        fence: Fence,
        record: &Record,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        self.say(say(operation, fence, terms).complete(record))
            .await
    }

    async fn release(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        self.say(say(operation, fence, terms).release()).await
    }

    async fn abandon(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        self.say(say(operation, fence, terms).abandon()).await
    }

    async fn find(&self, operation: &Operation) -> Result<Option<Seen>, StoreError> {
        let rows = self
            .batches
            .run(sql::find(operation))
            .await
            .map_err(unavailable)?;
        match rows.first() {
            Some(row) => row::seen(row).map_err(unavailable),
            None => Ok(None),
        }
    }
}

const fn say(operation: &Operation, fence: Fence, terms: Terms) -> Say<'_> {
    Say {
        operation,
        fence,
        terms,
    }
}

impl PgLeaseStore {
    async fn say(&self, sql: String) -> Result<Fenced, StoreError> {
        let rows = self.batches.run(sql).await.map_err(unavailable)?;
        match rows.last() {
            Some(row) => {
                row::check(row).map_err(unavailable)?;
                Ok(Fenced::Accepted)
            }
            None => Ok(Fenced::Rejected),
        }
    }
}
