//! The network in front of one server: it passes bytes on, until it does not.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// What becomes of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    /// How many bytes of the request and of the answer pass.
    request: usize,
    answer: usize,
    /// Whether a cut is an RST, to both sides.
    reset: bool,
}

impl Plan {
    const PASS: Self = Self {
        request: usize::MAX,
        answer: usize::MAX,
        reset: false,
    };

    /// An answer has about 250 bytes, of which the body is the last 50; a request a little less.
    fn draw(rng: &mut StdRng) -> Self {
        let reset = rng.random_bool(0.5);
        match rng.random_range(0..100) {
            0..3 => Self {
                request: rng.random_range(0..260),
                reset,
                ..Self::PASS
            },
            3..10 => Self {
                answer: 0,
                reset,
                ..Self::PASS
            },
            10..18 => Self {
                answer: rng.random_range(1..260),
                reset,
                ..Self::PASS
            },
            _ => Self::PASS,
        }
    }
}

/// A proxy for connections of one request each. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Proxy {
    addr: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    cuts: AtomicU64,
}

#[derive(Debug)]
struct State {
    upstream: SocketAddr,
    calm: bool,
    rng: StdRng,
}

impl Proxy {
    pub(crate) async fn start(upstream: SocketAddr, seed: u64) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                upstream,
                calm: false,
                rng: StdRng::seed_from_u64(seed),
            }),
            cuts: AtomicU64::new(0),
        });
        let task = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { addr, shared, task })
    }

    pub(crate) const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Sends new connections here.
    pub(crate) fn set_upstream(&self, upstream: SocketAddr) {
        self.shared.with(|state| state.upstream = upstream);
    }

    /// Cuts nothing any more.
    pub(crate) fn calm(&self) {
        self.shared.with(|state| state.calm = true);
    }

    /// How many connections were cut.
    pub(crate) fn cuts(&self) -> u64 {
        self.shared.cuts.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // The task owns the listener and every connection.
        self.task.abort();
    }
}

impl Shared {
    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn plan(&self) -> (SocketAddr, Plan) {
        self.with(|state| {
            let plan = Plan::draw(&mut state.rng);
            (state.upstream, if state.calm { Plan::PASS } else { plan })
        })
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            // Whatever ended it, both connections close here.
            let _ = relay(client, &shared).await;
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn relay(mut client: TcpStream, shared: &Shared) -> io::Result<()> {
    let (addr, plan) = shared.plan();
    let mut upstream = TcpStream::connect(addr).await?;
    client.set_nodelay(true)?;
    upstream.set_nodelay(true)?;
    let cut = {
        let (mut from_client, mut to_client) = client.split();
        let (mut from_upstream, mut to_upstream) = upstream.split();
        // Clients never close one half alone: the end of either side is the end of both.
        tokio::select! {
            cut = pass(&mut from_client, &mut to_upstream, plan.request) => cut,
            cut = pass(&mut from_upstream, &mut to_client, plan.answer) => cut,
        }
    };
    if let Ok(true) = cut {
        shared.cuts.fetch_add(1, Ordering::Relaxed);
        if plan.reset {
            client.set_zero_linger()?;
            upstream.set_zero_linger()?;
        }
    }
    Ok(())
}

/// Passes at most this many bytes on, and says whether there were more.
async fn pass<R, W>(from: &mut R, to: &mut W, mut limit: usize) -> io::Result<bool>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut buffer = [0; 4096];
    loop {
        let read = from.read(&mut buffer).await?;
        if read == 0 {
            return Ok(false);
        }
        let passed = read.min(limit);
        to.write_all(&buffer[..passed]).await?;
        limit -= passed;
        if passed < read || limit == 0 {
            return Ok(true);
        }
    }
}
