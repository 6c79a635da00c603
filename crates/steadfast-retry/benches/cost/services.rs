//! The services that the layers stand around, and the policy of the peer.

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::hint::black_box;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready as ready_or};

use bytes::{Buf, Bytes};
use http::{Request, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use pin_project_lite::pin_project;
use tokio::time::Sleep;
use tower::Service;
use tower::retry::Policy;
use tower::retry::backoff::{Backoff, ExponentialBackoff};
use tower::retry::budget::{Budget, TpsBudget};

pub(crate) type Answer = Response<Full<Bytes>>;

/// Answers at once with the given statuses in turn; allocates nothing.
#[derive(Clone)]
pub(crate) struct AtOnce {
    statuses: &'static [StatusCode],
    next: Arc<std::sync::atomic::AtomicUsize>,
}

impl AtOnce {
    pub(crate) fn ok() -> Self {
        Self::in_turn(&[StatusCode::OK])
    }

    pub(crate) fn in_turn(statuses: &'static [StatusCode]) -> Self {
        Self {
            statuses,
            next: Arc::default(),
        }
    }
}

impl<B> Service<Request<B>> for AtOnce {
    type Response = Answer;
    type Error = Infallible;
    type Future = Ready<Result<Answer, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        black_box(&request);
        let mut answer = Response::default();
        if let [_, _, ..] = self.statuses {
            let next = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            *answer.status_mut() = self.statuses[next % self.statuses.len()];
        }
        ready(Ok(answer))
    }
}

/// Reads the whole request body, then answers.
#[derive(Clone)]
pub(crate) enum Upload {
    /// Into a buffer that stays in the cache: the harshest measure of what a frame costs.
    Copied,
    /// Through a TCP connection over loopback, as HTTP/1 without encryption does.
    Sent(Arc<TcpStream>),
}

impl Upload {
    /// Sends to a thread that reads and forgets.
    pub(crate) fn over_loopback() -> Self {
        let connect = || {
            let listener = TcpListener::bind(("127.0.0.1", 0))?;
            let sender = TcpStream::connect(listener.local_addr()?)?;
            Ok::<_, std::io::Error>((sender, listener.accept()?.0))
        };
        let (sender, mut receiver) = connect().expect("loopback can be reached");
        std::thread::spawn(move || std::io::copy(&mut receiver, &mut std::io::sink()));
        Self::Sent(Arc::new(sender))
    }
}

impl<B: Body<Data: Buf> + Unpin> Service<Request<B>> for Upload {
    type Response = Answer;
    type Error = Infallible;
    type Future = Uploading<B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        Uploading {
            body: request.into_body(),
            to: self.clone(),
            buffer: [0; 16 * 1024],
            sent: 0,
        }
    }
}

pin_project! {
    pub(crate) struct Uploading<B> {
        #[pin]
        body: B,
        to: Upload,
        buffer: [u8; 16 * 1024],
        sent: usize,
    }
}

impl<B: Body<Data: Buf> + Unpin> Future for Uploading<B> {
    type Output = Result<Answer, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        while !this.body.is_end_stream() {
            let Some(frame) = ready_or!(this.body.as_mut().poll_frame(cx)) else {
                break;
            };
            let Ok(Ok(mut data)) = frame.map(Frame::into_data) else {
                panic!("the body of this bench neither fails nor has trailers");
            };
            *this.sent += data.remaining();
            match this.to {
                Upload::Copied => data.copy_to_slice(&mut this.buffer[..data.remaining()]),
                // Blocking, since the time is what counts.
                Upload::Sent(connection) => (&**connection)
                    .write_all(data.chunk())
                    .expect("loopback holds"),
            }
        }
        black_box(&this.buffer);
        assert_eq!(*this.sent, Stream::BYTES);
        Poll::Ready(Ok(Response::default()))
    }
}

/// A long body in frames of 16 KiB, of known or of unknown length.
pub(crate) struct Stream {
    frame: Bytes,
    left: usize,
    known: bool,
}

impl Stream {
    pub(crate) const BYTES: usize = 8 * 1024 * 1024;

    pub(crate) fn new(frame: Bytes, known: bool) -> Self {
        let left = Self::BYTES / frame.len();
        Self { frame, left, known }
    }
}

impl Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(left) = self.left.checked_sub(1) else {
            return Poll::Ready(None);
        };
        self.left = left;
        Poll::Ready(Some(Ok(Frame::data(self.frame.clone()))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        match self.known {
            true => SizeHint::with_exact((self.left * self.frame.len()) as u64),
            false => SizeHint::new(),
        }
    }
}

/// What ours does by default, in tower's words: three attempts, a budget, a jittered backoff.
#[derive(Clone)]
pub(crate) struct TowerPolicy {
    pub(crate) budget: Arc<TpsBudget>,
    pub(crate) backoff: ExponentialBackoff,
    pub(crate) retries_left: u32,
}

impl<B: Clone, E> Policy<Request<B>, Answer, E> for TowerPolicy {
    type Future = Sleep;

    fn retry(&mut self, _: &mut Request<B>, result: &mut Result<Answer, E>) -> Option<Sleep> {
        match result {
            Ok(answer) if !answer.status().is_server_error() => {
                self.budget.deposit();
                None
            }
            _ if self.retries_left == 0 || !self.budget.withdraw() => None,
            _ => {
                self.retries_left -= 1;
                Some(self.backoff.next_backoff())
            }
        }
    }

    fn clone_request(&mut self, request: &Request<B>) -> Option<Request<B>> {
        Some(request.clone())
    }
}

/// The same without a backoff: tower's would make a timer for a wait of nothing.
#[derive(Clone)]
pub(crate) struct TowerAtOnce(pub(crate) Arc<TpsBudget>);

impl<B: Clone, E> Policy<Request<B>, Answer, E> for TowerAtOnce {
    type Future = Ready<()>;

    fn retry(
        &mut self,
        _: &mut Request<B>,
        result: &mut Result<Answer, E>,
    ) -> Option<Self::Future> {
        match result {
            Ok(answer) if !answer.status().is_server_error() => {
                self.0.deposit();
                None
            }
            _ => self.0.withdraw().then(|| ready(())),
        }
    }

    fn clone_request(&mut self, request: &Request<B>) -> Option<Request<B>> {
        Some(request.clone())
    }
}
