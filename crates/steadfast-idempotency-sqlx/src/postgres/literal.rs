use std::fmt::{self, Write};

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
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        f.write_str("decode('")?;
        for byte in self.0 {
            f.write_char(DIGITS[usize::from(byte >> 4)].into())?;
            f.write_char(DIGITS[usize::from(byte & 15)].into())?;
        }
        f.write_str("','hex')")
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "convert_from({},'UTF8')", Bytea(self.0.as_bytes()))
    }
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
    fn nothing_but_digits_stands_between_the_quotes() {
        assert_eq!(
            Text("a'; --\\").to_string(),
            "convert_from(decode('61273b202d2d5c','hex'),'UTF8')"
        );
        assert_eq!(Bytea(b"\0\xff").to_string(), "decode('00ff','hex')");
        assert_eq!(Nullable(None).to_string(), "NULL");
    }
}
