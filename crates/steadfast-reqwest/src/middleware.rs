use std::error::Error as StdError;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Buf;
use http::{Extensions, Request, Response};
use http_body::Body;
use reqwest::ResponseBuilderExt;
use reqwest_middleware::{Error, Middleware, Next};
use steadfast_core::BoxError;
use tower_layer::Layer;
use tower_service::Service;

use crate::body::outgoing;

type Answer = Response<reqwest::Body>;
/// Foreign futures without names, and one for a call of a whole stack of layers.
type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Layers as a middleware of the crate `reqwest-middleware`: all that is attached after it, and the
/// client, stand below the layers, and are called once for each attempt.
///
/// What the caller puts on its request with `with_extension` (an `OperationKey`, a `LimitOverride`,
/// a `CallState`) reaches the layers. Below them each attempt has its own copy of those extensions:
/// what a middleware further in adds to them is not seen further out.
///
/// The client is to be one of [`client_builder`](crate::client_builder), and no other middleware
/// may repeat: of two loops the attempts multiply.
///
/// ```
/// use reqwest_middleware::ClientBuilder;
/// use steadfast_reqwest::{Layered, ReqwestClassify, client_builder};
/// use steadfast_retry::{RetryConfig, RetryLayer};
///
/// let retry = RetryLayer::new(RetryConfig::default().with_classify(ReqwestClassify));
/// let client = ClientBuilder::new(client_builder().build()?)
///     .with(Layered::new(retry))
///     .build();
/// # let _ = client;
/// # Ok::<(), reqwest::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Layered<L> {
    layer: L,
}

impl<L> Layered<L> {
    /// These layers as a middleware. The layer's value owns its state, as everywhere: clones of it
    /// in other clients share it.
    pub const fn new(layer: L) -> Self {
        Self { layer }
    }
}

#[async_trait::async_trait]
impl<L> Middleware for Layered<L>
where
    L: for<'a> MiddlewareLayer<'a>,
{
    async fn handle(
        &self,
        request: reqwest::Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<reqwest::Response> {
        let mut request = Request::try_from(request)?;
        request.extensions_mut().extend(extensions.clone());
        let leaf = NextLeaf {
            next,
            extensions: extensions.clone(),
        };
        let answer = self.layer.send(leaf, request).await.map_err(ended)?;
        Ok(reqwest::Response::from(answer))
    }
}

/// What [`Layered`] takes: implemented for every layer that fits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand in a middleware",
    label = "not a layer over `NextLeaf`",
    note = "a layer that is `Send`, `Sync` and `'static`, and whose service takes \
            `http::Request<reqwest::Body>` and answers with `http::Response<_>`"
)]
pub trait MiddlewareLayer<'a>: Send + Sync + 'static {
    /// Sends a request through a service of this layer around `leaf`.
    fn send(
        &self,
        leaf: NextLeaf<'a>,
        request: Request<reqwest::Body>,
    ) -> BoxFuture<'a, Result<Answer, BoxError>>;
}

#[diagnostic::do_not_recommend]
impl<'a, L, S, R> MiddlewareLayer<'a> for L
where
    L: Layer<NextLeaf<'a>, Service = S> + Send + Sync + 'static,
    S: Service<Request<reqwest::Body>, Response = Response<R>> + Send + 'a,
    S::Error: Into<BoxError> + Send,
    S::Future: Send,
    R: Body<Data: Buf, Error: Into<BoxError>> + Send + 'static,
{
    fn send(
        &self,
        leaf: NextLeaf<'a>,
        request: Request<reqwest::Body>,
    ) -> BoxFuture<'a, Result<Answer, BoxError>> {
        let mut stack = self.layer(leaf);
        Box::pin(async move {
            let ready = poll_fn(|cx| stack.poll_ready(cx)).await;
            ready.map_err(Into::into)?;
            let answer = stack.call(request).await.map_err(Into::into)?;
            Ok(answer.map(outgoing))
        })
    }
}

/// The rest of a client's middlewares as the innermost service of [`Layered`]'s layers.
#[derive(Clone)]
pub struct NextLeaf<'a> {
    next: Next<'a>,
    extensions: Extensions,
}

impl<'a, B> Service<Request<B>> for NextLeaf<'a>
where
    B: Body<Data: Buf, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Answer;
    /// reqwest's own error, or what a middleware further in made.
    type Error = BoxError;
    type Future = BoxFuture<'a, Result<Answer, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let Self {
            next,
            mut extensions,
        } = self.clone();
        let request = reqwest::Request::try_from(request.map(outgoing));
        Box::pin(async move {
            let answer = next.run(request?, &mut extensions).await.map_err(bare)?;
            // The conversion forgets it, and the caller may ask for it.
            let url = Response::builder().url(answer.url().clone()).body(());
            let mut answer = Answer::from(answer);
            if let Ok(url) = url {
                answer
                    .extensions_mut()
                    .extend(url.into_parts().0.extensions);
            }
            Ok(answer)
        })
    }
}

impl fmt::Debug for NextLeaf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextLeaf").finish_non_exhaustive()
    }
}

/// reqwest-middleware's error is transparent: it would hide the type that decides.
fn bare(error: Error) -> BoxError {
    match error {
        Error::Reqwest(error) => error.into(),
        Error::Middleware(error) => error.into(),
    }
}

fn ended(error: BoxError) -> Error {
    match error.downcast::<reqwest::Error>() {
        Ok(error) => Error::Reqwest(*error),
        Err(error) => Error::middleware(Ended(error)),
    }
}

/// The end of a call through layers, as an error whose source is what the layers said: a
/// transparent error around that would hide its type.
#[derive(Debug)]
struct Ended(BoxError);

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the call failed")
    }
}

impl StdError for Ended {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.0)
    }
}
