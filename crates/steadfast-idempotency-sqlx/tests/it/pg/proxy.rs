use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What becomes of the next batch that ends in COMMIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It arrives, the answer is lost, and both connections are cut.
    AnswerCut,
    /// It arrives, and nothing more passes while the connections stay open.
    AnswerHeld,
    /// Half of it arrives before the cut.
    RequestCut,
    /// Nothing of it arrives, and the connections stay open.
    RequestHeld,
}

/// Between a store and its server: loses one COMMIT or its answer when told to.
pub(super) struct CommitProxy {
    pub(super) addr: SocketAddr,
    fate: Arc<Mutex<Option<Fate>>>,
    task: JoinHandle<()>,
}

impl CommitProxy {
    pub(super) async fn start(upstream: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let fate = Arc::new(Mutex::new(None));
        let shared = Arc::clone(&fate);
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let server = TcpStream::connect(("127.0.0.1", upstream)).await.unwrap();
                connections.spawn(relay(client, server, Arc::clone(&shared)));
            }
        });
        Self { addr, fate, task }
    }

    pub(super) fn next_commit(&self, fate: Fate) {
        *self.fate.lock().unwrap() = Some(fate);
    }

    /// Whether the fate has been met.
    pub(super) fn met(&self) -> bool {
        self.fate.lock().unwrap().is_none()
    }
}

impl Drop for CommitProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn relay(mut client: TcpStream, mut server: TcpStream, fate: Arc<Mutex<Option<Fate>>>) {
    let (mut up, mut down) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        tokio::select! {
            read = client.read(&mut up) => {
                let Ok(read @ 1..) = read else { return };
                let bytes = &up[..read];
                // A simple query ends in a zero byte; the store's batches are small enough for one read.
                let fate = match bytes.ends_with(b"COMMIT\0") {
                    true => fate.lock().unwrap().take(),
                    false => None,
                };
                let sent = match fate {
                    Some(Fate::RequestCut) => &bytes[..read / 2],
                    Some(Fate::RequestHeld) => &[],
                    _ => bytes,
                };
                if server.write_all(sent).await.is_err() {
                    return;
                }
                match fate {
                    None => {}
                    Some(Fate::AnswerCut) => {
                        // The answer is there, so the commit has happened.
                        let _ = server.read(&mut down).await;
                        return;
                    }
                    Some(Fate::RequestCut) => return,
                    Some(Fate::AnswerHeld | Fate::RequestHeld) => {
                        std::future::pending::<()>().await;
                    }
                }
            }
            read = server.read(&mut down) => {
                let Ok(read @ 1..) = read else { return };
                if client.write_all(&down[..read]).await.is_err() {
                    return;
                }
            }
        }
    }
}
