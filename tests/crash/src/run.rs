//! One run: a storm, a calm, and the checks.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use sqlx::postgres::PgPoolOptions;
use steadfast_core::BoxError;
use steadfast_idempotency_sqlx::{PgStore, SqliteStore};
use steadfast_servers::Postgres;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::books::Database;
use crate::check::check;
use crate::clients::Clients;
use crate::design::Design;
use crate::faults::{Backend, Servers};
use crate::history::History;
use crate::outcome::Outcome;
use crate::plan::{Plan, Store};
use crate::serve::ServeArgs;

/// Processes under test.
const SERVERS: usize = 3;
/// Keys raced for at once, each by up to three clients.
const AT_ONCE: usize = 8;

/// Runs the plan. None where its database is not installed.
pub(crate) async fn run(plan: &Plan) -> Result<Option<Outcome>, BoxError> {
    let directory = tempfile::tempdir()?;
    let path = directory.path();
    let (database, args, backend) = match plan.store {
        Store::Sqlite => sqlite(path, plan).await?,
        Store::Postgres => match postgres(plan).await? {
            Some(there) => there,
            None => return Ok(None),
        },
    };
    database.create().await?;
    let history = History::create(&path.join("history"))?;
    let limit = Duration::from_secs(plan.limit_secs);
    // Dropped at the limit: every process it has started ends with it.
    let all = storm_and_calm(plan, args, backend, history, database);
    let ended = timeout(limit, all).await;
    let outcome = match ended {
        Ok(outcome) => outcome?,
        Err(_) => return Err(format!("{plan:?} took longer than {limit:?}").into()),
    };
    if plan.design == Design::Sound && !outcome.is_as_expected() {
        eprintln!(
            "the log and what else was in files: {}",
            directory.keep().display()
        );
    }
    Ok(Some(outcome))
}

async fn storm_and_calm(
    plan: &Plan,
    args: ServeArgs,
    backend: Option<Backend>,
    history: History,
    database: Database,
) -> Result<Outcome, BoxError> {
    let started = Instant::now();
    let mut rng = StdRng::seed_from_u64(plan.seed);
    let of_faults = StdRng::seed_from_u64(rng.random());
    // The database is read after the servers have ended.
    let mut servers = Servers::start(args, SERVERS, backend.clone(), of_faults).await?;
    let clients = Clients {
        seed: rng.random(),
        history: history.clone(),
        racers: plan.design.racers(),
        addrs: servers.proxies().map(crate::proxy::Proxy::addr).collect(),
    };
    let keys = storm(plan, &mut servers, &clients).await?;
    servers.calm(plan.design.is_killed()).await?;
    let mut asking = JoinSet::new();
    for number in 0..keys {
        if asking.len() >= AT_ONCE {
            joined(asking.join_next().await)?;
        }
        asking.spawn(clients.clone().ask_quietly(number));
    }
    while let Some(ended) = asking.join_next().await {
        joined(Some(ended))?;
    }
    let (struck, cuts) = (servers.struck, servers.proxies().map(|p| p.cuts()).sum());
    servers.end().await?;
    let books = database.snapshot().await?;
    drop(backend);
    Ok(Outcome {
        findings: check(&history.read()?, &books),
        struck,
        cuts,
        took: started.elapsed(),
        plan: plan.clone(),
    })
}

/// Races for keys until there were enough of everything; how many.
async fn storm(plan: &Plan, servers: &mut Servers, clients: &Clients) -> Result<u64, BoxError> {
    let (enough, mut is_enough) = tokio::sync::watch::channel(false);
    let feed = async {
        let mut racing = JoinSet::new();
        let mut number = 0;
        while number < plan.keys || !*is_enough.borrow_and_update() {
            if racing.len() >= AT_ONCE {
                joined(racing.join_next().await)?;
            }
            racing.spawn(clients.clone().race(number));
            number += 1;
        }
        while let Some(ended) = racing.join_next().await {
            joined(Some(ended))?;
        }
        Ok::<_, BoxError>(number)
    };
    tokio::pin!(feed);
    let mut fed = None;
    while fed.is_none() {
        let calm = !plan.design.is_killed();
        let struck = servers.struck;
        let done = calm || (struck.kills >= plan.kills && struck.restarts >= plan.restarts);
        enough.send_replace(done);
        if calm {
            fed = Some(feed.as_mut().await?);
            break;
        }
        let strike = servers.strike();
        tokio::pin!(strike);
        // A strike that has begun is finished: it is the one that repairs what it broke.
        tokio::select! {
            ended = &mut feed, if fed.is_none() => {
                fed = Some(ended?);
                strike.await?;
            }
            struck = &mut strike => struck?,
        }
    }
    fed.ok_or_else(|| "the storm has an end".into())
}

fn joined(ended: Option<Result<io::Result<()>, tokio::task::JoinError>>) -> Result<(), BoxError> {
    match ended {
        Some(ended) => Ok(ended??),
        None => Ok(()),
    }
}

type System = (Database, ServeArgs, Option<Backend>);

async fn sqlite(path: &Path, plan: &Plan) -> Result<System, BoxError> {
    let file = |name: &str| path.join(name).display().to_string();
    let ledger = file("ledger.db");
    let keys = match plan.design {
        Design::KeyElsewhere => file("keys.db"),
        _ => ledger.clone(),
    };
    let database = Database::Sqlite {
        ledger: SqliteStore::open(&ledger).await?.writer().clone(),
        keys: SqliteStore::open(&keys).await?.writer().clone(),
    };
    Ok((database, args(plan, ledger, keys), None))
}

async fn postgres(plan: &Plan) -> Result<Option<System>, BoxError> {
    let settings: &'static [&'static str] = match plan.design {
        Design::CommitNotDurable => &["synchronous_commit=off", "wal_writer_delay=10s"],
        _ => &[],
    };
    let server = tokio::task::spawn_blocking(move || {
        let server = Arc::new(Postgres::start_with(settings)?);
        let url = server.database();
        Some((server, url))
    });
    let Some((server, url)) = server.await? else {
        return Ok(None);
    };
    let store = PgStore::open(&url).await?;
    store.migrate().await?;
    store.close().await;
    let pool = PgPoolOptions::new()
        .max_connections(2)
        .connect(&url)
        .await?;
    let backend = Backend {
        server,
        pool: pool.clone(),
    };
    let args = args(plan, url.clone(), url);
    Ok(Some((Database::Postgres(pool), args, Some(backend))))
}

fn args(plan: &Plan, ledger: String, keys: String) -> ServeArgs {
    ServeArgs {
        design: plan.design,
        ledger,
        keys,
        seed: plan.seed,
    }
}
