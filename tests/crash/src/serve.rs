//! The server: a process of its own, since its death is the commonest fault.

use std::io;
use std::net::Ipv4Addr;
use std::ops::DerefMut;
use std::time::Duration;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use clap::Args;
use sqlx::PgPool;
use steadfast_axum::{IdempotencyKey, Transaction};
use steadfast_core::BoxError;
use steadfast_idempotency::server::{
    EngineConfig, Fingerprint, IdempotencyConfig, IdempotencyLayer, TxStore,
};
use steadfast_idempotency_sqlx::{PgStore, SqliteStore};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep};

use crate::books::{Books, Entry};
use crate::design::Design;
use crate::luck::Luck;
use crate::order::{Fate, Order, Receipt};
use crate::sweeper::{Sweep, sweep_for_ever};
use crate::{flawed, flawed_pg, no_task};

/// What a server prints before the address it listens at.
pub(crate) const LISTENING: &str = "listening ";
/// How long the database may be away while a server starts.
const OPEN_PATIENCE: Duration = Duration::from_secs(30);
const DRAIN_LIMIT: Duration = Duration::from_secs(15);

/// What a server process is told.
#[derive(Clone, Debug, Args)]
pub(crate) struct ServeArgs {
    #[arg(long)]
    pub(crate) design: Design,
    /// A `postgres://` URL, or the path of an SQLite file.
    #[arg(long)]
    pub(crate) ledger: String,
    /// The same for the keys, where they are elsewhere.
    #[arg(long)]
    pub(crate) keys: String,
    #[arg(long)]
    pub(crate) seed: u64,
}

/// Serves until SIGTERM, or until the parent is gone.
pub(crate) async fn serve(args: &ServeArgs) -> Result<(), BoxError> {
    end_with_parent();
    // Panics are part of the plan.
    std::panic::set_hook(Box::new(|_| {}));
    let luck = Luck::new(args.seed);
    if args.ledger.starts_with("postgres://") {
        let store = patiently(|| PgStore::open(&args.ledger)).await?;
        if matches!(args.design, Design::Sound | Design::CommitNotDurable) {
            return protected(store, args.design, luck).await;
        }
        let pool = PgPool::connect_lazy(&args.ledger)?;
        let store = flawed_pg::FlawedPgStore::new(store, pool, args.design);
        return protected(store, args.design, luck).await;
    }
    let store = patiently(|| SqliteStore::open(&args.ledger)).await?;
    match args.design {
        Design::Sound | Design::NoFingerprint | Design::SweptTooEarly => {
            protected(store, args.design, luck).await
        }
        Design::NoTask => listen(no_task::app(store, luck), async {}).await,
        design => {
            let keys = match args.keys == args.ledger {
                true => store.clone(),
                false => patiently(|| SqliteStore::open(&args.keys)).await?,
            };
            let store = flawed::FlawedStore::open(store, keys, design).await?;
            protected(store, design, luck).await
        }
    }
}

async fn patiently<T, F>(open: impl Fn() -> F) -> Result<T, sqlx::Error>
where
    F: Future<Output = Result<T, sqlx::Error>>,
{
    let until = Instant::now() + OPEN_PATIENCE;
    loop {
        match open().await {
            Err(_) if Instant::now() < until => sleep(Duration::from_millis(20)).await,
            opened => return opened,
        }
    }
}

async fn protected<St>(store: St, design: Design, luck: Luck) -> Result<(), BoxError>
where
    St: TxStore + Sweep,
    St::Tx: DerefMut<Target: Books>,
{
    let mut engine = EngineConfig::default();
    if design == Design::SweptTooEarly {
        engine = engine.with_retention(Duration::ZERO);
    }
    let mut config = IdempotencyConfig::new(|_| Some("the shop")).with_engine(engine);
    if design == Design::NoFingerprint {
        config = config.with_fingerprint(|_, _, _| Fingerprint::new(0, [0; 32]));
    }
    tokio::spawn(sweep_for_ever(store.clone()));
    let layer = IdempotencyLayer::new(store, config);
    let app = Router::new()
        .route("/charges", post(charge::<St::Tx>))
        .route_layer(layer.clone())
        .layer(luck.outer_timeout())
        .with_state(luck);
    let drained = async move {
        if let Err(undrained) = layer.drain(DRAIN_LIMIT).await {
            eprintln!("{undrained}");
            std::process::exit(2);
        }
    };
    listen(app, drained).await
}

async fn listen(app: Router, drained: impl Future<Output = ()>) -> Result<(), BoxError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let mut term = signal(SignalKind::terminate())?;
    println!("{LISTENING}{}", listener.local_addr()?);
    axum::serve(listener, app)
        .with_graceful_shutdown(async move {
            term.recv().await;
        })
        .await?;
    drained.await;
    Ok(())
}

/// The parent holds the other end of standard input: it closes with the parent, however that ends.
/// A thread, so that it works whatever the runtime is doing.
fn end_with_parent() {
    std::thread::spawn(|| {
        // An end of input and an error mean the same here.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(0);
    });
}

async fn charge<Tx>(
    State(luck): State<Luck>,
    key: IdempotencyKey,
    mut tx: Transaction<Tx>,
    Json(order): Json<Order>,
) -> Response
where
    Tx: DerefMut<Target: Books> + Send + 'static,
{
    let run = luck.run();
    let fate = luck.fate(&order);
    let key = key.key().as_str();
    let entry = Entry::of(key, &order, &run, fate);
    let charged = tx.charge(&entry).await;
    sleep(luck.pause()).await;
    match charged {
        Ok(receipt) => answer(fate, run, receipt),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

impl<'a> Entry<'a> {
    pub(crate) const fn of(key: &'a str, order: &Order, run: &'a str, fate: Fate) -> Self {
        Self {
            key,
            account: order.account,
            cents: order.cents,
            run,
            fate: fate.name(),
        }
    }
}

pub(crate) fn answer(fate: Fate, run: String, receipt: i64) -> Response {
    match fate {
        Fate::Kept => {
            let location = [(header::LOCATION, format!("/charges/{receipt}"))];
            let receipt = Some(receipt);
            (
                StatusCode::CREATED,
                location,
                Json(Receipt { run, receipt }),
            )
                .into_response()
        }
        Fate::Declined => {
            let refusal = Receipt { run, receipt: None };
            (StatusCode::PAYMENT_REQUIRED, Json(refusal)).into_response()
        }
        Fate::Failed => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Fate::Panicked => panic!("as planned"),
    }
}
