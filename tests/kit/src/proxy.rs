use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::{Request, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

mod relay;

/// One request and the head of its answer, as the proxy saw them.
#[derive(Debug)]
#[non_exhaustive]
pub struct Exchange {
    /// The place among all exchanges of this proxy; the first is 1.
    pub number: u64,
    /// The request's method, target and headers.
    pub request: Request<()>,
    /// The answer's status and headers.
    pub answer: Response<()>,
}

/// What becomes of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fate {
    /// The client gets it.
    Pass,
    /// The client gets no byte of it: both connections are closed, after the upstream did its
    /// work and before the client knows.
    CutAnswer,
}

type Hook = dyn Fn(&Exchange) -> Fate + Send + Sync;

/// A TCP proxy for HTTP/1.1 on the loopback interface that loses the answers it is told to lose.
///
/// Every byte passes on unchanged. The hook is asked once per exchange, when the head of the
/// final answer is there and before any byte of it has passed on. Each connection of a client has
/// one upstream connection of its own and carries one exchange at a time; when either side closes,
/// the other is closed. It runs on the runtime that started it and ends when it is dropped.
///
/// Upgrades and `CONNECT` are not understood: such a connection is closed.
#[derive(Debug)]
pub struct FaultProxy {
    addr: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    hook: Box<Hook>,
    route: watch::Sender<Route>,
    exchanges: AtomicU64,
    cuts: AtomicU64,
}

/// Where new connections go.
#[derive(Clone, Copy, Debug)]
struct Route {
    upstream: SocketAddr,
    held: bool,
}

impl FaultProxy {
    /// Listens on a free port of 127.0.0.1 and forwards to `upstream`.
    ///
    /// # Errors
    ///
    /// When the port cannot be bound.
    pub async fn start(
        upstream: SocketAddr,
        hook: impl Fn(&Exchange) -> Fate + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared {
            hook: Box::new(hook),
            route: watch::Sender::new(Route {
                upstream,
                held: false,
            }),
            exchanges: AtomicU64::new(0),
            cuts: AtomicU64::new(0),
        });
        let task = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Ok(Self { addr, shared, task })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// A URL of this path on it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }

    /// Sends new connections here; the ones that exist stay where they are.
    pub fn set_upstream(&self, upstream: SocketAddr) {
        self.shared
            .route
            .send_modify(|route| route.upstream = upstream);
    }

    /// Accepts new connections but forwards nothing of them until [`release`](Self::release):
    /// while the upstream restarts, its clients wait instead of being refused.
    pub fn hold(&self) {
        self.shared.route.send_modify(|route| route.held = true);
    }

    /// Lets the held connections through.
    pub fn release(&self) {
        self.shared.route.send_modify(|route| route.held = false);
    }

    /// How many answers came from the upstream.
    pub fn exchanges(&self) -> u64 {
        self.shared.exchanges.load(Ordering::Relaxed)
    }

    /// How many of them were cut.
    pub fn cuts(&self) -> u64 {
        self.shared.cuts.load(Ordering::Relaxed)
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        // The task owns the listener and every connection.
        self.task.abort();
    }
}

impl Shared {
    /// Counts the exchange and asks the hook about it.
    fn judge(&self, request: Request<()>, answer: Response<()>) -> (Exchange, Fate) {
        let number = self.exchanges.fetch_add(1, Ordering::Relaxed) + 1;
        let exchange = Exchange {
            number,
            request,
            answer,
        };
        let fate = (self.hook)(&exchange);
        if fate == Fate::CutAnswer {
            self.cuts.fetch_add(1, Ordering::Relaxed);
        }
        (exchange, fate)
    }

    /// The upstream, once connections are let through.
    async fn upstream(&self) -> io::Result<TcpStream> {
        let mut route = self.route.subscribe();
        let upstream = match route.wait_for(|route| !route.held).await {
            Ok(route) => route.upstream,
            // Only when the sender is gone, which `self` owns.
            Err(_) => return Err(io::ErrorKind::NotConnected.into()),
        };
        TcpStream::connect(upstream).await
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("route", &*self.route.borrow())
            .field("exchanges", &self.exchanges)
            .field("cuts", &self.cuts)
            .finish_non_exhaustive()
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            if let Ok(upstream) = shared.upstream().await {
                // Whatever ended it, both connections close here.
                let _ = relay::relay(client, upstream, &shared).await;
            }
        });
        while connections.try_join_next().is_some() {}
    }
}
