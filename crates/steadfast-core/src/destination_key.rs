use std::borrow::Cow;
use std::cell::RefCell;

use http::{Extensions, HeaderMap, Uri};

use crate::destination;
use crate::keyed::hash;

/// A destination as registries know it: in lower case, since hosts are the same in any case
/// (RFC 3986 §3.2.2), and with its hash, which several registries can use.
///
/// ```
/// use http::{Extensions, HeaderMap, Uri};
/// use steadfast_core::DestinationKey;
///
/// let uri = Uri::from_static("https://user@API.example:8443/v1");
/// let (headers, extensions) = (HeaderMap::new(), Extensions::new());
/// let key = DestinationKey::of(&uri, &headers, &extensions);
/// assert_eq!(key.as_str(), "api.example:8443");
/// assert_eq!(key, DestinationKey::new("Api.Example:8443"));
/// assert_eq!(DestinationKey::new("").as_str(), "");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DestinationKey<'a> {
    name: Cow<'a, str>,
    hash: u64,
}

/// The last authority that this thread came across, for the layers that a call passes one after
/// the other. It is compared by its bytes, so it holds for whatever comes next.
struct Last {
    text: [u8; LONGEST],
    len: u8,
    /// Where the host begins, after userinfo.
    host: u8,
    hash: u64,
}

/// Longer authorities are looked at anew each time.
const LONGEST: usize = 64;

thread_local! {
    static LAST: RefCell<Last> = const {
        RefCell::new(Last { text: [0; LONGEST], len: 0, host: 0, hash: 0 })
    };
}

impl Last {
    #[inline]
    fn is(&self, authority: &str) -> bool {
        self.text.get(..self.len.into()) == Some(authority.as_bytes())
    }
}

/// The authority without userinfo.
#[inline]
pub(crate) fn host(authority: &str) -> &str {
    LAST.with_borrow(|last| match last.is(authority) {
        true => &authority[last.host.into()..],
        false => {
            let userinfo = authority.bytes().rposition(|byte| byte == b'@');
            userinfo.map_or(authority, |at| &authority[at + 1..])
        }
    })
}

impl<'a> DestinationKey<'a> {
    /// The key of this name.
    pub fn new(name: &'a str) -> Self {
        let name = match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(name.to_ascii_lowercase()),
            false => Cow::Borrowed(name),
        };
        Self {
            hash: hash::of(&*name),
            name,
        }
    }

    /// The key of a request's [`destination`](crate::destination()); of the empty name where it has
    /// none.
    #[inline]
    pub fn of(uri: &'a Uri, headers: &'a HeaderMap, extensions: &'a Extensions) -> Self {
        let authority = uri.authority().map(|authority| authority.as_str());
        if let Some(known) = authority.and_then(Self::known) {
            return known;
        }
        let key = Self::new(destination(uri, headers, extensions).unwrap_or_default());
        if let Some(authority) = authority {
            key.remember(authority);
        }
        key
    }

    /// The name in lower case.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.name
    }

    #[inline]
    pub(crate) const fn hash(&self) -> u64 {
        self.hash
    }

    #[inline]
    fn known(authority: &'a str) -> Option<Self> {
        LAST.with_borrow(|last| {
            // Nothing was remembered of an empty one.
            (last.is(authority) && last.len > 0).then(|| Self {
                name: Cow::Borrowed(&authority[last.host.into()..]),
                hash: last.hash,
            })
        })
    }

    fn remember(&self, authority: &str) {
        // What had to be made lower is no part of the authority's text.
        let Cow::Borrowed(name) = self.name else {
            return;
        };
        let (len, host) = (authority.len(), authority.len() - name.len());
        LAST.with_borrow_mut(|last| {
            let place = last.text.get_mut(..len);
            let sizes = (u8::try_from(len), u8::try_from(host));
            if let (Some(place), (Ok(len), Ok(host))) = (place, sizes) {
                place.copy_from_slice(authority.as_bytes());
                (last.len, last.host, last.hash) = (len, host, self.hash);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use http::header;

    use super::*;

    fn of(uri: &str) -> String {
        let uri = uri.parse().unwrap();
        let (headers, extensions) = (HeaderMap::new(), Extensions::new());
        let key = DestinationKey::of(&uri, &headers, &extensions);
        assert_eq!(key.hash, hash::of(key.as_str()), "{uri}");
        key.as_str().to_owned()
    }

    #[test]
    fn what_came_before_says_nothing_about_what_comes_next() {
        let long = format!("http://{}.example/", "a".repeat(60));
        for _ in 0..2 {
            for (uri, name) in [
                ("http://a.example/", "a.example"),
                ("http://a.example:80/x", "a.example:80"),
                ("http://u:p@a.example/", "a.example"),
                ("http://A.example/", "a.example"),
                ("http://b.example/", "b.example"),
                ("/only/a/path", ""),
                (&*long, long[7..].trim_end_matches('/')),
            ] {
                for _ in 0..2 {
                    assert_eq!(of(uri), name);
                }
            }
        }
    }

    #[test]
    fn without_an_authority_host_and_name_are_not_remembered() {
        let uri = Uri::from_static("/");
        for host in ["a.example", "b.example"] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            let extensions = Extensions::new();
            let key = DestinationKey::of(&uri, &headers, &extensions);
            assert_eq!(key.as_str(), host);
        }
    }
}
