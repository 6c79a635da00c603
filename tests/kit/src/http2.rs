use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::server::BOUND;

mod frame;
mod reply;

use frame::{Frame, kind};
pub use reply::{ErrorCode, Reply};

/// A request that an [`Http2Server`] has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenRequest {
    /// Which connection it came on; the first is 1.
    pub connection: usize,
    /// Its stream: 1, 3, 5, …
    pub stream: u32,
    /// Its header block, as HPACK has it: on different connections the same headers of a first
    /// request give the same bytes.
    pub block: Bytes,
    /// The bytes of its body so far.
    pub body: Bytes,
    /// Whether its end was seen.
    pub ended: bool,
}

/// An HTTP/2 server (without TLS, prior knowledge) on the loopback interface that answers the n-th
/// request with the n-th [`Reply`], whichever connection it comes on.
///
/// Requests after the last reply get no answer. It writes raw frames, so it can do what no
/// library's server does. It ends when it is dropped, and after 30 s at the latest, and it wants
/// the real clock, as [`ScriptedServer`](crate::ScriptedServer) does.
#[derive(Debug)]
pub struct Http2Server {
    addr: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    replies: Vec<Reply>,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    connections: usize,
    requests: Vec<SeenRequest>,
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Http2Server {
    /// Listens on a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// When the port cannot be bound.
    pub async fn start(replies: impl IntoIterator<Item = Reply>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared {
            replies: replies.into_iter().collect(),
            seen: Mutex::default(),
        });
        let serving = serve(listener, Arc::clone(&shared));
        let task = tokio::spawn(async move {
            // The bound's end is an end like any other.
            let _ = tokio::time::timeout(BOUND, serving).await;
        });
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

    /// The requests, in the order of their heads.
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.shared.seen().requests.clone()
    }

    /// How many connections were accepted.
    pub fn connections(&self) -> usize {
        self.shared.seen().connections
    }
}

impl Drop for Http2Server {
    fn drop(&mut self) {
        // The task owns the listener and every connection.
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let connection = {
            let mut seen = shared.seen();
            seen.connections += 1;
            seen.connections
        };
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            // A peer that went away ends its connection.
            let _ = talk(stream, connection, &shared).await;
        });
    }
}

async fn talk(stream: TcpStream, connection: usize, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut read, mut write) = stream.into_split();
    write.write_all(&Frame::settings(&[]).bytes()).await?;
    frame::preface(&mut read).await?;
    loop {
        let frame = Frame::read(&mut read).await?;
        let reply = match frame.kind {
            kind::SETTINGS if frame.flags & frame::ACK == 0 => {
                write.write_all(&Frame::settings_ack().bytes()).await?;
                None
            }
            kind::PING if frame.flags & frame::ACK == 0 => {
                write.write_all(&frame.pong().bytes()).await?;
                None
            }
            kind::HEADERS => begun(shared, connection, frame),
            kind::DATA => {
                let credit = frame.payload.len();
                if credit > 0 {
                    for stream in [0, frame.stream] {
                        write
                            .write_all(&Frame::credit(stream, credit).bytes())
                            .await?;
                    }
                }
                continued(shared, connection, frame)
            }
            _ => None,
        };
        let Some((stream, reply)) = reply else {
            continue;
        };
        for bytes in reply.frames(stream) {
            write.write_all(&bytes).await?;
        }
        if reply.closes() {
            return close(read, write).await;
        }
    }
}

/// A request's head; its reply, where that is due.
fn begun(shared: &Shared, connection: usize, frame: Frame) -> Option<(u32, Reply)> {
    let ended = frame.flags & frame::END_STREAM != 0;
    let mut seen = shared.seen();
    let reply = shared.replies.get(seen.requests.len()).cloned();
    seen.requests.push(SeenRequest {
        connection,
        stream: frame.stream,
        block: frame.payload.into(),
        body: Bytes::new(),
        ended,
    });
    reply
        .filter(|reply| ended || reply.is_early())
        .map(|reply| (frame.stream, reply))
}

/// More of a request's body; its reply, where that is due.
fn continued(shared: &Shared, connection: usize, frame: Frame) -> Option<(u32, Reply)> {
    let ended = frame.flags & frame::END_STREAM != 0;
    let mut seen = shared.seen();
    let mut requests = seen.requests.iter_mut().enumerate();
    let of_this = |it: &SeenRequest| it.connection == connection && it.stream == frame.stream;
    let (index, request) = requests.find(|(_, it)| of_this(it))?;
    request.body = [&request.body[..], &frame.payload].concat().into();
    request.ended = ended;
    let reply = shared
        .replies
        .get(index)
        .filter(|reply| ended && !reply.is_early())?;
    Some((frame.stream, reply.clone()))
}

/// Everything that comes is read, so that the end is a close and no reset.
async fn close(mut read: OwnedReadHalf, mut write: OwnedWriteHalf) -> io::Result<()> {
    write.shutdown().await?;
    let mut ignored = Vec::new();
    tokio::io::AsyncReadExt::read_to_end(&mut read, &mut ignored).await?;
    Ok(())
}
