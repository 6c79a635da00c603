//! Header fields out of a fuzzer's bytes.

use http::{HeaderMap, HeaderName, HeaderValue};

/// Each line is a field: its first byte, a digit, chooses among `names`, the rest is the value.
///
/// `None` where no line could come off a wire.
pub fn fields(data: &[u8], names: &[HeaderName]) -> Option<Vec<(HeaderName, HeaderValue)>> {
    let fields = data.split(|byte| *byte == b'\n').filter_map(|line| {
        let (first, value) = line.split_first()?;
        let name = names.get(usize::from(first.checked_sub(b'0')?))?;
        Some((name.clone(), HeaderValue::from_bytes(value).ok()?))
    });
    let fields: Vec<_> = fields.take(16).collect();
    (!fields.is_empty()).then_some(fields)
}

/// The fields as they came.
pub fn map<'a>(fields: impl IntoIterator<Item = &'a (HeaderName, HeaderValue)>) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in fields {
        map.append(name.clone(), value.clone());
    }
    map
}
