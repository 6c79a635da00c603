use std::fmt;
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http::request::Parts;
use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

use super::body::ResponseBody;
use super::config::{ANONYMOUS_KEY_LENGTH, AnonymousKeys, IdempotencyConfig, KeyPolicy};
use super::engine::Engine;
use super::execute::Execute;
use super::future::ResponseFuture;
use super::layer::Shared;
use super::operation::Operation;
use super::problem::{Code, Problem};
use crate::{Key, KeyFormat};

/// The service that [`IdempotencyLayer`](super::IdempotencyLayer) and
/// [`LeasedLayer`](super::leased::LeasedLayer) make, over the engine `E` of the one or the other.
///
/// Its own refusals are answers with RFC 9457 bodies; the inner service's errors pass through.
pub struct Protected<S, E> {
    inner: S,
    shared: Arc<Shared<E>>,
}

/// A service whose effects commit together with their keys in the store `St`.
pub type Idempotency<S, St> = Protected<S, Engine<St>>;

impl<S, E> Protected<S, E> {
    pub(crate) const fn new(inner: S, shared: Arc<Shared<E>>) -> Self {
        Self { inner, shared }
    }
}

impl<S: Clone, E> Protected<S, E> {
    /// Drops the readied instance, and with it what it reserved.
    fn give_back(&mut self) {
        let clone = self.inner.clone();
        drop(mem::replace(&mut self.inner, clone));
    }
}

impl<S, E, B, R> Service<Request<B>> for Protected<S, E>
where
    S: Service<Request<B>, Response = Response<R>, Error: Send, Future: Send>,
    S: Clone + Send + 'static,
    S::Error: 'static,
    E: Execute,
    B: Body<Data: Buf> + From<Bytes> + Send + 'static,
    R: Body<Data = Bytes> + Send + 'static,
{
    type Response = Response<ResponseBody<R>>;
    type Error = S::Error;
    type Future = ResponseFuture<S, E, B, R>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let config = &self.shared.config;
        if !config.protects(request.method()) {
            return ResponseFuture::untouched(self.inner.call(request));
        }
        let (parts, body) = request.into_parts();
        let operation = match operation(config, &parts) {
            Ok(Some(operation)) => operation,
            Ok(None) => {
                let request = Request::from_parts(parts, body);
                return ResponseFuture::untouched(self.inner.call(request));
            }
            Err(problem) => {
                let refused = ResponseFuture::refused(problem, config);
                self.give_back();
                return refused;
            }
        };
        // Readiness is not kept while the body is read and the store is asked: the readied
        // instance goes, with what it reserved, and the handler gets a clone that gets ready when
        // its turn has come.
        self.give_back();
        let service = self.inner.clone();
        ResponseFuture::reading(service, parts, body, operation, Arc::clone(&self.shared))
    }
}

/// Which operation a request is. None: it has no key and needs none.
fn operation(config: &IdempotencyConfig, parts: &Parts) -> Result<Option<Operation>, Problem> {
    let header = config.header();
    let key = match Key::from_headers(&parts.headers, header, config.syntax()) {
        Ok(Some(key)) => key,
        Ok(None) if config.key_policy() == KeyPolicy::Optional => return Ok(None),
        Ok(None) => {
            let detail = format!("this route requires the header `{header}`");
            return Err(Problem::new(Code::KeyMissing, detail));
        }
        Err(invalid) => {
            let detail = format!("header `{header}`: {invalid}");
            return Err(Problem::new(Code::KeyMalformed, detail));
        }
    };
    let scope = match config.scope_of(parts) {
        Some(scope) => scope,
        None if config.anonymous_keys() == AnonymousKeys::Refuse => {
            let detail = "a key belongs to a caller, and this request has none that is known";
            return Err(Problem::new(Code::ScopeMissing, detail));
        }
        None if key.as_str().len() < ANONYMOUS_KEY_LENGTH => {
            let detail = format!(
                "header `{header}`: {:?} has fewer than the {ANONYMOUS_KEY_LENGTH} characters \
                 that an anonymous key needs",
                key.to_header(KeyFormat::default()),
            );
            return Err(Problem::new(Code::KeyMalformed, detail));
        }
        None => "".into(),
    };
    Ok(Some(Operation::new(config.namespace_handle(), scope, &key)))
}

impl<S: Clone, E> Clone for Protected<S, E> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<S: fmt::Debug, E> fmt::Debug for Protected<S, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Protected")
            .field("inner", &self.inner)
            .field("config", &self.shared.config)
            .finish()
    }
}
