use bytes::Buf;
use http::{Request, Response};
use http_body::Body;
use steadfast_core::BoxError;
use steadfast_hyper::LeafBody;
use tower_service::Service;

/// What a [`Client`](crate::Client) sends through: implemented for every service that fits.
///
/// A struct of yours names the type of its stack, or boxes it, and needs no other bound:
///
/// ```
/// use http::{Request, Response};
/// use steadfast_core::BoxError;
/// use steadfast_hyper::LeafBody;
/// use steadfast_reqwest::{Client, Leaf, Stack};
/// use tower::ServiceExt;
/// use tower::util::BoxCloneSyncService;
///
/// struct Till<S> {
///     client: Client<S>,
/// }
///
/// impl<S: Stack> Till<S> {
///     async fn is_open(&self) -> bool {
///         self.client.get("http://till.example/open").send().await.is_ok()
///     }
/// }
///
/// type Boxed = BoxCloneSyncService<Request<LeafBody>, Response<reqwest::Body>, BoxError>;
///
/// let leaf = ServiceExt::<Request<LeafBody>>::map_err(Leaf::try_new()?, BoxError::from);
/// let till = Till { client: Client::new(Boxed::new(leaf)) };
/// # let _ = Till::is_open(&till);
/// # Ok::<(), reqwest::Error>(())
/// ```
///
/// The compiler says of anything else "a `Client` cannot send through `..`", and what can be:
///
/// ```compile_fail
/// # async fn sends() {
/// // A client of reqwest's own stands below a `Leaf`.
/// let client = steadfast_reqwest::Client::new(reqwest::Client::new());
/// client.get("http://till.example/open").send().await;
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "a `Client` cannot send through `{Self}`",
    label = "not a stack",
    note = "a stack is `Clone` and a `Service` of `http::Request<LeafBody>` that answers with \
            `http::Response<_>`: layers over a `steadfast_reqwest::Leaf`, for one"
)]
pub trait Stack:
    Service<Request<LeafBody>, Response = Response<Self::Answer>, Error: Into<BoxError>> + Clone
{
    /// The body of its answers.
    type Answer: Body<Data: Buf, Error: Into<BoxError>>;
}

// Without it a missing bound is told as one of `Service`, of which nobody has heard here.
#[diagnostic::do_not_recommend]
impl<S, R> Stack for S
where
    S: Service<Request<LeafBody>, Response = Response<R>, Error: Into<BoxError>> + Clone,
    R: Body<Data: Buf, Error: Into<BoxError>>,
{
    type Answer = R;
}
