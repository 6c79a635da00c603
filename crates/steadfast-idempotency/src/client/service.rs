use std::sync::Arc;
use std::task::{Context, Poll};

use http::Request;
use steadfast_core::order::enter;
use steadfast_core::{BoxError, CallKey, CallState, Deadline, LayerKind};
use tokio::time::Instant;
use tower_service::Service;

use crate::client::choice::{Choice, choose};
use crate::client::config::Terms;
use crate::client::{KeyConfig, ResponseFuture};
use crate::operation_key::of_uuid;
use crate::{Key, OperationKey};

/// Gives each call on a declared route its key; see [`KeyLayer`](crate::client::KeyLayer).
///
/// Answers and errors of the inner service pass on, errors boxed. A call that is refused does not
/// reach it.
#[derive(Clone, Debug)]
pub struct WithKey<S> {
    inner: S,
    config: Arc<KeyConfig>,
}

impl<S> WithKey<S> {
    /// Puts keys on what goes to `inner`.
    pub fn new(inner: S, config: KeyConfig) -> Self {
        Self::shared(inner, Arc::new(config))
    }

    /// The inner service.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }

    pub(super) const fn shared(inner: S, config: Arc<KeyConfig>) -> Self {
        Self { inner, config }
    }
}

impl<S, B> Service<Request<B>> for WithKey<S>
where
    S: Service<Request<B>, Error: Into<BoxError>>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    #[inline(never)]
    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let _entered = enter(LayerKind::Key);
        if let Some(terms) = self.config.terms(&request) {
            if let Err(error) = prepare(&mut request, &terms) {
                return ResponseFuture::refused(error);
            }
        }
        self.send(request)
    }
}

impl<S> WithKey<S> {
    /// In a function of its own that holds nothing besides, so that the inner future, which may be
    /// large, is made where it stays: what has to be dropped on a panic makes the compiler move it.
    #[inline(never)]
    fn send<B>(&mut self, request: Request<B>) -> ResponseFuture<S::Future>
    where
        S: Service<Request<B>>,
    {
        ResponseFuture::sent(self.inner.call(request))
    }
}

fn prepare<B>(request: &mut Request<B>, terms: &Terms<'_>) -> Result<(), BoxError> {
    let state = CallState::of(request.extensions());
    let repeat = state
        .and_then(CallState::attempt)
        .is_some_and(|attempt| attempt.number > 1);
    let operation = request.extensions().get::<OperationKey>();
    let fresh = || of_uuid(uuid::Uuid::new_v4());
    let key = match choose(operation, request.headers(), terms, repeat, fresh)? {
        Choice::Leave => return Ok(()),
        Choice::Keep(key) => key,
        Choice::Put(key) => {
            let value = key.to_header(terms.format);
            // `insert` would panic on a map that is full, at 32,768 fields.
            request.headers_mut().try_insert(terms.header, value)?;
            key
        }
    };
    mark(request, key, terms);
    Ok(())
}

/// The mark by which retry knows that a repeat is recognised, and until when.
///
/// A caller that stored its key may have set an earlier end itself: its first sending may be
/// days ago, and the layer knows this call only.
fn mark<B>(request: &mut Request<B>, key: Key, terms: &Terms<'_>) {
    let lives_until = match terms.lifetime {
        Some(lifetime) => Deadline::after(Instant::now().into_std(), lifetime),
        None => Deadline::NONE,
    };
    CallState::edit(request.extensions_mut(), |state| {
        let said = match state.key() {
            Some(known) if known.as_str() == key.as_str() => known.lives_until(),
            _ => Deadline::NONE,
        };
        state.set_key(CallKey::new(key).with_lives_until(lives_until.earliest(said)));
    });
}
