//! The grammar of an idempotency key and of the field that carries it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use http::header::{HeaderMap, HeaderName, HeaderValue};
use sfv::{BareItem, Item, ItemSerializer, Parser, StringRef};

mod invalid;

pub use invalid::InvalidKey;
use invalid::Rule;

/// The field that carries the key: draft-ietf-httpapi-idempotency-key-header.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Most characters of a key, after unescaping: what Stripe and most stores take.
const MAX_CHARS: usize = 255;

/// An idempotency key: 1 to 255 characters of printable ASCII (0x20 to 0x7E), not only blanks.
///
/// The quoted and the bare form on the wire name the same key. Cheap to clone.
///
/// ```
/// use steadfast_idempotency::{Key, KeyFormat};
///
/// let key = Key::parse("order-7/charge")?;
/// assert_eq!(key.to_header(KeyFormat::StructuredString), "\"order-7/charge\"");
/// assert_eq!(key.to_header(KeyFormat::Raw), "order-7/charge");
/// assert!(Key::parse("ключ").is_err());
/// # Ok::<(), steadfast_idempotency::InvalidKey>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

/// Which spellings of the field a reader takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeySyntax {
    /// A Structured Field Item that is a String (RFC 9651 §3.3.3); parameters are ignored.
    #[default]
    Strict,
    /// Bare keys too, as Stripe and Adyen take them: a value that does not begin with a quote is
    /// the key as it stands. No Structured Field token is looked for, since a UUID is one only if
    /// it begins with a letter.
    Lenient,
}

/// How a writer spells the field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeyFormat {
    /// A Structured Field String, as the draft demands: `"order-7"`.
    #[default]
    StructuredString,
    /// The key as it stands, for peers that take every byte for the key: `order-7`.
    ///
    /// A key that begins with a quote, or with a blank at an edge, would not be read back as
    /// itself; it is written as a string all the same, which is as distinct.
    Raw,
}

impl Key {
    /// The key with this text.
    ///
    /// # Errors
    ///
    /// When the text breaks the rule that [`Key`] states.
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        check(text.as_bytes())?;
        Ok(Self(text.into()))
    }

    /// The key in the field `name`; `None` where the field is absent.
    ///
    /// # Errors
    ///
    /// When the field is sent more than once, cannot be read by `syntax`, or holds no [`Key`].
    pub fn from_headers(
        headers: &HeaderMap,
        name: &HeaderName,
        syntax: KeySyntax,
    ) -> Result<Option<Self>, InvalidKey> {
        let mut lines = headers.get_all(name).iter();
        let Some(value) = lines.next() else {
            return Ok(None);
        };
        if lines.next().is_some() {
            return Err(InvalidKey::new(value.as_bytes(), Rule::Once));
        }
        Self::from_value(value.as_bytes(), syntax).map(Some)
    }

    fn from_value(value: &[u8], syntax: KeySyntax) -> Result<Self, InvalidKey> {
        // Optional white space around a field value is no part of it (RFC 9110 section 5.5).
        let value = value.trim_ascii();
        if syntax == KeySyntax::Lenient && !value.starts_with(b"\"") {
            return match std::str::from_utf8(value) {
                Ok(text) => Self::parse(text),
                Err(_) => Err(InvalidKey::new(value, Rule::Ascii)),
            };
        }
        match Parser::new(value).parse::<Item>() {
            Ok(Item {
                bare_item: BareItem::String(text),
                ..
            }) => Self::parse(text.as_str()),
            _ => Err(InvalidKey::new(value, Rule::StructuredString)),
        }
    }

    /// The field value that carries the key.
    pub fn to_header(&self, format: KeyFormat) -> HeaderValue {
        let text = self.as_str();
        let survives_bare = !text.starts_with(['"', ' ']) && !text.ends_with(' ');
        let value = if format == KeyFormat::Raw && survives_bare {
            HeaderValue::from_str(text).ok()
        } else {
            StringRef::from_str(text).ok().and_then(|text| {
                let quoted = ItemSerializer::new().bare_item(text).finish();
                HeaderValue::try_from(quoted).ok()
            })
        };
        // `check` let printable ASCII in and nothing else.
        value.expect("printable ASCII, quoted or not, is a field value")
    }

    /// The key's text, without quotes.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn check(text: &[u8]) -> Result<(), InvalidKey> {
    let broken = if text.is_empty() {
        Rule::NotEmpty
    } else if text.len() > MAX_CHARS {
        Rule::Length
    } else if !text.iter().all(|byte| (0x20..=0x7e).contains(byte)) {
        Rule::Ascii
    } else if text.iter().all(|&byte| byte == b' ') {
        Rule::NotBlank
    } else {
        return Ok(());
    };
    Err(InvalidKey::new(text, broken))
}

impl FromStr for Key {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        Self::parse(text)
    }
}

impl AsRef<str> for Key {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<Key> for Arc<str> {
    fn from(key: Key) -> Self {
        key.0
    }
}

#[cfg(test)]
mod tests;
