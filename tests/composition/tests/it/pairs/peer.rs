//! A peer that does what a list says, and what it saw of its callers.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response, StatusCode, request};
use steadfast::{BoxError, Reason, Rejected};
use steadfast_kit::{Chunks, Message, Piece};
use tokio::time::sleep;
use tower::Service;

/// What it does with one attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Does {
    /// Answers with this status.
    Says(u16),
    /// Answers with this status and this header.
    Tells(u16, &'static str, &'static str),
    /// Answers 200 after this long.
    Late(Duration),
    /// Never answers.
    Hangs,
    /// Answers 200 and half a body, and then nothing.
    FallsSilent,
    /// Answers 503 and half a body, and then nothing.
    FailsSilently,
    /// Loses the connection.
    Breaks,
    /// Is refused by a layer of ours further below.
    Refused(Reason),
}

/// Does one thing after the other, and the last of them for ever.
#[derive(Clone, Debug)]
pub(crate) struct Peer(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    list: VecDeque<Does>,
    heads: Vec<request::Parts>,
}

impl Peer {
    pub(crate) fn new(list: impl IntoIterator<Item = Does>) -> Self {
        Self(Arc::new(Mutex::new(State {
            list: list.into_iter().collect(),
            heads: Vec::new(),
        })))
    }

    /// How many attempts arrived.
    pub(crate) fn calls(&self) -> usize {
        self.0.lock().unwrap().heads.len()
    }

    /// What each attempt said in this header, and nothing where it was not there.
    pub(crate) fn told(&self, header: &str) -> Vec<String> {
        let said = |head: &request::Parts| {
            let value = head.headers.get(header);
            value.map_or_else(String::new, |value| value.to_str().unwrap().to_owned())
        };
        self.0.lock().unwrap().heads.iter().map(said).collect()
    }

    /// From now on it answers 200.
    pub(crate) fn recover(&self) {
        self.0.lock().unwrap().list = [Does::Says(200)].into();
    }

    fn next(&self, head: request::Parts) -> Does {
        let mut state = self.0.lock().unwrap();
        state.heads.push(head);
        match state.list.len() {
            1 => state.list[0],
            _ => state.list.pop_front().unwrap(),
        }
    }
}

/// Generic in the body, so that it stands below every layer.
impl<B: Send + 'static> Service<Request<B>> for Peer {
    type Response = Response<Chunks>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Chunks>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let does = self.next(request.head());
        Box::pin(does.act())
    }
}

impl Does {
    async fn act(self) -> Result<Response<Chunks>, BoxError> {
        match self {
            Self::Says(status) => Ok(answer(status)),
            Self::Tells(status, header, value) => {
                let mut answer = answer(status);
                answer.headers_mut().insert(header, value.parse()?);
                Ok(answer)
            }
            Self::Late(time) => {
                sleep(time).await;
                Ok(answer(200))
            }
            Self::Hangs => std::future::pending().await,
            Self::FallsSilent => Ok(half(200)),
            Self::FailsSilently => Ok(half(503)),
            Self::Breaks => Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset).into()),
            Self::Refused(reason) => Err(Rejected::new(reason).into()),
        }
    }
}

fn answer(status: u16) -> Response<Chunks> {
    with_body(status, Chunks::of(["said"]))
}

fn half(status: u16) -> Response<Chunks> {
    with_body(status, Chunks::new([Piece::data("half"), Piece::Never]))
}

fn with_body(status: u16, body: Chunks) -> Response<Chunks> {
    let mut answer = Response::new(body);
    *answer.status_mut() = StatusCode::from_u16(status).unwrap();
    answer
}
