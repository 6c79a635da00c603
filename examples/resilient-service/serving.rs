//! A router behind a real socket, for as long as it is kept.

use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use steadfast::BoxError;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub(crate) struct Serving {
    addr: SocketAddr,
    task: JoinHandle<()>,
}

impl Serving {
    pub(crate) async fn start(app: Router) -> Result<Self, BoxError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let addr = listener.local_addr()?;
        let task = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, app).await {
                eprintln!("a server ended: {error}");
            }
        });
        Ok(Self { addr, task })
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.task.abort();
    }
}
