//! The head of a call's request, to make those of later attempts of.

use std::sync::LazyLock;

use http::{Extensions, HeaderMap, Method, Request, Uri, Version, request};
use steadfast_core::CallState;

/// A copy of a request's head.
///
/// Most calls end with their first attempt, so what is empty is not copied: an empty map takes a
/// hundred bytes and its own time to make, to move and to drop.
pub(crate) struct Template {
    method: Method,
    uri: Uri,
    version: Version,
    headers: Option<HeaderMap>,
    beside: Beside,
}

/// What stands beside a request's head.
enum Beside {
    Nothing,
    /// What the layers tell each other, and nothing else: a copy of the map would be three
    /// allocations for it.
    State(Box<CallState>),
    All(Extensions),
}

/// A request's head, wherever it stands.
#[derive(Clone, Copy)]
pub(crate) struct HeadView<'a> {
    pub(crate) method: &'a Method,
    pub(crate) uri: &'a Uri,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) state: Option<&'a CallState>,
}

impl Template {
    #[inline(always)]
    pub(crate) fn of(head: &request::Parts) -> Self {
        Self {
            version: head.version,
            headers: match head.headers.is_empty() {
                true => None,
                false => Some(head.headers.clone()),
            },
            beside: match head.extensions.is_empty() {
                true => Beside::Nothing,
                false => Beside::of(&head.extensions),
            },
            method: head.method.clone(),
            uri: head.uri.clone(),
        }
    }

    /// The head again.
    pub(crate) fn head(&self) -> request::Parts {
        let (mut head, ()) = Request::new(()).into_parts();
        head.method.clone_from(&self.method);
        head.uri.clone_from(&self.uri);
        head.version = self.version;
        if let Some(headers) = &self.headers {
            head.headers.clone_from(headers);
        }
        match &self.beside {
            Beside::Nothing => {}
            Beside::State(state) => drop(head.extensions.insert((**state).clone())),
            Beside::All(all) => head.extensions.clone_from(all),
        }
        head
    }

    pub(crate) fn view(&self) -> HeadView<'_> {
        static NONE: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);
        HeadView {
            method: &self.method,
            uri: &self.uri,
            headers: self.headers.as_ref().unwrap_or_else(|| &NONE),
            state: match &self.beside {
                Beside::Nothing => None,
                Beside::State(state) => Some(state),
                Beside::All(all) => CallState::of(all),
            },
        }
    }
}

impl Beside {
    fn of(extensions: &Extensions) -> Self {
        match CallState::of(extensions) {
            Some(state) if extensions.len() == 1 => Self::State(Box::new(state.clone())),
            _ => Self::All(extensions.clone()),
        }
    }
}

impl<'a> From<&'a request::Parts> for HeadView<'a> {
    #[inline]
    fn from(head: &'a request::Parts) -> Self {
        Self {
            method: &head.method,
            uri: &head.uri,
            headers: &head.headers,
            state: CallState::of(&head.extensions),
        }
    }
}
