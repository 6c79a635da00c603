use std::time::{Duration, SystemTime};

use uuid::{Uuid, Variant};

use crate::Key;

/// When the key was made, if it says so itself.
///
/// Only the hyphenated form counts: 32 hexadecimal digits may be any hash, and one of 64 would look
/// like a UUID of version 7.
pub(crate) fn made_at(key: &Key) -> Option<SystemTime> {
    const HYPHENATED: usize = 36;
    let text = key.as_str();
    let uuid = (text.len() == HYPHENATED).then(|| Uuid::try_parse(text));
    let uuid = uuid.and_then(Result::ok)?;
    if uuid.get_version_num() != 7 || uuid.get_variant() != Variant::RFC4122 {
        return None;
    }
    let millis = uuid.as_u128() >> 80;
    let since = Duration::from_millis(u64::try_from(millis).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since)
}

/// Whether the key was made before what is remembered began.
pub(crate) fn is_older(key: &Key, now: SystemTime, retention: Duration) -> bool {
    let made = made_at(key);
    let age = made.and_then(|made| now.duration_since(made).ok());
    age.is_some_and(|age| age > retention)
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 9562 A.6: 2022-02-22T19:22:22.000Z.
    const RFC: &str = "017F22E2-79B0-7CC3-98C4-DC0C0C07398F";
    const MADE: Duration = Duration::from_millis(0x017f_22e2_79b0);

    fn key(text: &str) -> Key {
        Key::parse(text).unwrap()
    }

    #[test]
    fn a_time_ordered_key_says_when_it_was_made() {
        let made = SystemTime::UNIX_EPOCH + MADE;
        assert_eq!(made_at(&key(RFC)), Some(made));
        assert_eq!(made_at(&key(&RFC.to_lowercase())), Some(made));
        for other in [
            "017F22E279B07CC398C4DC0C0C07398F",
            "{017F22E2-79B0-7CC3-98C4-DC0C0C0739}",
            "017F22E2-79B0-4CC3-98C4-DC0C0C07398F",
            "017F22E2-79B0-7CC3-18C4-DC0C0C07398F",
            "order-7",
        ] {
            assert_eq!(made_at(&key(other)), None, "{other}");
        }
    }

    #[test]
    fn a_key_is_old_only_after_the_whole_retention() {
        let made = SystemTime::UNIX_EPOCH + MADE;
        let retention = Duration::from_secs(10);
        let rows = [
            (made + retention, false),
            (made + retention + Duration::from_millis(1), true),
            (made, false),
            // A client's clock that runs ahead proves nothing.
            (made - retention, false),
        ];
        for (now, old) in rows {
            assert_eq!(is_older(&key(RFC), now, retention), old, "{now:?}");
        }
        let forever = made + Duration::from_secs(1 << 40);
        assert!(!is_older(&key("order-7"), forever, Duration::ZERO));
        assert!(!is_older(&key(RFC), forever, Duration::MAX));
    }
}
