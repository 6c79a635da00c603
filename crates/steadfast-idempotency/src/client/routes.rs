use http::Request;
use steadfast_core::InvalidEndpoint;

use crate::client::Route;

/// The routes whose peers are declared to honour keys. Default: none.
///
/// The first that matches a request counts, so the special ones stand before the general.
///
/// ```
/// use steadfast_idempotency::client::{Route, Routes};
///
/// let routes = Routes::new()
///     .post("payments.example", "/charges")?
///     .with(Route::patch("payments.example", "/charges/{id}")?)
///     .any_write("ledger.example")?;
/// # let _ = routes;
/// # Ok::<(), steadfast_core::InvalidEndpoint>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Routes(Vec<Route>);

impl Routes {
    /// No route: nothing gets a key.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a route.
    #[must_use]
    pub fn with(mut self, route: Route) -> Self {
        self.0.push(route);
        self
    }

    /// Adds POST to these paths of this destination; see [`Route::post`].
    ///
    /// # Errors
    ///
    /// When destination or path cannot be one.
    pub fn post(self, destination: &str, path: &str) -> Result<Self, InvalidEndpoint> {
        Ok(self.with(Route::post(destination, path)?))
    }

    /// Adds PATCH to these paths of this destination; see [`Route::patch`].
    ///
    /// # Errors
    ///
    /// When destination or path cannot be one.
    pub fn patch(self, destination: &str, path: &str) -> Result<Self, InvalidEndpoint> {
        Ok(self.with(Route::patch(destination, path)?))
    }

    /// Adds POST and PATCH to every path of this destination.
    ///
    /// # Errors
    ///
    /// When the destination cannot be one.
    pub fn any_write(self, destination: &str) -> Result<Self, InvalidEndpoint> {
        Ok(self.with(Route::write(destination, "/{*any}")?))
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Route> {
        self.0.iter()
    }

    pub(super) fn find<B>(&self, request: &Request<B>) -> Option<&Route> {
        self.iter().find(|route| route.matches(request))
    }
}
