use std::fmt;

/// Bytes as an SQL expression that no content can break out of, whatever the server's settings.
///
/// Literals, because a simple query has no parameters: what has parameters is prepared first, which
/// costs a round trip each time, or a state of the session that PgBouncer does not keep.
pub(super) struct Bytea<'a>(pub(super) &'a [u8]);

/// Text, likewise.
pub(super) struct Text<'a>(pub(super) &'a str);

/// Text or NULL.
pub(super) struct Nullable<'a>(pub(super) Option<&'a str>);

impl fmt::Display for Bytea<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // With E the backslash means the same whatever `standard_conforming_strings` is.
        f.write_str("E'\\\\x")?;
        write_hex(f, self.0)?;
        f.write_str("'")
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'\'' && byte != b'\\';
        if self.0.bytes().all(plain) {
            return write!(f, "'{}'", self.0);
        }
        f.write_str("convert_from(decode('")?;
        write_hex(f, self.0.as_bytes())?;
        f.write_str("','hex'),'UTF8')")
    }
}

fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |four: u8| char::from(DIGITS[usize::from(four & 15)]);
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(*byte));
    }
    f.write_str(&text)
}

impl fmt::Display for Nullable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(text) => Text(text).fmt(f),
            None => f.write_str("NULL"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_ends_a_literal_stands_between_the_quotes() {
        assert_eq!(
            Text("a'; --\\").to_string(),
            "convert_from(decode('61273b202d2d5c','hex'),'UTF8')"
        );
        assert_eq!(Text("orders/7 \"x\"").to_string(), "'orders/7 \"x\"'");
        assert_eq!(
            Text("\0").to_string(),
            "convert_from(decode('00','hex'),'UTF8')"
        );
        assert_eq!(Bytea(b"\0\xff").to_string(), r"E'\\x00ff'");
        assert_eq!(Nullable(None).to_string(), "NULL");
    }
}
