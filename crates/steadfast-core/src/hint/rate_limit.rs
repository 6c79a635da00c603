//! The `RateLimit` field of the IETF (draft-ietf-httpapi-ratelimit-headers).

use std::borrow::Cow;
use std::time::Duration;

use http::{HeaderMap, HeaderName};
use sfv::{BareItem, Item, List, ListEntry, Parser};

use super::Hint;

/// The field's name.
pub const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// The longest `t` of the policies that are used up.
///
/// The field is a list: each policy an item with `r`, what is left, and `t`, the seconds until
/// there is more. Servers send it with every answer, so a policy of which something is left
/// asks for nothing.
pub(super) fn read(headers: &HeaderMap) -> Hint {
    let Some(lines) = joined(headers) else {
        return Hint::None;
    };
    // One error anywhere voids the whole field (RFC 9651 §4.2).
    let Ok(list) = Parser::new(&*lines).parse::<List>() else {
        return Hint::Unreadable;
    };
    list.iter().map(asked).fold(Hint::None, Hint::or_longer)
}

fn asked(entry: &ListEntry) -> Hint {
    let ListEntry::Item(policy) = entry else {
        return Hint::Unreadable;
    };
    let (left, time) = (parameter(policy, "r"), parameter(policy, "t"));
    match (left, time) {
        (Some(Some(1..)), _) | (_, None) => Hint::None,
        (_, Some(Some(secs))) => Hint::Wait(Duration::from_secs(secs)),
        (_, Some(None)) => Hint::Unreadable,
    }
}

/// Absent, or present and perhaps a whole number that is not negative.
fn parameter(policy: &Item, key: &str) -> Option<Option<u64>> {
    let (_, value) = policy
        .params
        .iter()
        .find(|(name, _)| name.as_str() == key)?;
    Some(match value {
        BareItem::Integer(number) => u64::try_from(i64::from(*number)).ok(),
        _ => None,
    })
}

/// All lines as the one list that they are; `None` without a line.
fn joined(headers: &HeaderMap) -> Option<Cow<'_, [u8]>> {
    let mut lines = headers.get_all(RATE_LIMIT).iter();
    let mut whole = Cow::Borrowed(lines.next()?.as_bytes());
    for line in lines {
        let whole = whole.to_mut();
        whole.extend_from_slice(b", ");
        whole.extend_from_slice(line.as_bytes());
    }
    Some(whole)
}
