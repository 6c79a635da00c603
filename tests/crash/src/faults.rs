//! What breaks while clients race.

use std::sync::Arc;
use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;
use sqlx::PgPool;
use steadfast_core::BoxError;
use steadfast_servers::Postgres;
use tokio::time::sleep;

use crate::process::ServerProcess;
use crate::proxy::Proxy;
use crate::serve::ServeArgs;

/// How often each fault struck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Struck {
    pub(crate) kills: u32,
    pub(crate) stops: u32,
    pub(crate) rolling: u32,
    pub(crate) backends: u64,
    pub(crate) restarts: u32,
}

/// A database server that can be broken too.
#[derive(Clone, Debug)]
pub(crate) struct Backend {
    pub(crate) server: Arc<Postgres>,
    pub(crate) pool: PgPool,
}

/// The processes under test, and the network before each.
#[derive(Debug)]
pub(crate) struct Servers {
    args: ServeArgs,
    slots: Vec<(Option<ServerProcess>, Proxy)>,
    backend: Option<Backend>,
    rng: StdRng,
    pub(crate) struck: Struck,
}

impl Servers {
    pub(crate) async fn start(
        args: ServeArgs,
        count: usize,
        backend: Option<Backend>,
        mut rng: StdRng,
    ) -> Result<Self, BoxError> {
        let mut slots = Vec::new();
        for _ in 0..count {
            let args = ServeArgs {
                seed: rng.random(),
                ..args.clone()
            };
            let process = ServerProcess::start(&args).await?;
            let proxy = Proxy::start(process.addr(), rng.random()).await?;
            slots.push((Some(process), proxy));
        }
        Ok(Self {
            args,
            slots,
            backend,
            rng,
            struck: Struck::default(),
        })
    }

    pub(crate) fn proxies(&self) -> impl Iterator<Item = &Proxy> {
        self.slots.iter().map(|(_, proxy)| proxy)
    }

    /// One fault and the repair of it. It must not be dropped midway.
    pub(crate) async fn strike(&mut self) -> Result<(), BoxError> {
        let pause = self.rng.random_range(20..120);
        sleep(Duration::from_millis(pause)).await;
        let slot = self.rng.random_range(0..self.slots.len());
        match (self.rng.random_range(0..100), self.backend.clone()) {
            (0..25, Some(backend)) => self.end_backends(&backend).await?,
            (25..28, Some(backend)) => self.restart(&backend).await?,
            (0..55, _) => {
                self.kill(slot).await?;
                self.start_again(slot).await?;
            }
            (55..80, _) => self.freeze(slot).await?,
            _ => {
                if let Some(process) = self.slots[slot].0.take() {
                    process.drain().await?;
                }
                self.struck.rolling += 1;
                self.start_again(slot).await?;
            }
        }
        Ok(())
    }

    async fn kill(&mut self, slot: usize) -> Result<(), BoxError> {
        if let Some(process) = self.slots[slot].0.take() {
            process.kill().await?;
            self.struck.kills += 1;
        }
        Ok(())
    }

    async fn start_again(&mut self, slot: usize) -> Result<(), BoxError> {
        let args = ServeArgs {
            seed: self.rng.random(),
            ..self.args.clone()
        };
        let process = ServerProcess::start(&args).await?;
        let (place, proxy) = &mut self.slots[slot];
        proxy.set_upstream(process.addr());
        *place = Some(process);
        Ok(())
    }

    /// One process stops in the middle of whatever it does, and goes on as if nothing were.
    async fn freeze(&mut self, slot: usize) -> Result<(), BoxError> {
        let frozen = Duration::from_millis(self.rng.random_range(20..400));
        if let Some(process) = &self.slots[slot].0 {
            process.signal("STOP").await?;
            sleep(frozen).await;
            process.signal("CONT").await?;
            self.struck.stops += 1;
        }
        Ok(())
    }

    /// A few connections of the database end, in the middle of whatever they do.
    async fn end_backends(&mut self, backend: &Backend) -> Result<(), BoxError> {
        let ended: i64 = sqlx::query_scalar(
            "SELECT count(pg_terminate_backend(pid)) FROM (
                SELECT pid FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                ORDER BY state = 'idle', random() LIMIT 3) AS unlucky",
        )
        .fetch_one(&backend.pool)
        .await?;
        self.struck.backends += u64::try_from(ended)?;
        Ok(())
    }

    /// The immediate shutdown of `pg_ctl -m immediate`, and the recovery after it.
    async fn restart(&mut self, backend: &Backend) -> Result<(), BoxError> {
        let server = Arc::clone(&backend.server);
        tokio::task::spawn_blocking(move || {
            server.stop("QUIT");
            server.start_again();
        })
        .await?;
        self.struck.restarts += 1;
        Ok(())
    }

    /// Nothing breaks any more. Every process is killed once more, and the database's with them, so
    /// that what was only in memory is gone.
    pub(crate) async fn calm(&mut self, kills: bool) -> Result<(), BoxError> {
        for slot in 0..self.slots.len() {
            self.slots[slot].1.calm();
            if kills {
                self.kill(slot).await?;
                self.start_again(slot).await?;
            }
        }
        match self.backend.clone() {
            Some(backend) => self.restart(&backend).await,
            None => Ok(()),
        }
    }

    pub(crate) async fn end(self) -> Result<(), BoxError> {
        for (process, _) in self.slots {
            if let Some(process) = process {
                process.kill().await?;
            }
        }
        Ok(())
    }
}
