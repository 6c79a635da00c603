use std::time::Duration;

use http::{HeaderName, Method, Request};
use steadfast_core::{Endpoint, InvalidEndpoint, Safety};

use crate::KeyFormat;
use crate::client::KeySource;

/// A destination, methods and paths whose peer is known to recognise a repeat by its key.
///
/// - **Destination and path**: as an [`Endpoint`] has them. `"*"` is any destination: say it only
///   where every peer that the stack can reach honours keys.
/// - **Method**: never a safe one.
///
/// What a route says wins over the [`KeyConfig`](crate::client::KeyConfig).
///
/// ```
/// use std::time::Duration;
/// use steadfast_idempotency::{KeyFormat, client::Route};
///
/// let route = Route::post("api.stripe.com", "/v1/charges/{id}/capture")?
///     .with_format(KeyFormat::Raw)
///     .with_lifetime(Duration::from_secs(24 * 60 * 60));
/// # let _ = route;
/// assert_eq!(
///     Route::post("https://api.stripe.com", "/v1").unwrap_err().to_string(),
///     "'https://api.stripe.com' is not a destination: it must be a host with an optional port, \
///      or '*'",
/// );
/// # Ok::<(), steadfast_core::InvalidEndpoint>(())
/// ```
#[derive(Clone, Debug)]
pub struct Route {
    endpoint: Endpoint,
    methods: Methods,
    pub(super) header: Option<HeaderName>,
    pub(super) format: Option<KeyFormat>,
    pub(super) source: Option<KeySource>,
    pub(super) lifetime: Option<Duration>,
}

#[derive(Clone, Debug)]
enum Methods {
    One(Method),
    Writes,
}

impl Route {
    /// POST to these paths of this destination.
    ///
    /// # Errors
    ///
    /// When destination or path cannot be one.
    pub fn post(destination: &str, path: &str) -> Result<Self, InvalidEndpoint> {
        Self::new(Methods::One(Method::POST), destination, path)
    }

    /// PATCH to these paths of this destination.
    ///
    /// # Errors
    ///
    /// When destination or path cannot be one.
    pub fn patch(destination: &str, path: &str) -> Result<Self, InvalidEndpoint> {
        Self::new(Methods::One(Method::PATCH), destination, path)
    }

    /// POST and PATCH to these paths of this destination: the methods that the draft is for.
    ///
    /// # Errors
    ///
    /// When destination or path cannot be one.
    pub fn write(destination: &str, path: &str) -> Result<Self, InvalidEndpoint> {
        Self::new(Methods::Writes, destination, path)
    }

    /// Another method, such as DELETE, to these paths of this destination.
    ///
    /// # Errors
    ///
    /// When the method is safe (RFC 9110 §9.2.1), or destination or path cannot be one.
    pub fn method(method: Method, destination: &str, path: &str) -> Result<Self, InvalidEndpoint> {
        if Safety::of_method(&method) == Safety::Safe {
            return Err(InvalidEndpoint::new(
                "method for a key",
                method.as_str(),
                "it is safe",
            ));
        }
        Self::new(Methods::One(method), destination, path)
    }

    fn new(methods: Methods, destination: &str, path: &str) -> Result<Self, InvalidEndpoint> {
        Ok(Self {
            endpoint: Endpoint::new(destination, path)?,
            methods,
            header: None,
            format: None,
            source: None,
            lifetime: None,
        })
    }

    /// Sets the name of the field, where the peer has one of its own.
    #[must_use]
    pub fn with_header(mut self, header: HeaderName) -> Self {
        self.header = Some(header);
        self
    }

    /// Sets how the key is written.
    #[must_use]
    pub const fn with_format(mut self, format: KeyFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// Sets where the key may come from.
    #[must_use]
    pub const fn with_source(mut self, source: KeySource) -> Self {
        self.source = Some(source);
        self
    }

    /// Sets how long the peer remembers a key, from the call's start. `Duration::MAX`: for ever.
    #[must_use]
    pub const fn with_lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = Some(lifetime);
        self
    }

    pub(super) fn matches<B>(&self, request: &Request<B>) -> bool {
        let method = match &self.methods {
            Methods::One(one) => one == request.method(),
            Methods::Writes => matches!(*request.method(), Method::POST | Method::PATCH),
        };
        method
            && self
                .endpoint
                .matches(request.uri(), request.headers(), request.extensions())
    }
}

#[cfg(test)]
mod tests;
