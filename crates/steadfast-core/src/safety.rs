use http::{HeaderMap, Method, header};

/// What a repeat of this request may do.
///
/// Decided by the first that applies: explicit on the request ([`CallState::safety`]), a rule of
/// the policy, a key that a `KeyLayer` put or found, a precondition (on methods that are not
/// safe), the method (RFC 9110 §9.2.1 and §9.2.2). See [`Safety::decide`].
///
/// [`CallState::safety`]: crate::CallState::safety
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Safety {
    /// The request changes nothing: GET, HEAD, OPTIONS, TRACE.
    Safe,
    /// A repeat has the same intended effect as one sending: PUT, DELETE.
    Idempotent,
    /// The peer is declared to recognise a repeat by its idempotency key.
    Keyed,
    /// A precondition makes the peer refuse a repeat whose first sending took effect.
    Conditional,
    /// Nothing is known to stop a second effect.
    Unprotected,
}

/// What is known about a request when its [`Safety`] is decided.
#[derive(Clone, Copy, Debug, Default)]
pub struct SafetySources {
    /// Said by the caller for this request.
    pub explicit: Option<Safety>,
    /// Said by a rule of the policy for the request's destination, method and path.
    pub rule: Option<Safety>,
    /// Whether a `KeyLayer` put or found a key on a route that is declared to honour keys.
    pub keyed: bool,
}

impl Safety {
    /// The safety of a request with this method, these headers and these sources.
    ///
    /// ```
    /// use http::{HeaderMap, Method};
    /// use steadfast_core::{Safety, SafetySources};
    ///
    /// let none = HeaderMap::new();
    /// let sources = SafetySources::default();
    /// assert_eq!(Safety::decide(sources, &Method::PUT, &none), Safety::Idempotent);
    /// assert_eq!(Safety::decide(sources, &Method::POST, &none), Safety::Unprotected);
    ///
    /// let keyed = SafetySources { keyed: true, ..sources };
    /// assert_eq!(Safety::decide(keyed, &Method::POST, &none), Safety::Keyed);
    /// ```
    pub fn decide(sources: SafetySources, method: &Method, headers: &HeaderMap) -> Self {
        if let Some(said) = sources.explicit.or(sources.rule) {
            return said;
        }
        if sources.keyed {
            return Self::Keyed;
        }
        match Self::of_method(method) {
            Self::Safe => Self::Safe,
            _ if has_precondition(headers) => Self::Conditional,
            other => other,
        }
    }

    /// What the method alone says (RFC 9110 §9.2).
    ///
    /// An extension method is `Unprotected`.
    pub fn of_method(method: &Method) -> Self {
        match *method {
            Method::GET | Method::HEAD | Method::OPTIONS | Method::TRACE => Self::Safe,
            Method::PUT | Method::DELETE => Self::Idempotent,
            _ => Self::Unprotected,
        }
    }

    /// The name used in events, metrics and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Idempotent => "idempotent",
            Self::Keyed => "keyed",
            Self::Conditional => "conditional",
            Self::Unprotected => "unprotected",
        }
    }
}

/// RFC 9110 §13.1: the preconditions that fail once the first sending took effect.
///
/// `If-None-Match` protects only as `*` ("create, never replace"): with an entity tag it guards
/// reads of caches.
fn has_precondition(headers: &HeaderMap) -> bool {
    headers.contains_key(header::IF_MATCH)
        || headers.contains_key(header::IF_UNMODIFIED_SINCE)
        || headers
            .get(header::IF_NONE_MATCH)
            .is_some_and(|value| value.as_bytes() == b"*")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, http::HeaderValue::from_static(value));
        headers
    }

    #[test]
    fn first_source_that_applies_wins() {
        use Safety::*;
        let if_match = headers("if-match", "\"v1\"");
        let all = SafetySources {
            explicit: Some(Unprotected),
            rule: Some(Safe),
            keyed: true,
        };
        let rule = SafetySources {
            explicit: None,
            ..all
        };
        let keyed = SafetySources { rule: None, ..rule };
        let none = SafetySources::default();
        assert_eq!(Safety::decide(all, &Method::PUT, &if_match), Unprotected);
        assert_eq!(Safety::decide(rule, &Method::PUT, &if_match), Safe);
        assert_eq!(Safety::decide(keyed, &Method::PUT, &if_match), Keyed);
        assert_eq!(Safety::decide(none, &Method::PUT, &if_match), Conditional);
        assert_eq!(
            Safety::decide(none, &Method::PUT, &HeaderMap::new()),
            Idempotent
        );
    }

    #[test]
    fn a_precondition_adds_nothing_to_a_safe_method() {
        let sources = SafetySources::default();
        let conditional = headers("if-none-match", "*");
        assert_eq!(
            Safety::decide(sources, &Method::GET, &conditional),
            Safety::Safe
        );
    }

    #[test]
    fn only_preconditions_that_stop_a_second_effect_count() {
        let sources = SafetySources::default();
        for (name, value, want) in [
            ("if-match", "\"v1\"", Safety::Conditional),
            ("if-none-match", "*", Safety::Conditional),
            ("if-none-match", "\"v1\"", Safety::Unprotected),
            (
                "if-unmodified-since",
                "Wed, 21 Oct 2015 07:28:00 GMT",
                Safety::Conditional,
            ),
            (
                "if-modified-since",
                "Wed, 21 Oct 2015 07:28:00 GMT",
                Safety::Unprotected,
            ),
            ("idempotency-key", "\"k1\"", Safety::Unprotected),
        ] {
            let got = Safety::decide(sources, &Method::POST, &headers(name, value));
            assert_eq!(got, want, "{name}: {value}");
        }
    }

    #[test]
    fn methods_by_rfc_9110() {
        for (method, want) in [
            ("GET", Safety::Safe),
            ("HEAD", Safety::Safe),
            ("OPTIONS", Safety::Safe),
            ("TRACE", Safety::Safe),
            ("PUT", Safety::Idempotent),
            ("DELETE", Safety::Idempotent),
            ("POST", Safety::Unprotected),
            ("PATCH", Safety::Unprotected),
            ("CONNECT", Safety::Unprotected),
            ("get", Safety::Unprotected),
            ("PROPFIND", Safety::Unprotected),
        ] {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            assert_eq!(Safety::of_method(&method), want, "{method}");
        }
    }
}
