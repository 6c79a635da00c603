//! The promises of a layer, each tried on it.

use std::fmt;

use bytes::{Buf, Bytes};
use http::{Request, Response};
use http_body::Body;
use tower_layer::Layer;
use tower_service::Service;

use crate::drive::Caught;
use crate::{BoxError, Chunks, Probe};

mod answers;
mod bounds;
mod calls;
mod clones;
mod drops;
mod errors;
mod promise;
mod rig;

pub use errors::Marked;
pub use promise::Promise;

/// The service below the layer: a probe that takes requests with bodies of type `B`.
pub type Inner<B> = Probe<Request<B>, Response<Chunks>>;

/// A layer, and what has to be known about it to try its promises.
///
/// Three types and two functions are enough; the other functions say what the layer does beyond
/// handing calls on. See [`assert_contract`].
pub trait Subject: Sync {
    /// The body of the requests that reach the inner service.
    type Sent: Body<Data: Buf + Send, Error: Into<BoxError>> + Send + 'static;
    /// The body of the layer's answers.
    type Answer: Body<Data = Bytes, Error: Into<BoxError>> + Send;
    /// The layer's service: at least `Clone` and `Send`, with futures that are `Send`.
    type Service: Service<
            Request<Chunks>,
            Response = Response<Self::Answer>,
            Error: Into<BoxError>,
            Future: Send,
        > + Clone
        + Send;
    /// The layer, which is shared by threads.
    type Layer: Layer<Inner<Self::Sent>, Service = Self::Service> + Clone + Send + Sync;

    /// A layer with a state of its own: each promise is tried on fresh ones.
    fn layer(&self) -> Self::Layer;

    /// A request that the layer hands on with this body. Default: a GET. Each request must be a
    /// new one to the layer: a fresh key, say, where it knows keys.
    fn request(&self, body: Chunks) -> Request<Chunks> {
        let mut request = Request::new(body);
        *request.uri_mut() = http::Uri::from_static("http://contract.example/");
        request
    }

    /// Endings of the first inner calls that make the layer call again, in this order. Default:
    /// none, it calls once.
    fn failures(&self) -> Vec<Result<Response<()>, BoxError>> {
        Vec::new()
    }

    /// Layers with each knob at its ends. What they do is their affair, if it ends, and without
    /// spinning. Default: none.
    fn extremes(&self) -> Vec<Self::Layer> {
        Vec::new()
    }

    /// Promises that the layer's documentation says it does not make, each with the reason. It is
    /// an error to except one that is kept. Default: none.
    fn excepted(&self) -> Vec<(Promise, &'static str)> {
        Vec::new()
    }

    /// Whether inner calls go on after the caller has left, up to their own end. Default: no.
    fn works_on(&self) -> bool {
        false
    }

    /// Looks at what is the subject's own (a budget, say) after a call of its latest layer was
    /// dropped; panics where something leaked. Default: nothing.
    fn released(&self, inner: &Inner<Self::Sent>) {
        let _ = inner;
    }
}

/// Tries every promise on a layer; to be called on a runtime with a paused clock.
///
/// # Panics
///
/// When promises are broken, or excepted without need; the text names each one.
pub async fn assert_contract<S: Subject>(subject: &S) {
    let broken = broken_promises(subject).await;
    assert!(
        broken.is_empty(),
        "the layer breaks its contract:{}",
        broken
            .iter()
            .map(|it| format!("\n- {it}"))
            .collect::<String>()
    );
}

/// Tries every promise on a layer and says which of them do not hold, and how that was seen.
pub async fn broken_promises<S: Subject>(subject: &S) -> Vec<Broken> {
    let excepted = subject.excepted();
    let mut broken = Vec::new();
    for promise in Promise::ALL {
        let found = Caught(Box::pin(promise.try_on(subject))).await;
        let reason = excepted.iter().find(|(it, _)| *it == promise);
        let seen = match (found, reason) {
            (Err(seen), None) => seen,
            (Ok(()), Some((_, reason))) => format!("kept, although excepted: {reason}"),
            _ => continue,
        };
        broken.push(Broken { promise, seen });
    }
    broken
}

/// A promise that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Which one.
    pub promise: Promise,
    /// How that was seen.
    pub seen: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.promise, self.seen)
    }
}
