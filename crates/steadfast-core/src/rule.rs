use http::{Extensions, HeaderMap, Method, StatusCode, Uri};

use crate::{Endpoint, Preconditions, Safety};

/// What the documentation of an API says about some of its routes, beyond what HTTP says.
///
/// ```
/// use http::{Method, StatusCode};
/// use steadfast_core::{Endpoint, Preconditions, RouteRule, Safety};
///
/// // A search that is a POST, and a fresh object that not every replica has yet.
/// let search = RouteRule::on(Endpoint::new("search.example", "/query")?)
///     .for_methods([Method::POST])
///     .with_safety(Safety::Safe);
/// let fresh = RouteRule::on(Endpoint::new("store.example", "/objects/{id}")?)
///     .for_methods([Method::GET])
///     .with_retried_status(StatusCode::NOT_FOUND);
/// // Somebody else may change the same object in between.
/// let objects = RouteRule::on(Endpoint::all_of("storage.example")?)
///     .with_preconditions(Preconditions::google_cloud_storage())
///     .with_put_needing_precondition();
/// # let _ = (search, fresh, objects);
/// # Ok::<(), steadfast_core::InvalidEndpoint>(())
/// ```
#[derive(Clone, Debug)]
pub struct RouteRule {
    endpoint: Endpoint,
    methods: Option<Box<[Method]>>,
    safety: Option<Safety>,
    retried: Vec<StatusCode>,
    preconditions: Preconditions,
    put_needs_precondition: bool,
    overload_is_unprocessed: bool,
}

impl RouteRule {
    /// A rule about these routes, for all methods, that says nothing yet.
    pub const fn on(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            methods: None,
            safety: None,
            retried: Vec::new(),
            preconditions: Preconditions::new(),
            put_needs_precondition: false,
            overload_is_unprocessed: false,
        }
    }

    /// For these methods only.
    #[must_use]
    pub fn for_methods(mut self, methods: impl IntoIterator<Item = Method>) -> Self {
        self.methods = Some(methods.into_iter().collect());
        self
    }

    /// Sets what a repeat may do, whatever the method is. What the caller says of one request
    /// wins over it.
    #[must_use]
    pub const fn with_safety(mut self, safety: Safety) -> Self {
        self.safety = Some(safety);
        self
    }

    /// Adds a status that means "not yet" here, such as 404 for a fresh object or 409 for a
    /// conflict that passes. The peer did not act on such a request.
    #[must_use]
    pub fn with_retried_status(mut self, status: StatusCode) -> Self {
        self.retried.push(status);
        self
    }

    /// Sets the preconditions that the peer honours, beside those of RFC 9110.
    #[must_use]
    pub fn with_preconditions(mut self, preconditions: Preconditions) -> Self {
        self.preconditions = preconditions;
        self
    }

    /// Says that a PUT without a precondition is unprotected: a blind repeat can overwrite
    /// somebody else's change.
    #[must_use]
    pub const fn with_put_needing_precondition(mut self) -> Self {
        self.put_needs_precondition = true;
        self
    }

    /// Says that the peer sends 503 before it has done anything, so that every request may be
    /// repeated after it.
    #[must_use]
    pub const fn with_overload_unprocessed(mut self) -> Self {
        self.overload_is_unprocessed = true;
        self
    }

    /// What a repeat may do.
    pub const fn safety(&self) -> Option<Safety> {
        self.safety
    }

    /// The preconditions that the peer honours.
    pub const fn preconditions(&self) -> &Preconditions {
        &self.preconditions
    }

    /// Whether a PUT without a precondition is unprotected.
    pub const fn put_needs_precondition(&self) -> bool {
        self.put_needs_precondition
    }

    /// Whether this status says that the peer did not act and may be asked again.
    pub fn is_unprocessed(&self, status: StatusCode) -> bool {
        self.retried.contains(&status)
            || (self.overload_is_unprocessed && status == StatusCode::SERVICE_UNAVAILABLE)
    }

    /// Whether the rule is about this request.
    pub fn matches(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        extensions: &Extensions,
    ) -> bool {
        self.methods
            .as_ref()
            .is_none_or(|methods| methods.contains(method))
            && self.endpoint.matches(uri, headers, extensions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_about_its_methods_and_its_endpoint() {
        let endpoint = || Endpoint::new("a.example", "/x").unwrap();
        let all = RouteRule::on(endpoint());
        let gets = RouteRule::on(endpoint()).for_methods([Method::GET]);
        let matches = |rule: &RouteRule, method, uri| {
            rule.matches(
                &method,
                &Uri::from_static(uri),
                &HeaderMap::new(),
                &Extensions::new(),
            )
        };
        assert!(matches(&all, Method::POST, "http://a.example/x"));
        assert!(!matches(&all, Method::POST, "http://a.example/y"));
        assert!(matches(&gets, Method::GET, "http://a.example/x"));
        assert!(!matches(&gets, Method::POST, "http://a.example/x"));
    }

    #[test]
    fn statuses_are_retried_by_declaration_only() {
        let rule = RouteRule::on(Endpoint::all_of("*").unwrap());
        assert!(!rule.is_unprocessed(StatusCode::SERVICE_UNAVAILABLE));
        let rule = rule
            .with_retried_status(StatusCode::NOT_FOUND)
            .with_overload_unprocessed();
        assert!(rule.is_unprocessed(StatusCode::NOT_FOUND));
        assert!(rule.is_unprocessed(StatusCode::SERVICE_UNAVAILABLE));
        assert!(!rule.is_unprocessed(StatusCode::CONFLICT));
    }
}
