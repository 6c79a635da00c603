use http::Method;

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
    /// Whether the request carries a precondition; see [`Preconditions`](crate::Preconditions).
    pub conditional: bool,
    /// Whether a rule says that a PUT without a precondition may overwrite somebody else's change.
    pub put_needs_precondition: bool,
}

impl Safety {
    /// The safety of a request with this method and these sources.
    ///
    /// ```
    /// use http::Method;
    /// use steadfast_core::{Safety, SafetySources};
    ///
    /// let sources = SafetySources::default();
    /// assert_eq!(Safety::decide(sources, &Method::PUT), Safety::Idempotent);
    /// assert_eq!(Safety::decide(sources, &Method::POST), Safety::Unprotected);
    ///
    /// let keyed = SafetySources { keyed: true, ..sources };
    /// assert_eq!(Safety::decide(keyed, &Method::POST), Safety::Keyed);
    /// ```
    #[inline]
    pub fn decide(sources: SafetySources, method: &Method) -> Self {
        if let Some(said) = sources.explicit.or(sources.rule) {
            return said;
        }
        if sources.keyed {
            return Self::Keyed;
        }
        match Self::of_method(method) {
            Self::Safe => Self::Safe,
            _ if sources.conditional => Self::Conditional,
            _ if sources.put_needs_precondition && *method == Method::PUT => Self::Unprotected,
            other => other,
        }
    }

    /// What the method alone says (RFC 9110 §9.2).
    ///
    /// An extension method is `Unprotected`.
    #[inline]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_source_that_applies_wins() {
        use Safety::*;
        let all = SafetySources {
            explicit: Some(Unprotected),
            rule: Some(Safe),
            keyed: true,
            conditional: true,
            put_needs_precondition: true,
        };
        let rule = SafetySources {
            explicit: None,
            ..all
        };
        let keyed = SafetySources { rule: None, ..rule };
        let conditional = SafetySources {
            keyed: false,
            ..keyed
        };
        let bare = SafetySources {
            conditional: false,
            ..conditional
        };
        for (sources, put, post, get) in [
            (all, Unprotected, Unprotected, Unprotected),
            (rule, Safe, Safe, Safe),
            (keyed, Keyed, Keyed, Keyed),
            (conditional, Conditional, Conditional, Safe),
            (bare, Unprotected, Unprotected, Safe),
            (SafetySources::default(), Idempotent, Unprotected, Safe),
        ] {
            assert_eq!(Safety::decide(sources, &Method::PUT), put, "{sources:?}");
            assert_eq!(Safety::decide(sources, &Method::POST), post, "{sources:?}");
            assert_eq!(Safety::decide(sources, &Method::GET), get, "{sources:?}");
        }
        let delete = Safety::decide(bare, &Method::DELETE);
        assert_eq!(delete, Idempotent, "a DELETE overwrites nothing");
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
