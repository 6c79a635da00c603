//! What observers are told of a call.

use http::uri::Authority;
use http::{Method, Request};
use steadfast_core::{CallState, Preconditions, Safety, SafetySources, Subject, destination};

/// A call as observers know it, while its request is at hand.
pub(crate) fn subject<B>(request: &Request<B>) -> Subject<'_> {
    let (uri, headers) = (request.uri(), request.headers());
    let destination = destination(uri, headers, request.extensions());
    let state = CallState::of(request.extensions());
    let sources = SafetySources {
        explicit: state.and_then(CallState::safety),
        keyed: state.is_some_and(|state| state.key().is_some()),
        conditional: Preconditions::new().hold_for(uri, headers),
        ..SafetySources::default()
    };
    let safety = Safety::decide(sources, request.method());
    Subject::new(destination, request.method(), safety)
}

/// The same, kept for the time after the request was handed on.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    name: Name,
    method: Method,
    safety: Safety,
}

/// A handle where the URI names the destination, so that this allocates nothing.
#[derive(Clone, Debug)]
enum Name {
    Unknown,
    Uri(Authority),
    Other(Box<str>),
}

impl Told {
    pub(crate) fn of<B>(request: &Request<B>) -> Self {
        let subject = subject(request);
        let name = match (request.uri().authority(), subject.destination) {
            (Some(authority), _) => Name::Uri(authority.clone()),
            (None, Some(name)) => Name::Other(name.into()),
            (None, None) => Name::Unknown,
        };
        Self {
            name,
            method: request.method().clone(),
            safety: subject.safety,
        }
    }

    /// The method alone, where nobody looks.
    pub(crate) fn method_of<B>(request: &Request<B>) -> Self {
        let method = request.method().clone();
        let safety = Safety::of_method(&method);
        Self {
            name: Name::Unknown,
            method,
            safety,
        }
    }

    pub(crate) const fn method(&self) -> &Method {
        &self.method
    }

    pub(crate) fn subject(&self) -> Subject<'_> {
        let destination = match &self.name {
            Name::Unknown => None,
            Name::Uri(authority) => {
                let text = authority.as_str();
                // Never userinfo.
                Some(text.rsplit_once('@').map_or(text, |(_, host)| host))
            }
            Name::Other(name) => Some(&**name),
        };
        Subject::new(destination, &self.method, self.safety)
    }
}

#[cfg(test)]
mod tests {
    use http::header;

    use super::*;

    #[test]
    fn what_is_kept_says_the_same_as_the_request() {
        let mut named = Request::post("/entries").body(()).unwrap();
        CallState::edit(named.extensions_mut(), |state| {
            state.set_destination("ledger");
            state.set_safety(Safety::Idempotent);
        });
        let hosted = Request::get("/").header(header::HOST, "h.example:81");
        let conditional = Request::put("http://u:p@a.example/x").header(header::IF_MATCH, "\"1\"");
        for (request, destination, safety) in [
            (Request::default(), None, Safety::Safe),
            (named, Some("ledger"), Safety::Idempotent),
            (hosted.body(()).unwrap(), Some("h.example:81"), Safety::Safe),
            (
                conditional.body(()).unwrap(),
                Some("a.example"),
                Safety::Conditional,
            ),
        ] {
            let told = Told::of(&request);
            for subject in [subject(&request), told.subject()] {
                assert_eq!(subject.destination, destination);
                assert_eq!(subject.method, Some(request.method()));
                assert_eq!(subject.safety, safety);
            }
        }
    }
}
