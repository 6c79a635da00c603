//! A peer that does what each request says.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response, StatusCode};
use steadfast_core::{BoxError, Cut, Elapsed};
use steadfast_kit::{Chunks, Piece};
use tower::Service;

/// What the peer does with a request, after `Late` only then.
pub(crate) enum Does {
    Status(u16),
    /// A 200 with this body.
    Body(Vec<Piece>),
    /// A gRPC answer with this body.
    Grpc(Vec<Piece>),
    Reset,
    /// As an attempt timeout below would say it.
    TimesOut(Cut),
    Late(Duration, Box<Does>),
    Never,
}

/// Counts its calls, and how many it has at once.
#[derive(Clone, Default)]
pub(crate) struct Peer(Arc<Counts>);

#[derive(Default)]
struct Counts {
    calls: AtomicUsize,
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Peer {
    pub(crate) fn calls(&self) -> usize {
        self.0.calls.load(Ordering::SeqCst)
    }

    pub(crate) fn most_at_once(&self) -> usize {
        self.0.most.load(Ordering::SeqCst)
    }
}

pub(crate) fn to(host: &str, does: Does) -> Request<Does> {
    let uri = format!("http://{host}/");
    Request::get(uri).body(does).unwrap()
}

struct InFlight(Arc<Counts>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

type Answering = Pin<Box<dyn Future<Output = Result<Response<Chunks>, BoxError>> + Send>>;

impl Service<Request<Does>> for Peer {
    type Response = Response<Chunks>;
    type Error = BoxError;
    type Future = Answering;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Does>) -> Answering {
        let counts = self.0.clone();
        counts.calls.fetch_add(1, Ordering::SeqCst);
        let now = counts.now.fetch_add(1, Ordering::SeqCst) + 1;
        counts.most.fetch_max(now, Ordering::SeqCst);
        let in_flight = InFlight(counts);
        Box::pin(async move {
            let _in_flight = in_flight;
            let mut does = request.into_body();
            while let Does::Late(wait, then) = does {
                tokio::time::sleep(wait).await;
                does = *then;
            }
            let answer = |pieces| Response::new(Chunks::new(pieces));
            match does {
                Does::Status(status) => {
                    let mut answer = Response::new(Chunks::new([]));
                    *answer.status_mut() = StatusCode::from_u16(status)?;
                    Ok(answer)
                }
                Does::Body(pieces) => Ok(answer(pieces)),
                Does::Grpc(pieces) => {
                    let mut answer = answer(pieces);
                    let grpc = http::HeaderValue::from_static("application/grpc");
                    answer
                        .headers_mut()
                        .insert(http::header::CONTENT_TYPE, grpc);
                    Ok(answer)
                }
                Does::Reset => Err(io::Error::from(io::ErrorKind::ConnectionReset).into()),
                Does::TimesOut(cut) => Err(Elapsed::new(Duration::from_secs(1), cut).into()),
                Does::Late(..) | Does::Never => std::future::pending().await,
            }
        })
    }
}
