//! Which key a call carries: pure, given what the request brings.

use std::error::Error;
use std::fmt;

use http::HeaderMap;
use steadfast_core::{BoxError, Reason, Rejected};

use crate::client::KeySource;
use crate::client::config::Terms;
use crate::{Key, KeySyntax, OperationKey};

/// What the layer does with a request on a declared route.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// Mark the call with the key that is in the header; leave the header as it is.
    Keep(Key),
    /// Write the header and mark the call.
    Put(Key),
    /// The header is there and holds no key: it is not ours to change, and a peer may well
    /// ignore it, so the call must not count as protected.
    Leave,
}

/// `fresh` is asked for a key only when the call brings none and may have one made. `repeat` says
/// that a loop further out has sent this call before: what it carried then is not known here, so
/// a fresh key would be a second one.
pub(super) fn choose(
    operation: Option<&OperationKey>,
    headers: &HeaderMap,
    terms: &Terms<'_>,
    repeat: bool,
    fresh: impl FnOnce() -> Key,
) -> Result<Choice, BoxError> {
    let present = headers.contains_key(terms.header);
    // The caller wrote it for its peer, so either spelling can be right.
    let key = Key::from_headers(headers, terms.header, KeySyntax::Lenient)
        .ok()
        .flatten();
    match (operation, key) {
        (Some(operation), Some(key)) if key == *operation.as_key() => Ok(Choice::Keep(key)),
        (Some(_), _) if present => Err(KeyClash::new().into()),
        (Some(operation), _) => Ok(Choice::Put(operation.as_key().clone())),
        (None, Some(key)) => Ok(Choice::Keep(key)),
        (None, None) if terms.source == KeySource::RequireExplicit => Err(key_required()),
        (None, None) if present => Ok(Choice::Leave),
        (None, None) if repeat => Err(key_required()),
        (None, None) => Ok(Choice::Put(fresh())),
    }
}

fn key_required() -> BoxError {
    Rejected::new(Reason::KeyRequired).into()
}

/// The request was not sent: it carries an `OperationKey` and another key in its header.
///
/// Neither may replace the other, since the caller meant both. The source is a [`Rejected`] with
/// [`Reason::KeyRequired`]: one key is required.
#[derive(Debug)]
pub struct KeyClash(Rejected);

impl KeyClash {
    const fn new() -> Self {
        Self(Rejected::new(Reason::KeyRequired))
    }
}

impl fmt::Display for KeyClash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request's operation key and its idempotency header differ")
    }
}

impl Error for KeyClash {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::{IDEMPOTENCY_KEY, KeyFormat};

    /// What becomes of a call with this operation key and these header lines.
    fn chosen(op: Option<&str>, lines: &[&'static str], source: KeySource, repeat: bool) -> String {
        let op = op.map(|text| OperationKey::parse(text).unwrap());
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(IDEMPOTENCY_KEY, HeaderValue::from_static(line));
        }
        let header = &IDEMPOTENCY_KEY;
        let terms = Terms {
            header,
            format: KeyFormat::Raw,
            source,
            lifetime: None,
        };
        let fresh = || Key::parse("fresh").unwrap();
        match choose(op.as_ref(), &headers, &terms, repeat, fresh) {
            Ok(Choice::Keep(key)) => format!("keep {key}"),
            Ok(Choice::Put(key)) => format!("put {key}"),
            Ok(Choice::Leave) => "leave".to_owned(),
            Err(error) if error.is::<KeyClash>() => {
                assert_eq!(
                    Rejected::find(&*error).unwrap().reason(),
                    Reason::KeyRequired
                );
                "clash".to_owned()
            }
            Err(error) => Rejected::find(&*error).unwrap().reason().to_string(),
        }
    }

    #[test]
    fn the_key_comes_from_the_caller_if_it_brings_one() {
        use KeySource::{Generate, RequireExplicit};
        let unreadable: &[&[&str]] = &[&["a", "b"], &["\"a"], &[""], &["\"\""]];
        for (op, lines, generate, explicit, repeat) in [
            (None, &[][..], "put fresh", "key_required", "key_required"),
            (None, &["\"h\""], "keep h", "keep h", "keep h"),
            (None, &["h"], "keep h", "keep h", "keep h"),
            (Some("op"), &[], "put op", "put op", "put op"),
            (Some("op"), &["op"], "keep op", "keep op", "keep op"),
            (Some("op"), &["\"op\""], "keep op", "keep op", "keep op"),
            (Some("op"), &["h"], "clash", "clash", "clash"),
        ] {
            assert_eq!(
                chosen(op, lines, Generate, false),
                generate,
                "{op:?} {lines:?}"
            );
            assert_eq!(
                chosen(op, lines, RequireExplicit, false),
                explicit,
                "{op:?} {lines:?}"
            );
            assert_eq!(
                chosen(op, lines, Generate, true),
                repeat,
                "{op:?} {lines:?}"
            );
        }
        for lines in unreadable {
            assert_eq!(chosen(None, lines, Generate, false), "leave", "{lines:?}");
            assert_eq!(
                chosen(None, lines, RequireExplicit, false),
                "key_required",
                "{lines:?}"
            );
            assert_eq!(
                chosen(Some("op"), lines, Generate, false),
                "clash",
                "{lines:?}"
            );
        }
    }
}
