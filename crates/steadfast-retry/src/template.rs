//! The head of a call's request, to make those of later attempts of.

use std::sync::LazyLock;

use http::{Extensions, HeaderMap, Method, Request, Uri, Version, request};

/// A copy of a request's head.
///
/// Most calls end with their first attempt, so what is empty is not copied: an empty map takes a
/// hundred bytes and its own time to make, to move and to drop.
pub(crate) struct Template {
    method: Method,
    uri: Uri,
    version: Version,
    headers: Option<HeaderMap>,
    extensions: Option<Extensions>,
}

/// A request's head, wherever it stands.
#[derive(Clone, Copy)]
pub(crate) struct HeadView<'a> {
    pub(crate) method: &'a Method,
    pub(crate) uri: &'a Uri,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) extensions: &'a Extensions,
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
            extensions: match head.extensions.is_empty() {
                true => None,
                false => Some(head.extensions.clone()),
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
        if let Some(extensions) = &self.extensions {
            head.extensions.clone_from(extensions);
        }
        head
    }

    pub(crate) fn view(&self) -> HeadView<'_> {
        static NONE: LazyLock<(HeaderMap, Extensions)> = LazyLock::new(Default::default);
        HeadView {
            method: &self.method,
            uri: &self.uri,
            headers: self.headers.as_ref().unwrap_or_else(|| &NONE.0),
            extensions: self.extensions.as_ref().unwrap_or_else(|| &NONE.1),
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
            extensions: &head.extensions,
        }
    }
}
