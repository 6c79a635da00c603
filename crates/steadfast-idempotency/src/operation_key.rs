use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{InvalidKey, Key};

/// The key of one logical operation, which its owner makes once and stores beside the
/// operation's own record *before* the first send.
///
/// A process that dies after sending finds the key in its record, sends again with it, and gets
/// the first answer. It travels as an extension of the request:
///
/// ```
/// use steadfast_idempotency::OperationKey;
///
/// let key = OperationKey::random();
/// // UPDATE orders SET charge_key = $key WHERE ...; COMMIT;
/// let mut request = http::Request::post("https://payments.example/charges").body(()).unwrap();
/// request.extensions_mut().insert(key);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationKey(Key);

impl OperationKey {
    /// A key that nobody else has: a random UUID (version 4, RFC 9562 §5.4).
    pub fn random() -> Self {
        Self(of_uuid(Uuid::new_v4()))
    }

    /// The key with this text, read back from a record or chosen from its primary key.
    ///
    /// # Errors
    ///
    /// When the text is no [`Key`].
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        Key::parse(text).map(Self)
    }

    /// The key of one step of this operation at the next hop: the same for the same step, and
    /// never this key itself.
    ///
    /// A UUID (version 8, RFC 9562 §5.8) out of the SHA-256 of key and step, so that neither the
    /// parent nor its sibling steps can be read from it, and peers that want a UUID get one.
    ///
    /// ```
    /// use steadfast_idempotency::OperationKey;
    ///
    /// let order = OperationKey::parse("order-7")?;
    /// assert_eq!(order.child("charge"), order.child("charge"));
    /// assert_ne!(order.child("charge"), order.child("refund"));
    /// # Ok::<(), steadfast_idempotency::InvalidKey>(())
    /// ```
    #[must_use]
    pub fn child(&self, step: &str) -> Self {
        derived("steadfast.child.1", [self.as_str(), step])
    }

    /// The operation of a caller whose key arrived with a request: a base for [`child`] keys.
    ///
    /// A caller's key is unique among that caller's only. Two callers that both chose `1` would
    /// share one charge at the next hop if the scope, who the caller is, were left out.
    ///
    /// [`child`]: Self::child
    #[must_use]
    pub fn scoped(scope: &str, key: &Key) -> Self {
        derived("steadfast.scoped.1", [scope, key.as_str()])
    }

    /// The key's text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The key as it goes on the wire.
    pub const fn as_key(&self) -> &Key {
        &self.0
    }
}

/// The parts are length-framed: ("ab", "c") and ("a", "bc") must differ.
fn derived(tag: &str, parts: [&str; 2]) -> OperationKey {
    let mut hash = Sha256::new();
    for part in [tag].into_iter().chain(parts) {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digest: [u8; 32] = hash.finalize().into();
    let mut head = [0; 16];
    head.copy_from_slice(&digest[..16]);
    OperationKey(of_uuid(Uuid::new_v8(head)))
}

pub(crate) fn of_uuid(uuid: Uuid) -> Key {
    let mut text = Uuid::encode_buffer();
    let text = uuid.hyphenated().encode_lower(&mut text);
    Key::parse(text).expect("36 hexadecimal digits and hyphens are a key")
}

impl FromStr for OperationKey {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        Self::parse(text)
    }
}

impl AsRef<str> for OperationKey {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for OperationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn random_keys_are_uuids_of_version_4_and_differ() {
        let (a, b) = (OperationKey::random(), OperationKey::random());
        assert_ne!(a, b);
        assert_eq!(Uuid::parse_str(a.as_str()).unwrap().get_version_num(), 4);
        assert_eq!(a.to_string().parse(), Ok(a));
    }

    /// Stored keys must stay valid: the derivation is part of the contract.
    #[test]
    fn children_are_the_same_in_every_release() {
        let order = OperationKey::parse("order-7").unwrap();
        assert_eq!(
            order.child("charge").as_str(),
            "de20d768-acec-8f67-8459-aa1aee31a132"
        );
        let scoped = OperationKey::scoped("merchant-1", order.as_key());
        assert_eq!(scoped.as_str(), "5bbc57b0-1b50-8dc8-9ecd-e89cef85c9bb");
        assert_eq!(
            Uuid::parse_str(scoped.as_str()).unwrap().get_version_num(),
            8
        );
    }

    #[test]
    fn children_differ_by_parent_step_and_depth() {
        let mut seen = HashSet::new();
        for parent in ["a", "ab", "abc", "6ba7b810-9dad-41d1-80b4-00c04fd430c8"] {
            let parent = OperationKey::parse(parent).unwrap();
            assert!(seen.insert(parent.clone()));
            for step in ["", "c", "bc", "charge", "charge/2", "ключ"] {
                assert!(seen.insert(parent.child(step)), "{parent} {step}");
                assert!(
                    seen.insert(parent.child(step).child(step)),
                    "{parent} {step} {step}"
                );
                assert!(seen.insert(OperationKey::scoped(step, parent.as_key())));
            }
        }
    }
}
