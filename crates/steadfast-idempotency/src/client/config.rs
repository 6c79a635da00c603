use std::time::Duration;

use http::{HeaderName, Request};

use crate::client::{Route, Routes};
use crate::{IDEMPOTENCY_KEY, KeyFormat};

/// What the key layer does, on which routes.
///
/// | knob | default |
/// |---|---|
/// | header | `idempotency-key` (the draft) |
/// | format | [`KeyFormat::StructuredString`] (the draft) |
/// | source | [`KeySource::Generate`] |
/// | lifetime | none: the peer remembers for ever |
///
/// A [`Route`] can say each of them for itself.
///
/// ```
/// use steadfast_idempotency::{IDEMPOTENCY_KEY, KeyFormat};
/// use steadfast_idempotency::client::{KeyConfig, KeySource, Routes};
///
/// let config = KeyConfig::new(Routes::new());
/// assert_eq!(config.header(), IDEMPOTENCY_KEY);
/// assert_eq!(config.format(), KeyFormat::StructuredString);
/// assert_eq!(config.source(), KeySource::Generate);
/// assert_eq!(config.lifetime(), None);
/// ```
#[derive(Clone, Debug)]
pub struct KeyConfig {
    routes: Routes,
    header: HeaderName,
    format: KeyFormat,
    source: KeySource,
    lifetime: Option<Duration>,
}

/// Where the key of a call may come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeySource {
    /// A call that brings no key gets a fresh UUID (version 4). It protects against repeats of
    /// this call, not against a process that dies and starts the operation again.
    #[default]
    Generate,
    /// A call must bring its key, as [`OperationKey`](crate::OperationKey) or as header, else it
    /// is refused with [`Reason::KeyRequired`](steadfast_core::Reason::KeyRequired): for payments,
    /// where the key must outlive the process.
    RequireExplicit,
}

/// What holds for one request.
#[derive(Debug)]
pub(super) struct Terms<'a> {
    pub(super) header: &'a HeaderName,
    pub(super) format: KeyFormat,
    pub(super) source: KeySource,
    pub(super) lifetime: Option<Duration>,
}

impl KeyConfig {
    /// The defaults, on these routes.
    pub const fn new(routes: Routes) -> Self {
        Self {
            routes,
            header: IDEMPOTENCY_KEY,
            format: KeyFormat::StructuredString,
            source: KeySource::Generate,
            lifetime: None,
        }
    }

    /// Sets the routes whose peers honour keys.
    #[must_use]
    pub fn with_routes(mut self, routes: Routes) -> Self {
        self.routes = routes;
        self
    }

    /// Sets the name of the field that carries the key.
    #[must_use]
    pub fn with_header(mut self, header: HeaderName) -> Self {
        self.header = header;
        self
    }

    /// Sets how the key is written.
    #[must_use]
    pub const fn with_format(mut self, format: KeyFormat) -> Self {
        self.format = format;
        self
    }

    /// Sets where the key may come from.
    #[must_use]
    pub const fn with_source(mut self, source: KeySource) -> Self {
        self.source = source;
        self
    }

    /// Sets how long the peers remember a key, from the call's start: no repeat is sent later.
    #[must_use]
    pub const fn with_lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = Some(lifetime);
        self
    }

    /// The routes whose peers honour keys.
    pub const fn routes(&self) -> &Routes {
        &self.routes
    }

    /// The name of the field that carries the key.
    pub const fn header(&self) -> &HeaderName {
        &self.header
    }

    /// How the key is written.
    pub const fn format(&self) -> KeyFormat {
        self.format
    }

    /// Where the key may come from.
    pub const fn source(&self) -> KeySource {
        self.source
    }

    /// How long the peers remember a key; `None`: for ever.
    pub const fn lifetime(&self) -> Option<Duration> {
        self.lifetime
    }

    /// The shortest time that any of the routes remembers a key; `None`: all of them for ever.
    pub fn shortest_lifetime(&self) -> Option<Duration> {
        let of_route = |route: &Route| route.lifetime.or(self.lifetime);
        self.routes.iter().filter_map(of_route).min()
    }

    /// `None` where the request's route is not declared.
    pub(super) fn terms<B>(&self, request: &Request<B>) -> Option<Terms<'_>> {
        let Route {
            header,
            format,
            source,
            lifetime,
            ..
        } = self.routes.find(request)?;
        Some(Terms {
            header: header.as_ref().unwrap_or(&self.header),
            format: format.unwrap_or(self.format),
            source: source.unwrap_or(self.source),
            lifetime: lifetime.or(self.lifetime),
        })
    }
}
