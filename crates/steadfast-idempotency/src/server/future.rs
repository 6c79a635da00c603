use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::request::Parts;
use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use tokio::time::Sleep;
use tower_service::Service;

use super::body::ResponseBody;
use super::collect::{Collect, CollectError};
use super::config::{IdempotencyConfig, Replay};
use super::engine::{Executed, Execution};
use super::execute::Execute;
use super::layer::Shared;
use super::operation::Operation;
use super::problem::{Code, Problem};
use super::record::Record;
use super::respond::{Answered, advertise, refusal, replay, respond};

pin_project! {
    /// The answer to come of a [`Protected`](super::Protected) service.
    ///
    /// Dropped while the request body is read, nothing has happened. Dropped later, the handler
    /// and its record are finished all the same.
    pub struct ResponseFuture<S, E, B, R>
    where
        S: Service<Request<B>>,
    {
        #[pin]
        state: State<S, E, B, R>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<S, E, B, R>
    where
        S: Service<Request<B>>,
    {
        Untouched {
            #[pin]
            future: S::Future,
        },
        Refused {
            response: Option<Response<Bytes>>,
        },
        Reading {
            #[pin]
            body: Collect<B>,
            #[pin]
            timeout: Sleep,
            call: Option<Call<S, E>>,
        },
        Running {
            execution: Execution<Answered<R, S::Error>>,
            // The head of the request, where it is needed before a replay.
            parts: Option<Parts>,
            shared: Arc<Shared<E>>,
        },
        Checking {
            // The user's own future, unnamed.
            checking: Pin<Box<dyn Future<Output = Replay> + Send>>,
            record: Option<Record>,
            shared: Arc<Shared<E>>,
        },
    }
}

/// What waits for the request body.
struct Call<S, E> {
    service: S,
    parts: Parts,
    operation: Operation,
    shared: Arc<Shared<E>>,
}

impl<S, E, B, R> ResponseFuture<S, E, B, R>
where
    S: Service<Request<B>>,
{
    pub(crate) const fn untouched(future: S::Future) -> Self {
        let state = State::Untouched { future };
        Self { state }
    }

    pub(crate) fn refused(problem: Problem, config: &IdempotencyConfig) -> Self {
        let response = Some(problem.into_response(config.problem_base()));
        let state = State::Refused { response };
        Self { state }
    }

    pub(crate) fn reading(
        service: S,
        parts: Parts,
        body: B,
        operation: Operation,
        shared: Arc<Shared<E>>,
    ) -> Self {
        let config = &shared.config;
        let state = State::Reading {
            body: Collect::new(body, config.request_limit()),
            timeout: tokio::time::sleep(config.request_timeout()),
            call: Some(Call {
                service,
                parts,
                operation,
                shared,
            }),
        };
        Self { state }
    }
}

impl<S, E, B, R> Future for ResponseFuture<S, E, B, R>
where
    S: Service<Request<B>, Response = Response<R>, Error: Send, Future: Send>,
    S: Send + 'static,
    S::Error: 'static,
    E: Execute,
    B: Body<Data: Buf> + From<Bytes> + Send + 'static,
    R: Body<Data = Bytes> + Send + 'static,
{
    type Output = Answered<R, S::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        const COMPLETED: &str = "polled after completion";
        let mut state = self.project().state;
        loop {
            let next = match state.as_mut().project() {
                StateProj::Untouched { future } => {
                    let response = ready!(future.poll(cx))?;
                    return Poll::Ready(Ok(response.map(ResponseBody::inner)));
                }
                StateProj::Refused { response } => {
                    let response = response.take().expect(COMPLETED);
                    return Poll::Ready(Ok(response.map(ResponseBody::full)));
                }
                StateProj::Reading {
                    body,
                    timeout,
                    call,
                } => {
                    let config = &call.as_ref().expect(COMPLETED).shared.config;
                    // The body first: one that is here already needs no timer.
                    let read = match body.poll(cx) {
                        Poll::Ready(read) => read.map_err(|error| unread(&error, config)),
                        Poll::Pending => {
                            ready!(timeout.poll(cx));
                            Err(too_slow(config))
                        }
                    };
                    match read {
                        // Request trailers end here, as RFC 9110 6.5.1 allows.
                        Ok(collected) => call.take().expect(COMPLETED).start(collected.bytes),
                        Err(problem) => State::Refused {
                            response: Some(problem.into_response(config.problem_base())),
                        },
                    }
                }
                StateProj::Running {
                    execution,
                    parts,
                    shared,
                } => {
                    let config = &shared.config;
                    let mut answered = match ready!(Pin::new(execution).poll(cx)) {
                        Ok(Executed::Ran(answered)) => answered,
                        Ok(Executed::Replayed(record)) => {
                            match config.check_replay(parts.take(), &record) {
                                None => Ok(replay(record, config)),
                                Some(checking) => {
                                    let next = State::Checking {
                                        checking,
                                        record: Some(record),
                                        shared: Arc::clone(shared),
                                    };
                                    state.set(next);
                                    continue;
                                }
                            }
                        }
                        Err(refused) => {
                            let problem = Problem::of(&refused, E::GUARANTEE);
                            let mut response = refusal(problem, config);
                            // The store's own error, for whoever logs answers further out.
                            response.extensions_mut().insert(Arc::new(refused));
                            Ok(response)
                        }
                    };
                    if let Ok(response) = &mut answered {
                        advertise(response, config);
                    }
                    return Poll::Ready(answered);
                }
                StateProj::Checking {
                    checking,
                    record,
                    shared,
                } => {
                    let config = &shared.config;
                    let mut response = match ready!(checking.as_mut().poll(cx)) {
                        Replay::Allow => replay(record.take().expect(COMPLETED), config),
                        Replay::Refuse => {
                            let detail = "the answer to this key is kept, and this request may \
                                          not have it";
                            refusal(Problem::new(Code::ReplayRefused, detail), config)
                        }
                    };
                    advertise(&mut response, config);
                    return Poll::Ready(Ok(response));
                }
            };
            state.set(next);
        }
    }
}

impl<S, E> Call<S, E> {
    fn start<B, R>(self, body: Bytes) -> State<S, E, B, R>
    where
        S: Service<Request<B>, Response = Response<R>, Error: Send, Future: Send>,
        S: Send + 'static,
        S::Error: 'static,
        E: Execute,
        B: From<Bytes> + Send + 'static,
        R: Body<Data = Bytes> + Send + 'static,
    {
        let Self {
            service,
            mut parts,
            operation,
            shared,
        } = self;
        let fingerprint = shared.config.fingerprint_of(&parts, &body);
        let remembered = shared.config.remembered(&parts);
        parts.extensions.insert(operation.clone());
        let config = Arc::clone(&shared);
        let work = move |handle: E::Handle| async move {
            parts.extensions.insert(handle);
            let request = Request::from_parts(parts, B::from(body));
            respond(service, request, &config.config, E::GUARANTEE).await
        };
        let execution = shared.engine.execute(operation, fingerprint, work);
        State::Running {
            execution,
            parts: remembered,
            shared,
        }
    }
}

fn unread<E>(error: &CollectError<E>, config: &IdempotencyConfig) -> Problem {
    match error {
        CollectError::TooLarge => {
            let limit = config.request_limit();
            let detail = format!("the request body is over the limit of {limit} bytes");
            Problem::new(Code::BodyTooLarge, detail)
        }
        CollectError::Body(_) => Problem::new(
            Code::BodyUnreadable,
            "the request body broke off before its end",
        ),
    }
}

fn too_slow(config: &IdempotencyConfig) -> Problem {
    let limit = config.request_timeout();
    let detail = format!("the request body took longer than {limit:?}");
    Problem::new(Code::BodyTimeout, detail)
}

impl<S, E, B, R> fmt::Debug for ResponseFuture<S, E, B, R>
where
    S: Service<Request<B>>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
