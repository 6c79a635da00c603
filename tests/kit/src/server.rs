use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::wire::{Framing, Reader, request_framing};

mod script;

use script::Act;
pub use script::Script;

/// Time after which a server that nobody stopped closes everything, so that no test hangs on it.
pub(crate) const BOUND: Duration = Duration::from_secs(30);

/// A TCP server on the loopback interface that does what it is told and records what it reads.
///
/// The n-th connection gets the n-th script; connections after the last script are closed at
/// once. It runs on the runtime that started it, ends when it is dropped, and after 30 s at the
/// latest. It needs the real clock: a paused one jumps to that bound while the network is awaited.
#[derive(Debug)]
pub struct ScriptedServer {
    addr: SocketAddr,
    recorded: Arc<Recorded>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Recorded {
    requests: Mutex<Vec<Bytes>>,
    connections: Mutex<usize>,
}

impl ScriptedServer {
    /// Listens on a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// When the port cannot be bound.
    pub async fn start(scripts: impl IntoIterator<Item = Script>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let addr = listener.local_addr()?;
        let recorded = Arc::new(Recorded::default());
        let scripts = scripts.into_iter().collect::<Vec<_>>();
        let serving = serve(listener, scripts, Arc::clone(&recorded));
        let task = tokio::spawn(async move {
            // The bound's end is an end like any other.
            let _ = tokio::time::timeout(BOUND, serving).await;
        });
        Ok(Self {
            addr,
            recorded,
            task,
        })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// A URL of this path on it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }

    /// The bytes of each request that was read, in the order in which reading ended.
    pub fn requests(&self) -> Vec<Bytes> {
        locked(&self.recorded.requests).clone()
    }

    /// How many connections were accepted.
    pub fn connections(&self) -> usize {
        *locked(&self.recorded.connections)
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        // The task owns the listener and every connection.
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, scripts: Vec<Script>, recorded: Arc<Recorded>) {
    let mut scripts = scripts.into_iter();
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        *locked(&recorded.connections) += 1;
        let script = scripts.next().unwrap_or_default();
        let recorded = Arc::clone(&recorded);
        connections.spawn(async move {
            // A peer that went away ends its script.
            let _ = play(stream, script, &recorded).await;
        });
    }
}

async fn play(mut stream: TcpStream, script: Script, recorded: &Recorded) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reset = false;
    let mut unread = Framing::Length(0);
    {
        let (read, mut write) = stream.split();
        let mut reader = Reader::new(read);
        for act in script.acts {
            match act {
                Act::Read | Act::ReadHead => {
                    let Some((head, bytes)) = reader.request().await? else {
                        return Ok(());
                    };
                    let mut bytes = bytes.to_vec();
                    let framing = request_framing(head.headers())?;
                    match act {
                        Act::Read => reader.body(framing, &mut bytes).await?,
                        _ => unread = framing,
                    }
                    locked(&recorded.requests).push(bytes.into());
                }
                Act::ReadBody => {
                    let framing = std::mem::replace(&mut unread, Framing::Length(0));
                    let mut bytes = Vec::new();
                    let read = reader.body(framing, &mut bytes).await;
                    if let Some(last) = locked(&recorded.requests).last_mut() {
                        *last = [&last[..], &bytes].concat().into();
                    }
                    read?;
                }
                Act::Arrival => reader.arrival().await?,
                Act::Notify(notify) => notify.notify_one(),
                Act::Endless(bytes) => loop {
                    write.write_all(&bytes).await?;
                },
                Act::Write(bytes) => write.write_all(&bytes).await?,
                Act::Wait(notify) => notify.notified().await,
                Act::Stall => std::future::pending().await,
                Act::Reset => {
                    reset = true;
                    break;
                }
            }
        }
    }
    if reset {
        stream.set_zero_linger()?;
    }
    Ok(())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
