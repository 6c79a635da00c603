use std::fmt;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, ScriptInvocation, Value};
use steadfast_idempotency::server::leased::{
    Claim, Claimed, Fence, Fenced, LeaseStore, OnExpired, Seen, Terms,
};
use steadfast_idempotency::server::{FingerprintHasher, Operation, Record, StoreError};

use crate::config::{Eviction, RedisConfig};
use crate::error::ConnectError;
use crate::reply::{Reply, fingerprint};
use crate::scripts::Scripts;

/// Leases and answers on one Redis or Valkey server.
///
/// One hash for each operation, with one time to live; changed by scripts alone, by the server's
/// own clock. A server that cannot be reached is an error, never a claim. Clones share one
/// connection, which is made anew when it breaks.
#[derive(Clone)]
pub struct RedisLeaseStore {
    connection: ConnectionManager,
    shared: Arc<Shared>,
}

struct Shared {
    scripts: Scripts,
    config: RedisConfig,
}

/// A claim that finds the server down says so after a few tries; the caller repeats.
const RECONNECTS: usize = 2;
const RECONNECT_PAUSE: Duration = Duration::from_millis(50);

impl RedisLeaseStore {
    /// Connects to the server at `url` (`redis://host:port/database`) and looks at what it does
    /// to make room.
    ///
    /// # Errors
    ///
    /// See [`ConnectError`].
    pub async fn connect(url: &str) -> Result<Self, ConnectError> {
        Self::connect_with(Client::open(url)?, RedisConfig::default()).await
    }

    /// The same for a client of the caller's, with TLS for example, and other knobs.
    ///
    /// # Errors
    ///
    /// See [`ConnectError`].
    pub async fn connect_with(client: Client, config: RedisConfig) -> Result<Self, ConnectError> {
        let manager = ConnectionManagerConfig::new()
            .set_number_of_retries(RECONNECTS)
            .set_min_delay(RECONNECT_PAUSE)
            .set_connection_timeout(Some(config.timeout()))
            .set_response_timeout(Some(config.timeout()));
        let mut connection = ConnectionManager::new_with_config(client, manager).await?;
        if config.eviction() == Eviction::MustBeOff {
            check_eviction(&mut connection).await?;
        }
        let scripts = Scripts::new();
        Ok(Self {
            connection,
            shared: Arc::new(Shared { scripts, config }),
        })
    }

    /// The name of an operation's record.
    ///
    /// A hash: of any scope and key the name is short, tells nothing, and cannot be another's. In
    /// braces, so that a cluster keeps each record in one place.
    pub fn name_of(&self, operation: &Operation) -> String {
        let hash = FingerprintHasher::new("steadfast.redis.1")
            .field(operation.namespace())
            .field(operation.scope())
            .field(operation.key().as_str())
            .finish();
        let mut name = format!("{}:{{", self.shared.config.prefix());
        for byte in hash.digest() {
            // Writing to a string cannot fail.
            let _ = write!(name, "{byte:02x}");
        }
        name.push('}');
        name
    }

    async fn say(
        &self,
        operation: &Operation,
        fence: Fence,
        word: &str,
        record: Option<&Record>,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        let mut call = self.shared.scripts.say.key(self.name_of(operation));
        call.arg(fence.get())
            .arg(word)
            .arg(millis(terms.lease()))
            .arg(millis(terms.lifetime()));
        if let Some(record) = record {
            let answer = &record.answer;
            call.arg(fingerprint(&record.fingerprint))
                .arg(answer.status.as_u16())
                .arg(answer.encode_headers())
                .arg(&answer.body[..]);
            if let Some((method, path)) = &answer.origin {
                call.arg(method.as_str()).arg(path);
            }
        }
        let reply = self.invoke(&call).await?;
        self.replicated().await?;
        reply.fenced()
    }

    async fn invoke(&self, call: &ScriptInvocation<'_>) -> Result<Reply, StoreError> {
        let mut connection = self.connection.clone();
        let values: Result<Vec<Value>, _> = call.invoke_async(&mut connection).await;
        Reply::new(values.map_err(StoreError::unavailable)?)
    }

    /// Waits for as many replicas as are wanted, on the connection that made the change.
    async fn replicated(&self) -> Result<(), StoreError> {
        let wanted = self.shared.config.replicas();
        if wanted == 0 {
            return Ok(());
        }
        // Before the answer's own time is over, so that too few are told from a broken line.
        let patience = millis(self.shared.config.timeout() / 2);
        let mut wait = redis::cmd("WAIT");
        wait.arg(wanted).arg(patience.max(1));
        let have: Result<u32, _> = wait.query_async(&mut self.connection.clone()).await;
        let have = have.map_err(StoreError::unavailable)?;
        match have >= wanted {
            true => Ok(()),
            false => {
                let short = format!("{have} of {wanted} replicas have the change");
                Err(StoreError::unavailable(short))
            }
        }
    }
}

async fn check_eviction(connection: &mut ConnectionManager) -> Result<(), ConnectError> {
    // INFO, because services that are run for others often forbid CONFIG.
    let mut info = redis::cmd("INFO");
    let info: String = info.arg("memory").query_async(connection).await?;
    let mut lines = info.lines();
    let policy = lines.find_map(|line| line.strip_prefix("maxmemory_policy:"));
    match policy {
        Some("noeviction") => Ok(()),
        Some(policy) => Err(ConnectError::Evicts {
            policy: policy.to_owned(),
        }),
        None => Err(ConnectError::PolicyHidden),
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl LeaseStore for RedisLeaseStore {
    async fn claim(&self, operation: &Operation, claim: &Claim) -> Result<Claimed, StoreError> {
        let mut call = self.shared.scripts.claim.key(self.name_of(operation));
        call.arg(&claim.id.as_bytes()[..])
            .arg(fingerprint(&claim.fingerprint))
            .arg(millis(claim.terms.lease()))
            .arg(millis(claim.terms.lifetime()))
            .arg(i32::from(claim.on_expired == OnExpired::TakeOver));
        let claimed = self.invoke(&call).await?.claimed()?;
        // Only these two have changed something.
        if matches!(claimed, Claimed::Held { .. } | Claimed::Unknown { .. }) {
            self.replicated().await?;
        }
        Ok(claimed)
    }

    async fn renew(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        self.say(operation, fence, "renew", None, terms).await
    }

    async fn complete(
        &self,
        operation: &Operation,
        fence: Fence,
        record: &Record,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        self.say(operation, fence, "complete", Some(record), terms)
            .await
    }

    async fn release(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        self.say(operation, fence, "release", None, terms).await
    }

    async fn abandon(
        &self,
        operation: &Operation,
        fence: Fence,
        terms: Terms,
    ) -> Result<Fenced, StoreError> {
        self.say(operation, fence, "abandon", None, terms).await
    }

    async fn find(&self, operation: &Operation) -> Result<Option<Seen>, StoreError> {
        let call = self.shared.scripts.find.key(self.name_of(operation));
        self.invoke(&call).await?.seen()
    }
}

impl fmt::Debug for RedisLeaseStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisLeaseStore")
            .field("config", &self.shared.config)
            .finish_non_exhaustive()
    }
}
